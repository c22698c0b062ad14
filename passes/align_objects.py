"""
Test before a construct whether its arrays are aligned, where threads work on small objects.

An iteration that computes with small matrices, structures or vectors of its own accesses elements that are
neighbours in memory. LLVM combines them into accesses of up to 16 bytes if it knows that these begin at a
multiple of their size. C only promises the alignment of an element, but arrays seldom begin elsewhere; the
host tests it immediately before the launch.

Takes:  transformed IR for a GPU, before inner loops are unrolled; arrays that do not overlap are known
        (`tell-arrays-apart`).
Leaves: if `decisions/dense_objects.py` finds that it pays, the construct in an `scf.if` on that test. Its
        first version has `accx.aligned`: for each data operand the number of bytes of which its address is
        a multiple (1: not tested), the `llvm.align` of the kernel's argument. The other version is the
        construct. Versions that are rarely needed (`accx.fallback`), and constructs of more than `LONGEST`
        operations, stay as they are.
Fails:  never.

Before:
  acc.parallel dataOperands(%a, %b) {
    acc.loop gang vector control(%i : i32) = ... { loads of %a[2 * %i] and %a[2 * %i + 1], stores to %b[%i] }
  }
After:
  %aligned = arith.cmpi eq, (address of %a) & 15, 0
  scf.if %aligned {
    acc.parallel dataOperands(%a, %b) { … } attributes {accx.aligned = [16, 1]}
  } else { the construct }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from math import gcd

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation, SSAValue

from ..dialects.accx import ALIGNED, FALLBACK
from ..dialects.accx_compress import DECODES, PACKED
from ..dialects.accx_element import Index
from ..dialects.volatility import is_ordered
from .decisions.dense_objects import (
    LONGEST,
    MOST_OFFSETS,
    SHORT_TRIPS,
    UNROLLED,
    AlignmentGain,
    DenseAccess,
    gain_of,
    pays,
)
from .decisions.polynomials import Polynomial
from .ir.kernels.outline import symbol_table
from .ir.ops.acc_ops import (
    MAPPING_OPS,
    callee_of,
    enclosing_module,
    has_more_operations,
    parallel_constructs,
)
from .ir.ops.building import Cursor
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.layout import size_of
from .ir.ops.levels import is_parallel
from .ir.ops.loop_bounds import Bounds, bounds_of
from .ir.ops.notes import note
from .ir.ops.versions import ready_for_versions, second_version
from .ir.values.accesses import root_of
from .ir.values.addresses import steps_to
from .ir.values.constant_ranges import values_of
from .ir.values.value_polynomials import from_value

DEEPEST_CALL = 3
"""The functions that call one another whose accesses are looked at."""


# What a thread accesses.


@dataclass
class _Addresses:
    """
    Addresses in a construct, in bytes from their roots, as polynomials over all values it computes. Equal
    loads are one symbol: whether the value may have changed between them does not matter to a gain.
    `arguments`: the pointers that functions are called with, by parameter.
    """

    arguments: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    polynomials: dict[SSAValue | Index, Polynomial | None] = field(
        default_factory=dict[SSAValue | Index, "Polynomial | None"]
    )

    def polynomial(self, value: SSAValue | Index) -> Polynomial | None:
        if value not in self.polynomials:
            self.polynomials[value] = from_value(value, self._symbol)
        return self.polynomials[value]

    def _symbol(self, value: SSAValue) -> Hashable | None:
        owner = value.owner
        if isinstance(owner, llvm.LoadOp):
            root, place = self.of(owner.ptr)
            return value if place is None else (root, place)
        transparent = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp, arith.ExtSIOp)
        return None if isinstance(owner, (*transparent, arith.ExtUIOp, arith.TruncIOp)) else value

    def of(self, pointer: SSAValue) -> tuple[SSAValue, Polynomial | None]:
        """The root of an address, and the bytes from there to it."""
        total: Polynomial | None = Polynomial.constant(0)
        while True:
            for step in steps_to(pointer):
                bytes = step.in_bytes(self)
                total = None if bytes is None or total is None else total + bytes
            root = root_of(pointer)
            if root not in self.arguments:
                return root, total
            pointer = self.arguments[root]


@dataclass
class _Walk:
    """Finds the accesses to arrays, with the short loops around each."""

    construct: acc.ParallelOp
    symbols: Mapping[str, Operation]
    addresses: _Addresses = field(default_factory=_Addresses)
    calls: int = 0
    long: int = 0
    accesses: list[DenseAccess] = field(default_factory=list[DenseAccess])
    short: dict[SSAValue, range] = field(default_factory=dict[SSAValue, range])

    def __post_init__(self) -> None:
        self.arrays = {root_of(operand) for operand in self.construct.data_clause_operands}

    def block(self, ops: Iterator[Operation]) -> None:
        for op in ops:
            if isinstance(op, llvm.LoadOp | llvm.StoreOp):
                self._access(op)
            elif isinstance(op, llvm.CallOp):
                self._call(op)
            elif op.regions:
                self._nested(op)

    def _call(self, op: llvm.CallOp) -> None:
        """A function's accesses through its parameters: LLVM inlines it."""
        callee = self.symbols.get(callee_of(op) or "")
        if not isinstance(callee, llvm.FuncOp) or len(callee.body.blocks) != 1:
            return
        block = callee.body.block
        if self.calls == DEEPEST_CALL or any(
            parameter in self.addresses.arguments for parameter in block.args
        ):
            return  # also a second call of a function: its values are known by those of the first
        self.calls += 1
        self.addresses.arguments |= dict(zip(block.args, op.args, strict=False))
        self.block(iter(block.ops))
        self.calls -= 1

    def _nested(self, op: Operation) -> None:
        counted: list[Bounds] = []
        repeats = isinstance(op, scf.ForOp | scf.WhileOp)
        if repeats or (isinstance(op, acc.LoopOp) and not is_parallel(op)):
            counted = bounds_of(op)
            repeats = True
        lengths: list[int] = []
        for each in counted:
            values = values_of(each[0])
            if values is not None:
                lengths.append(len(values))
                few = values if len(values) <= SHORT_TRIPS else values[:UNROLLED]
                self.short[each[0]] = few
        is_short = len(lengths) == len(counted) > 0 and max(lengths) <= SHORT_TRIPS
        is_long = repeats and not is_short
        self.long += is_long
        for region in op.regions:
            for block in region.blocks:
                self.block(iter(block.ops))
        self.long -= is_long
        for variable, *_ in counted:
            self.short.pop(variable, None)

    def _access(self, op: llvm.LoadOp | llvm.StoreOp) -> None:
        writes = isinstance(op, llvm.StoreOp)
        type = op.value.type if isinstance(op, llvm.StoreOp) else op.dereferenced_value.type
        root, place = self.addresses.of(op.ptr)
        if place is not None and root in self.arrays and not is_ordered(op):
            moving, offsets = self._offsets(place)
            stride = gcd(*moving.terms.values()) if moving.terms else 0
            bytes, alignment = size_of(type), op.alignment
            wide = alignment is not None and alignment.value.data > bytes
            access = DenseAccess(root, moving, stride, offsets, bytes, writes, wide, self.long)
            self.accesses.append(access)

    def _offsets(self, place: Polynomial) -> tuple[Polynomial, tuple[int, ...]]:
        """The part of an address that moves between iterations, and the bytes from there in short loops."""
        moving = {
            monomial: factor
            for monomial, factor in place.terms.items()
            if monomial and not (len(monomial) == 1 and monomial[0] in self.short)
        }
        start = place.as_constant if not place.symbols else place.terms.get((), 0)
        choices = [
            [value * (place.slope(variable) or 0) for value in values]
            for variable, values in self.short.items()
        ]
        offsets: list[int] = []
        for steps in product(*choices):
            offsets.append((start or 0) + sum(steps))
            if len(offsets) == MOST_OFFSETS:
                break
        return Polynomial(moving), tuple(offsets)


def _gain(construct: acc.ParallelOp) -> AlignmentGain:
    walk = _Walk(construct, symbol_table(enclosing_module(construct)))
    for block in construct.region.blocks:
        walk.block(iter(block.ops))
    return gain_of(walk.accesses)


def _versions(construct: acc.ParallelOp) -> None:
    """Makes the versions of a construct that gains from them."""
    if FALLBACK in construct.attributes or not _is_plain(construct):
        return
    gain = _gain(construct)
    if not pays(gain) or not ready_for_versions(construct):
        return
    operands = construct.data_clause_operands
    aligned = [gain.alignments.get(root_of(value), 1) for value in operands]
    at = Cursor.before(construct)
    together: dict[int, SSAValue] = {}
    for value, bytes in dict(zip(operands, aligned, strict=True)).items():
        if bytes > 1:
            address = at.value(llvm.PtrToIntOp(value, i64))
            together[bytes] = at.any_bits(together.get(bytes), address)
    tests = [at.is_multiple(bits, bytes, "aligned") for bytes, bits in together.items()]
    second_version(construct, reduce(at.both, tests))
    construct.attributes[ALIGNED] = ArrayAttr(IntegerAttr(bytes, i64) for bytes in aligned)
    text = "neighbouring elements are accessed together where arrays are aligned (tested at launch)"
    note(construct, [(construct, text)])


def _is_plain(construct: acc.ParallelOp) -> bool:
    """Whether all arrays are in memory as the program has them."""
    entries = [operand.owner for operand in construct.data_clause_operands]
    return all(
        isinstance(entry, MAPPING_OPS)
        and PACKED not in entry.attributes
        and DECODES not in entry.attributes
        for entry in entries
    )


@dataclass(frozen=True)
class AlignObjectsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "align-objects"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            if not has_more_operations(construct, LONGEST):
                _versions(construct)
