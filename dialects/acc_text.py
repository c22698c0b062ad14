"""
The text of `acc` operations as MLIR reads it, where xDSL 0.74 reads less.

- Clauses may be in any order (`oilist` in OpenACCOps.td), each once.
- The modifier `always` stands for `alwaysin,alwaysout`.
- `acc.terminator` may end the regions of recipes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import groupby

from xdsl.dialects import acc
from xdsl.irdl import IRDLOperation, traits_def
from xdsl.irdl.declarative_assembly_format import (
    FormatDirective,
    FormatProgram,
    KeywordDirective,
    OptionalGroupDirective,
    ParsingState,
    PrintingState,
)
from xdsl.irdl.declarative_assembly_format_parser import FormatParser
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent

_RECIPES = (acc.PrivateRecipeOp, acc.FirstprivateRecipeOp, acc.ReductionRecipeOp)


@dataclass(frozen=True)
class _Clauses(FormatDirective):
    """Clauses that are printed in the order of `groups`, and read in any."""

    groups: tuple[OptionalGroupDirective, ...]

    def parse(self, parser: Parser, state: ParsingState) -> None:
        rest = {word: group for group in self.groups if (word := _keyword(group)) is not None}
        words = tuple(rest)
        while (word := parser.parse_optional_keyword_in(words)) is not None:
            if word not in rest:
                parser.raise_error(f"the clause '{word}' appears twice")
            for element in rest.pop(word).then_elements:
                element.parse(parser, state)
        for group in rest.values():
            group.set_empty(state)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for group in self.groups:
            group.print(printer, state, op)


def _keyword(directive: FormatDirective) -> str | None:
    if not isinstance(directive, OptionalGroupDirective) or directive.else_elements:
        return None
    first = directive.then_first
    return first.keyword if isinstance(first, KeywordDirective) else None


@cache
def _in_any_order(cls: type[IRDLOperation]) -> FormatProgram:
    """The format of an `acc` operation, with clauses that follow each other as one list."""
    definition = cls.get_irdl_definition()
    assert definition.assembly_format is not None
    program = FormatParser(definition.assembly_format, definition).parse_format()
    stmts: list[FormatDirective] = []
    for is_clause, group in groupby(program.stmts, lambda stmt: _keyword(stmt) is not None):
        found = list(group)
        groups = tuple(stmt for stmt in found if isinstance(stmt, OptionalGroupDirective))
        stmts += [_Clauses(groups)] if is_clause else found
    return FormatProgram(tuple(stmts))


def _parse(cls: type[IRDLOperation], parser: Parser) -> IRDLOperation:
    return _in_any_order(cls).parse(parser, cls)


def complete() -> None:
    """Makes xDSL's `acc` read all this; again has no effect."""
    for operation in acc.ACC.operations:
        if issubclass(operation, IRDLOperation):
            text = operation.get_irdl_definition().assembly_format
            if text is not None and text.count(")?") > 1:
                setattr(operation, "parse", classmethod(_parse))  # noqa: B010
    setattr(acc.DataClauseModifierAttr, "parse_parameter", classmethod(_modifiers))  # noqa: B010
    operation = acc.TerminatorOp
    traits = [t for t in operation.traits.traits if not isinstance(t, HasParent)]
    parents = [t.op_types for t in operation.traits.traits if isinstance(t, HasParent)]
    allowed = dict.fromkeys((*(p for types in parents for p in types), *_RECIPES))
    operation.traits = traits_def(*traits, HasParent(*allowed))
    operation.get_irdl_definition().traits = operation.traits


def _modifiers(
    cls: type[acc.DataClauseModifierAttr], parser: AttrParser
) -> frozenset[acc.DataClauseModifier]:
    found: set[acc.DataClauseModifier] = set()

    def modifier() -> None:
        if parser.parse_optional_keyword("always") is not None:
            found.update((acc.DataClauseModifier.ALWAYSIN, acc.DataClauseModifier.ALWAYSOUT))
        elif parser.parse_optional_keyword("none") is None:
            found.add(parser.parse_str_enum(acc.DataClauseModifier))

    parser.parse_comma_separated_list(parser.Delimiter.NONE, modifier)
    return frozenset(found)
