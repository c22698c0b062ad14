"""Checks a translation unit: its external declarations one after the other, then what depends on the whole
file."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

from pycparser import c_ast

from ...base.diagnostics import CompileError, DiagnosticSink, SourceLoc
from ...base.phases import phase
from ..ast import TranslationUnit
from ..openmp.checker import OpenMPChecker
from ..preprocess_predefined import C23_MARK
from ..syntax_recovery import Parsed, parse_what_can_be
from ..types import DOUBLE, FLOAT, INT128, LDOUBLE, UINT128, QualType
from .alignments import Alignments
from .calls import va_list_type
from .declarations import DeclarationChecker
from .directives import DirectiveChecker
from .expressions import ExpressionChecker
from .idle_declarations import without_idle
from .initialisers import InitialiserChecker
from .linkage import Linkage
from .recovery import TooManyMistakes, in_order
from .scopes import TypedefName
from .statements import StatementChecker
from .type_names import TypeBuilder
from .unit import Unit

_BUILTIN_PLACE = SourceLoc("<built-in>", 0)


class Source(Protocol):
    """Preprocessed C: `text`, with line markers, and the name of its C file."""

    @property
    def text(self) -> str: ...

    @property
    def file(self) -> str: ...


def new_unit(file: str, sink: DiagnosticSink, target: str = "host") -> Unit:
    """An empty unit with its checkers and the built-in types."""
    unit = Unit(file, sink, target)
    unit.types = TypeBuilder(unit)
    unit.expressions = ExpressionChecker(unit)
    unit.initialisers = InitialiserChecker(unit)
    unit.linkage = Linkage(unit)
    unit.alignments = Alignments(unit)
    unit.declarations = DeclarationChecker(unit)
    unit.statements = StatementChecker(unit)
    unit.directives = DirectiveChecker(unit)
    unit.openmp = OpenMPChecker(unit)
    builtins = {
        "__builtin_va_list": va_list_type(),
        "_Float32": FLOAT,
        "_Float32x": DOUBLE,
        "_Float64": DOUBLE,
        "_Float64x": LDOUBLE,
        "_Float128": LDOUBLE,
        "__float128": LDOUBLE,
        "__int128_t": INT128,
        "__uint128_t": UINT128,
    }
    for name, t in builtins.items():
        unit.file_scope.declare(name, TypedefName(name, QualType(t), _BUILTIN_PLACE))
    return unit


def check_text(text: str, file: str, sink: DiagnosticSink, target: str = "host") -> TranslationUnit:
    """Parse and check preprocessed C text. Raises `CompileError` with the mistakes in it."""
    with phase("parse"):
        parsed = parse_what_can_be(text, file)
    if parsed.tree is None:
        raise CompileError(parsed.mistakes)
    if not parsed.mistakes:
        own = DiagnosticSink()
        active, idle = without_idle(parsed.tree.ext, text, file)
        with suppress(CompileError):
            tree = _check_parsed(parsed, active, _new_unit_of(text, file, own, target))
            tree.idle = idle
            if not own.diagnostics:
                return tree
    return _check_parsed(parsed, parsed.tree.ext, _new_unit_of(text, file, sink, target))


def _new_unit_of(text: str, file: str, sink: DiagnosticSink, target: str) -> Unit:
    unit = new_unit(file, sink, target)
    unit.c23 = text.startswith(C23_MARK)
    return unit


def _check_parsed(parsed: Parsed, external: Sequence[Any], unit: Unit) -> TranslationUnit:
    """The typed tree of `external`, those declarations of a file that are needed."""
    unit.recovery.mistakes += parsed.mistakes
    for name in parsed.lost:
        unit.file_scope.lose(name)
    unit.functions_of_file = frozenset(
        node.decl.name for node in external if isinstance(node, c_ast.FuncDef)
    )
    with suppress(TooManyMistakes):
        for node in external:
            with unit.recovery.going_on(node):
                _check_external(unit, node)
        with unit.recovery.going_on():
            unit.directives.require_no_pending()
            unit.directives.require_declared()
            unit.declarations.finish()
            unit.lone_subscripts.settle(unit.sink)
    if unit.recovery.mistakes:
        raise CompileError(in_order(unit.recovery.mistakes))
    return unit.tree


def _check_external(unit: Unit, node: Any) -> None:
    """One external declaration, or a pragma between them."""
    if isinstance(node, c_ast.Pragma):
        unit.directives.external(node)
        return
    if not isinstance(node, c_ast.FuncDef | c_ast.Decl):
        unit.directives.require_no_pending()
    unit.declarations.external(node)
    unit.directives.require_no_pending()


def check_translation_unit(
    source: Source, sink: DiagnosticSink, target: str = "host"
) -> TranslationUnit:
    """
    Check one preprocessed source file: the typed tree that IR generation takes, with the clauses
    that hold on `target`. Warnings go to `sink`; raises `CompileError` with all mistakes that do not follow
    from others, each with file, line, column and remedy.
    """
    return check_text(source.text, source.file, sink, target)
