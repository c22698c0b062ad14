"""The state of checking one translation unit, shared by the checkers of each concern."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...base.diagnostics import DiagnosticSink, SourceLoc
from ...directives.records import Directive
from ..ast import FunctionDecl, TranslationUnit
from ..types import IntType
from .lone_subscripts import LoneSubscripts
from .packing import PragmaPack
from .recovery import Recovery
from .scopes import Scope

if TYPE_CHECKING:
    from ..openmp.checker import OpenMPChecker
    from .alignments import Alignments
    from .declarations import DeclarationChecker
    from .directives import DirectiveChecker
    from .expressions import ExpressionChecker
    from .initialisers import InitialiserChecker
    from .linkage import Linkage
    from .statements import StatementChecker
    from .type_names import TypeBuilder


@dataclass(frozen=True)
class Target:
    """
    Something `break` or `continue` may leave: "loop" or "switch"; or a construct that may not be
    left ("construct", with its directive's name), or only by `continue` ("iteration").
    """

    kind: str
    name: str = ""

    @property
    def rule(self) -> str:
        """The section of the specification by which control may not leave the construct, in parentheses,
        for messages."""
        return " (OpenMP 4.5, 1.2.2)" if self.name.startswith("omp ") else " (OpenACC 3.4, 2.5)"


@dataclass
class Jump:
    """A label, or a `goto` to it, and the constructs around it."""

    loc: SourceLoc
    constructs: tuple[int, ...]


@dataclass
class CheckedFunction:
    """The state of checking the body of a function."""

    decl: FunctionDecl
    labels: dict[str, Jump] = field(default_factory=dict[str, Jump])
    gotos: list[tuple[str, Jump]] = field(default_factory=list[tuple[str, Jump]])
    addresses: dict[str, int] = field(default_factory=dict[str, int])
    """Label whose address is taken → its number, which is used as the address."""
    local_labels: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    """The labels that `__label__` declares in the blocks around, outermost first: name → unique name."""
    targets: list[Target] = field(default_factory=list[Target])
    directives: list[Directive] = field(default_factory=list[Directive])
    """The constructs around the current statement, outermost first."""
    constructs: tuple[int, ...] = ()
    next_construct: int = 0
    declares_links: bool = False
    """Whether the body declares a name with linkage."""
    switch_values: list[dict[int | None, SourceLoc]] = field(
        default_factory=list[dict[int | None, SourceLoc]]
    )
    switch_types: list[IntType] = field(default_factory=list[IntType])

    def _stacks(self) -> tuple[list[Any], ...]:
        return (
            self.targets,
            self.directives,
            self.switch_values,
            self.switch_types,
            self.local_labels,
        )

    def depths(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The nesting depths of the current statement, for `unwind`."""
        return tuple(map(len, self._stacks())), self.constructs

    def unwind(self, depths: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
        """Leaves the constructs and blocks that were entered since `depths` was read, after a mistake in
        them."""
        lengths, self.constructs = depths
        for stack, length in zip(self._stacks(), lengths, strict=True):
            del stack[length:]


class Unit:
    """
    One translation unit being checked for a target (of `compiler/base/options.py`): the scope, the
    function, the typed tree so far, and the checkers of each concern, which reach one another
    through here.
    """

    types: TypeBuilder
    expressions: ExpressionChecker
    initialisers: InitialiserChecker
    alignments: Alignments
    declarations: DeclarationChecker
    linkage: Linkage
    statements: StatementChecker
    directives: DirectiveChecker
    openmp: OpenMPChecker

    def __init__(self, file: str, sink: DiagnosticSink, target: str = "host") -> None:
        self.file = file
        self._target = target
        self.sink = sink
        self.tree = TranslationUnit(file)
        self.scope = Scope()
        self.file_scope = self.scope
        self.function: CheckedFunction | None = None
        self.functions_of_file: frozenset[str] = frozenset()
        """The names of functions that the file defines, also further down."""
        self.pack = PragmaPack()
        self.lone_subscripts = LoneSubscripts()
        self.recovery = Recovery(self)
        self.c23 = False
        """Whether the language is C23, and not C11."""
        self._numbers: Counter[tuple[str, str]] = Counter()

    @property
    def target(self) -> str:
        """The target. Reading it marks the tree as dependent on the target."""
        self.tree.is_of_target = True
        return self._target

    def loc(self, node: Any) -> SourceLoc:
        """The place of a pycparser node."""
        coord = node.coord
        if coord is None:
            return SourceLoc(self.file, 0)
        return SourceLoc(coord.file or self.file, coord.line, coord.column or 0)

    def numbered(self, name: str) -> str:
        """
        A new name made from `name` and a number that is unique in this function, so that names do not
        change when other functions do.
        """
        place = (self.function.decl.name if self.function is not None else "", name)
        self._numbers[place] += 1
        return f"{name}.{self._numbers[place]}"

    @contextmanager
    def nested_scope(self, scope: Scope | None = None) -> Generator[Scope]:
        """Check in a new scope (or in `scope`) inside the current one."""
        outer = self.scope
        inner = Scope(outer) if scope is None else scope
        inner.open()
        self.scope = inner
        try:
            yield inner
        finally:
            inner.close()
            self.scope = outer
