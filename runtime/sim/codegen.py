"""
Compiles one function of the gpu level to a Python function on NumPy arrays.

The function gets the execution (`rt`), the active threads and its arguments. Straight-line code
becomes a sequence of assignments; a branch splits the threads, runs each side on the values of its
threads only, and merges what both define:

  %r = scf.if %c -> f32 {           t1, p1, t2, p2 = split(t0, v1)
    %x = arith.addf %a, %a            if t1 is not None:
    scf.yield %x                          v4 = take(p1, v2)
  } else {                                v5 = v4 + v4
    scf.yield %a                      if t2 is not None:
  }                                       v6 = take(p2, v2)
                                      …   v7 = merge(t0.n, p1, v5, p2, v6)

A loop keeps the values it uses only for the threads still in it. Values that depend only on constants and
kernel arguments are scalars everywhere, and need not be split.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects.accx import SPECULATIVE
from .access import Access
from .counters import Segment
from .expressions import expression
from .liveness import Flag, Key, Liveness, root_of
from .types import dtype_of

if TYPE_CHECKING:
    from .compile import ModuleCompiler

_FREE = frozenset(
    (
        "arith.constant",
        "llvm.mlir.constant",
        "llvm.mlir.addressof",
        "llvm.mlir.undef",
        "llvm.mlir.poison",
        "llvm.mlir.zero",
        "llvm.alloca",
        "scf.yield",
        "scf.condition",
        "llvm.intr.assume",
        "accx.watch",
    )
)
"""Operations that do not count as instructions."""


class Unsupported(Exception):
    """Reports an operation that the simulator does not support; the message names it."""


class FunctionCompiler:
    """
    Writes the code of one function: names, lines, regions and operations that are expressions. `writers`
    write the other operations, by name (`controlflow.py`, `effects.py`); `controlflow.code` returns the
    text.
    """

    def __init__(
        self,
        module: ModuleCompiler,
        name: str,
        body: Region,
        writers: Mapping[str, Writer],
        *,
        is_kernel: bool,
    ):
        self.module = module
        self.writers = writers
        self.name = name
        self.body = body
        self.is_kernel = is_kernel
        self.names: dict[Key, str] = {}
        self.uniform: set[SSAValue] = set()
        self.live = Liveness(body)
        self.lines: list[str] = []
        self.depth = 0
        self.threads = "t0"
        self._count = 0

    # Text

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def indented(self) -> Generator[None]:
        self.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.put("pass")
        self.depth -= 1

    def fresh(self, prefix: str = "v") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    # Names

    def fresh_for(self, key: Key) -> str:
        """A name for a value, cell or flag, which is not given to it yet."""
        return self.fresh("w" if isinstance(key, Flag) else "v")

    def define(self, key: Key) -> str:
        """A new name for a value, cell or flag."""
        name = self.names[key] = self.fresh_for(key)
        return name

    def name_of(self, key: Key) -> str:
        found = self.names.get(key)
        if found is None:
            raise KeyError(f"{key} is used before it is defined in {self.name}")
        return found

    def listed(self, keys: Iterable[Key]) -> str:
        """The names of these keys, separated by commas."""
        return ", ".join(map(self.name_of, keys))

    def follows(self, key: Key) -> bool:
        """Whether a value must be split when regions split the threads."""
        return key not in self.uniform and not self.name_of(key).startswith(("K", "-"))

    def derive(self, result: SSAValue, operands: Iterable[SSAValue]) -> None:
        """Notes that a value is computed from these: it is uniform if none of them is split."""
        if not any(map(self.follows, operands)):
            self.uniform.add(result)

    @contextmanager
    def renamed(self, names: dict[Key, str], threads: str) -> Generator[None]:
        """Gives these keys these names in the block, and the active threads the name `threads`."""
        before = {key: self.names[key] for key in names}
        outer = self.threads
        self.names.update(names)
        self.threads = threads
        yield
        self.names.update(before)
        self.threads = outer

    def following(self, keys: Sequence[Key] | dict[Key, None]) -> list[Key]:
        """Those of the keys that are defined here and must be split with the threads."""
        return [key for key in keys if key in self.names and self.follows(key)]

    def narrowed(self, keys: Sequence[Key], positions: str) -> dict[Key, str]:
        """Writes code that gives the keys names for the threads at `positions`."""
        inner = {key: self.fresh_for(key) for key in keys}
        if inner:
            self.put(f"{', '.join(inner.values())}, = takes({positions}, {self.listed(keys)})")
        return inner

    # Blocks

    def block(self, block: Block, stop: Operation | None = None) -> None:
        """Writes the operations of a block up to `stop`."""
        self.segment(block)
        op = block.first_op
        while op is not None and op is not stop:
            try:
                self.operation(op)
            except Unsupported as problem:
                raise error(
                    SourceLoc.from_attr(op.location),
                    f"the simulator cannot run this: {problem}",
                    "run it with --target=nvptx or --target=host",
                ) from None
            op = op.next_op

    def segment(self, block: Block) -> None:
        """Writes the code that counts the block's operations, if they are counted."""
        if not self.module.counting:
            return
        counts: dict[tuple[str, int], int] = {}
        for op in block.ops:
            if op.name not in _FREE:
                loc = SourceLoc.from_attr(op.location)
                key = (loc.file, loc.line)
                counts[key] = counts.get(key, 0) + 1
        if counts:
            lines = tuple((file, line, n) for (file, line), n in counts.items())
            self.put(f"rt.counters.segment({self.module.constant(Segment(lines))}, {self.threads})")

    def operation(self, op: Operation) -> None:
        """Writes one operation."""
        template = expression(op)
        if template is not None:
            self.assign(op.results[0], template, op.operands)
            return
        writer = self.writers.get(op.name)
        if writer is None:
            raise Unsupported(f"operation '{op.name}'")
        writer(self, op)

    def result(self, op: Operation, text: str) -> None:
        """Defines the result of an operation by the text of its value."""
        self.put(f"{self.define(op.results[0])} = {text}")

    def assign(self, result: SSAValue, template: str, operands: Sequence[SSAValue]) -> None:
        """Defines a value by an expression of others."""
        names = [self.name_of(operand) for operand in operands]
        self.derive(result, operands)
        self.put(f"{self.define(result)} = {template.format(*names)}")

    # Descriptions of operations

    def place(self, op: Operation) -> str:
        """The constant with the source place of an operation."""
        return self.module.constant(self.module.place_of(op))

    def access(
        self,
        op: Operation,
        pointer: SSAValue,
        dtype: Any,
        checked: bool = True,
        atomic: bool = False,
    ) -> str:
        """The constant that describes an access through a pointer."""
        speculative = SPECULATIVE in op.attributes
        name = array_name(root_of(pointer)) or array_name(pointer)
        place, checked = self.module.place_of(op), checked and not speculative
        return self.module.constant(Access(place, dtype, name, checked, atomic, speculative))


Writer = Callable[[FunctionCompiler, Operation], None]
"""A function that writes the code of an operation."""


def array_name(address: SSAValue) -> str:
    """The name of the variable whose address this is, from the value's hint; empty if there is none."""
    return re.sub(r"(_dev)?(_\d+)?$", "", address.name_hint or "")


def scalar_dtype(type: Attribute, what: str = "value") -> Any:
    """The NumPy type of a type. Raises `Unsupported`, for a `what` of this type, if it is not a scalar."""
    dtype = dtype_of(type)
    if dtype is None:
        raise Unsupported(f"a {what} of type {type}")
    return dtype
