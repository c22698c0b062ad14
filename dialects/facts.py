"""
The operations and values allowed for each `accx.*` attribute: the tables of `accx.py` and
`accx_compress.py` for the stage checker, which so finds an attribute that a pass left where no other pass
reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from . import accx, accx_compress
from .accx_compress import PackedType
from .accx_machine import MachineAttr
from .accx_schedule import ScheduleAttr

_COMPUTE = ("acc.parallel", "acc.serial", "acc.kernels")
_ENTRIES = (
    "acc.copyin",
    "acc.create",
    "acc.present",
    "acc.nocreate",
    "acc.attach",
    "acc.deviceptr",
)
_MODULE = ("builtin.module",)
_HOST_LOOPS = ("scf.for", "scf.while", "scf.execute_region")
_BACK_EDGES = ("scf.for", "scf.while", "cf.br", "cf.cond_br", "llvm.br", "llvm.cond_br")
_ACCESSES = ("llvm.load", "llvm.store")
_LOOP = ("acc.loop",)
_SIZES = ("num_gangs", "num_workers", "vector_length")


@dataclass(frozen=True)
class Fact:
    """
    An attribute allowed on operations `on` (empty: on any), of class `value`; the elements of an array are
    of class `element`, and texts that passes compare are among `words`.
    """

    value: type[Attribute]
    on: tuple[str, ...] = ()
    element: type[Attribute] | None = None
    words: tuple[str, ...] = ()

    def broken_by(self, op: Operation, attr: Attribute) -> str | None:
        """The error in `attr` on `op`, as the end of a sentence; None if it is correct."""
        if self.on and op.name not in self.on:
            return f"is an attribute of {', '.join(self.on)}"
        if not isinstance(attr, self.value):
            return f"must be a {self.value.__name__}, found {attr}"
        parts = attr.data if isinstance(attr, ArrayAttr) else (attr,)
        for part in parts:
            if self.element is not None and not isinstance(part, self.element):
                return f"must contain {self.element.__name__}s, found {part}"
            if self.words and isinstance(part, StringAttr) and part.data not in self.words:
                return f"must be one of {', '.join(self.words)}, found {part}"
        return None


FACTS: dict[str, Fact] = {
    accx.SCHEDULE: Fact(ScheduleAttr, _LOOP),
    accx.CACHE_BLOCKS: Fact(UnitAttr, _LOOP),
    accx.CONDITIONAL: Fact(UnitAttr, _LOOP),
    accx.WHY: Fact(StringAttr),
    accx.NOTE: Fact(StringAttr, (*_LOOP, *_HOST_LOOPS)),
    accx.MESSAGES: Fact(ArrayAttr, _MODULE, DictionaryAttr),
    accx.SITES: Fact(ArrayAttr, _MODULE, DictionaryAttr),
    accx.SITE: Fact(IntegerAttr),
    accx.CELL: Fact(UnitAttr, _ENTRIES),
    accx.LAST_VALUE: Fact(UnitAttr, ("llvm.store",)),
    accx.IN_PLACE: Fact(UnitAttr, _ENTRIES),
    accx.IN_ORDER: Fact(UnitAttr, _LOOP),
    accx.SHARED: Fact(UnitAttr, _ENTRIES),
    accx.RESTRICT: Fact(UnitAttr, (*_ENTRIES, "acc.cache")),
    accx.APART: Fact(UnitAttr, ("acc.parallel", "acc.kernels")),
    accx.ALIGNED: Fact(ArrayAttr, ("acc.parallel",), IntegerAttr),
    accx.FALLBACK: Fact(UnitAttr, ("acc.parallel",)),
    accx.EDGES: Fact(UnitAttr, ("acc.cache",)),
    accx.STAGE: Fact(StringAttr, _MODULE),
    accx.MACHINE: Fact(MachineAttr, _MODULE),
    accx.VERSION: Fact(IntegerAttr, _MODULE),
    accx.NEXT_PASS: Fact(StringAttr, _MODULE),
    accx.KERNEL: Fact(UnitAttr, ("llvm.func",)),
    accx.ENTRY: Fact(Attribute, ("llvm.func",)),
    accx.SIMD: Fact(UnitAttr, _BACK_EDGES),
    accx.LANES: Fact(UnitAttr, ("scf.for",)),
    accx.VECTOR_WIDTH: Fact(IntegerAttr, _BACK_EDGES),
    accx.INTERLEAVE: Fact(IntegerAttr, _BACK_EDGES),
    accx.UNFUSED: Fact(UnitAttr, ("arith.mulf", "llvm.fmul")),
    accx.UNROLL: Fact(IntegerAttr, (*_LOOP, *_BACK_EDGES)),
    accx.ACCESS_GROUPS: Fact(ArrayAttr, (*_BACK_EDGES, *_ACCESSES), IntegerAttr),
    accx.INFERRED: Fact(UnitAttr, ("acc.data", *_ENTRIES)),
    accx.DATA_REGION: Fact(StringAttr, ("acc.data", *_HOST_LOOPS)),
    accx.FROM_KERNELS: Fact(UnitAttr, ("acc.parallel", "acc.data")),
    accx.FROM_SERIAL: Fact(UnitAttr, ("acc.parallel",)),
    accx.ATOMIC: Fact(UnitAttr, ("scf.while",)),
    accx.POINTERS: Fact(UnitAttr, ("acc.bounds",)),
    accx.ITERATION: Fact(ArrayAttr, _ACCESSES, IntegerAttr),
    accx.INDEPENDENT: Fact(UnitAttr, ("scf.for",)),
    accx.UNCHANGED: Fact(UnitAttr, ("llvm.load",)),
    accx.IN_ROW: Fact(UnitAttr, ("llvm.getelementptr",)),
    accx.ARRAY: Fact(ArrayAttr, _ACCESSES, IntegerAttr),
    accx.SPECULATIVE: Fact(UnitAttr, ("llvm.load",)),
    accx.HANDED_OVER: Fact(UnitAttr, ("llvm.load", "llvm.store")),
    accx.VOLATILE: Fact(UnitAttr, ("llvm.load",)),
    accx.IMPLICIT_ROUTINE: Fact(UnitAttr, ("acc.routine",)),
    accx.REMARKS: Fact(ArrayAttr, (), DictionaryAttr),
    accx.DYNAMIC: Fact(IntegerAttr, ("accx.shared_tile", "llvm.mlir.global")),
    accx.RESIDENT: Fact(IntegerAttr),
    accx.SCHEDULES: Fact(ArrayAttr, _COMPUTE, StringAttr),
    accx.GIVEN_SIZES: Fact(ArrayAttr, ("acc.parallel",), StringAttr, _SIZES),
    accx.WANTED: Fact(StringAttr, _LOOP, words=("below", "above")),
    accx.PUNS: Fact(UnitAttr, _MODULE),
    accx.CONSTANT: Fact(UnitAttr, ("llvm.alloca",)),
    accx.TYPED: Fact(UnitAttr, ("llvm.func",)),
    accx_compress.PACKED: Fact(PackedType, _ENTRIES),
    accx_compress.DECODES: Fact(UnitAttr, _ENTRIES),
    accx_compress.ESTIMATE: Fact(StringAttr, _ENTRIES),
    accx_compress.COUNTED: Fact(IntegerAttr),
}


def broken_facts(op: Operation) -> Iterator[str]:
    """The errors in the `accx.*` attributes of `op`, a sentence each."""
    for name, attr in op.attributes.items():
        if name.startswith("accx."):
            fact = FACTS.get(name)
            wrong = (
                "is not an attribute that passes know" if fact is None else fact.broken_by(op, attr)
            )
            if wrong is not None:
                yield f"'{name}' {wrong}"
