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
        """The rule that control does not leave a construct, in parentheses."""
        return " (OpenMP 4.5, 1.2.2)" if self.name.startswith("omp ") else " (OpenACC 3.4, 2.5)"


@dataclass
class Jump:
    """A label, or a `goto` of it, and the constructs around."""

    loc: SourceLoc
    constructs: tuple[int, ...]


@dataclass
class CheckedFunction:
    """What is known while the body of a function is checked."""

    decl: FunctionDecl
    labels: dict[str, Jump] = field(default_factory=dict[str, Jump])
    gotos: list[tuple[str, Jump]] = field(default_factory=list[tuple[str, Jump]])
    addresses: dict[str, int] = field(default_factory=dict[str, int])
    """The labels whose address is taken, and the numbers that stand for these."""
    local_labels: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    """What `__label__` declares in the blocks around, outermost first: name → the label's own name."""
    targets: list[Target] = field(default_factory=list[Target])
    directives: list[Directive] = field(default_factory=list[Directive])
    """The constructs around the current statement, outermost first."""
    constructs: tuple[int, ...] = ()
    next_construct: int = 0
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
        """What `unwind` brings back: how deep the current statement is nested."""
        return tuple(map(len, self._stacks())), self.constructs

    def unwind(self, depths: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
        """Leaves what has been entered since, after a mistake in it."""
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
        """Those that the file defines, also further down."""
        self.pack = PragmaPack()
        self.lone_subscripts = LoneSubscripts()
        self.recovery = Recovery(self)
        self.c23 = False
        """Whether the language is C23, and not C11."""
        self._numbers: Counter[tuple[str, str]] = Counter()

    @property
    def target(self) -> str:
        """The target. Asked for only where the tree may depend on it."""
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
        A name that the compiler makes of `name`, with a number not given before to one in this function, so
        that names do not change where other functions do.
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
