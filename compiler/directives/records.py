"""
Directive records: the contents of a `#pragma acc` line, before IR generation.

The directive parser builds these from the pragma's text (grammar of OpenACC 3.4 and the research extensions
of our reference, section 8). Expressions inside clauses are `ExprSlot`s: the parser stores their text and
place, the semantic layer later resolves `slot.expr` in the scope where the directive is written. One record
class serves all directives; the clauses that each may have are in a table in `rules.py`, which the parser
checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, TypeVar, cast

from ..base.diagnostics import SourceLoc

if TYPE_CHECKING:
    from ..c.ast import Expr


class DirectiveKind(Enum):
    PARALLEL = "parallel"
    SERIAL = "serial"
    KERNELS = "kernels"
    PARALLEL_LOOP = "parallel loop"
    SERIAL_LOOP = "serial loop"
    KERNELS_LOOP = "kernels loop"
    LOOP = "loop"
    DATA = "data"
    ENTER_DATA = "enter data"
    EXIT_DATA = "exit data"
    HOST_DATA = "host_data"
    CACHE = "cache"
    ATOMIC = "atomic"
    DECLARE = "declare"
    ROUTINE = "routine"
    INIT = "init"
    SHUTDOWN = "shutdown"
    SET = "set"
    UPDATE = "update"
    WAIT = "wait"

    @property
    def construct(self) -> str:
        """The first word, which for a combined construct names the compute construct."""
        return self.value.split()[0]

    @property
    def is_compute(self) -> bool:
        """Whether the directive opens a compute construct (alone or combined with `loop`)."""
        return self.construct in ("parallel", "serial", "kernels")


@dataclass(eq=False)
class ExprSlot:
    """An expression in a clause: C source text, where it starts, and its typed form once checked."""

    text: str
    loc: SourceLoc
    expr: Expr | None = None


@dataclass(eq=False)
class Section:
    """
    One bracket of a reference: `[index]` (`is_index`, then `lower` is the index), `[lower:length]`,
    `[lower:]`, `[:length]`. The four-part `[start:length:min:max]` of compression fills the bounds.
    """

    loc: SourceLoc
    lower: ExprSlot | None = None
    length: ExprSlot | None = None
    is_index: bool = False
    minimum: ExprSlot | None = None
    maximum: ExprSlot | None = None


@dataclass(eq=False)
class VarRefItem:
    """
    One item of a var-list: `base` is the lvalue before the first section bracket (`a`, `s.x`,
    `p->rows`); `sections` the brackets, outermost first; `name` the text as the user wrote it
    without sections, for messages.
    """

    name: str
    loc: SourceLoc
    base: ExprSlot
    sections: list[Section] = field(default_factory=list[Section])


@dataclass(eq=False, kw_only=True)
class Clause:
    """
    `name` is the clause's canonical name (`copy` for `pcopy` and `present_or_copy`; `self` on
    `update` for `host`; `device_type` for `dtype`); `spelling` what the user wrote. `device_types`
    names the devices it is specific to (lower case), empty for the default part.
    """

    name: str
    spelling: str
    loc: SourceLoc
    device_types: tuple[str, ...] = ()

    def parts(self) -> Iterator[ExprSlot | VarRefItem]:
        """The expressions and variables among its arguments, in their order."""
        for argument in fields(self):
            value = getattr(self, argument.name)
            for part in cast(list[object], value) if isinstance(value, list) else [value]:
                if isinstance(part, ExprSlot | VarRefItem):
                    yield part


@dataclass(eq=False, kw_only=True)
class FlagClause(Clause):
    """A clause without argument: `seq auto independent nohost finalize if_present`, bare `self` on compute
    constructs."""


@dataclass(eq=False, kw_only=True)
class ExprClause(Clause):
    """
    A clause with expression arguments; `args` may be empty where the argument is optional: `if async
    num_gangs num_workers vector_length worker vector self(cond) default_async device_num collapse
    deviceid`. `keyword` holds a leading `num:`/`length:`/`force:` (without colon) or "".
    """

    args: list[ExprSlot] = field(default_factory=list[ExprSlot])
    keyword: str = ""


@dataclass(eq=False, kw_only=True)
class VarListClause(Clause):
    """
    A var-list: data clauses, `private`, `firstprivate`, `use_device`, `link`, `self`/`device` on
    update, `cache` items, compression clauses (`compression_copy` … and `compression`).
    `modifiers`: `zero readonly always alwaysin alwaysout capture`.
    """

    items: list[VarRefItem] = field(default_factory=list[VarRefItem])
    modifiers: tuple[str, ...] = ()


@dataclass(eq=False, kw_only=True)
class ReductionClause(Clause):
    """`operator` is one of `+ * max min & | ^ && ||`; `-` until `checks.py` has made it `+`."""

    operator: str
    items: list[VarRefItem] = field(default_factory=list[VarRefItem])


@dataclass(eq=False, kw_only=True)
class GangClause(Clause):
    """`gang`, `gang(n)`, `gang(num:n)`, `gang(dim:d)`, `gang(static:s)`; `static_any` for `*`."""

    num: ExprSlot | None = None
    dim: ExprSlot | None = None
    static: ExprSlot | None = None
    static_any: bool = False


@dataclass(eq=False, kw_only=True)
class TileClause(Clause):
    """`tile(n1, …)`, last size innermost; None stands for `*`."""

    sizes: list[ExprSlot | None] = field(default_factory=list["ExprSlot | None"])


@dataclass(eq=False, kw_only=True)
class WaitClause(Clause):
    """`wait`, `wait(queues…)`, `wait(devnum:n:queues:…)`; also the wait directive's argument."""

    queues: list[ExprSlot] = field(default_factory=list[ExprSlot])
    devnum: ExprSlot | None = None


@dataclass(eq=False, kw_only=True)
class DefaultClause(Clause):
    """`default(none)` or `default(present)`; `value` is the word."""

    value: str


@dataclass(eq=False, kw_only=True)
class DeviceTypeClause(Clause):
    """`device_type` on `init`, `shutdown` and `set`: the selected device types, in lower case."""

    types: tuple[str, ...] = ()


@dataclass(eq=False, kw_only=True)
class BindClause(Clause):
    """`bind(name)` (`is_string` false) or `bind("name")`."""

    target: str
    is_string: bool


@dataclass(eq=False, kw_only=True)
class ScanClause(Clause):
    """Research extension `scan(op: in, out, identity, count)`."""

    operator: str
    input: VarRefItem
    output: VarRefItem
    identity: ExprSlot
    count: ExprSlot


@dataclass(eq=False, kw_only=True)
class PeerClause(Clause):
    """A clause of the research extension `update peer`: `to` or `from` (a section), `to_device` or
    `from_device`."""

    item: VarRefItem | None = None
    device: ExprSlot | None = None


class AtomicKind(Enum):
    READ = "read"
    WRITE = "write"
    UPDATE = "update"
    CAPTURE = "capture"


ClauseT = TypeVar("ClauseT", bound=Clause)


@dataclass(eq=False)
class Directive:
    """
    One directive. `loc` is the place of the word after `#pragma acc`. `atomic` is set on ATOMIC,
    `routine_name` on a named `routine(name)`; the items of `cache(readonly: …)` are in a `VarListClause`
    named `cache` with the modifier `readonly`.
    """

    kind: DirectiveKind
    loc: SourceLoc
    text: str
    clauses: list[Clause] = field(default_factory=list[Clause])
    atomic: AtomicKind | None = None
    routine_name: str | None = None

    def find(self, name: str, cls: type[ClauseT]) -> ClauseT | None:
        """The first clause of that canonical name and class that applies to every device."""
        for clause in self.clauses:
            if clause.name == name and isinstance(clause, cls) and not clause.device_types:
                return clause
        return None

    def all(self, name: str, cls: type[ClauseT]) -> Sequence[ClauseT]:
        """All clauses of that canonical name and class, in order."""
        return [c for c in self.clauses if c.name == name and isinstance(c, cls)]

    def drop_empty_lists(self) -> None:
        """Removes the clauses whose list of items has become empty."""
        self.clauses[:] = [c for c in self.clauses if not isinstance(c, VarListClause) or c.items]

    def has(self, name: str) -> bool:
        return any(c.name == name for c in self.clauses)

    @property
    def is_compute(self) -> bool:
        """Whether this opens a compute construct (alone or combined with `loop`)."""
        return self.kind.is_compute

    @property
    def is_combined(self) -> bool:
        return self.kind.value.endswith(" loop")

    @property
    def has_body(self) -> bool:
        """Whether the statement after the directive belongs to it."""
        return self.is_compute or self.kind in (
            DirectiveKind.LOOP,
            DirectiveKind.DATA,
            DirectiveKind.HOST_DATA,
            DirectiveKind.ATOMIC,
        )
