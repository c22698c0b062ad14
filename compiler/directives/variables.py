"""Parses lists of variables, members and array sections, with their modifiers (OpenACC 3.4, 2.7)."""

from __future__ import annotations

from ..base.diagnostics import error
from ..base.similar import or_did_you_mean
from .cursor import TokenCursor
from .lexer import DirectiveToken, TokenKind
from .records import DirectiveKind, ExprSlot, Section, VarListClause, VarRefItem
from .rules import ALL_MODIFIERS, modifiers_of


# '(' [ modifier { ',' modifier } ':' ] variable { ',' variable } ')'
def parse_variables(
    cursor: TokenCursor, clause: VarListClause, kind: DirectiveKind, *, four_parts: bool = False
) -> None:
    """The argument of a clause that lists variables, into `clause`."""
    with cursor.argument(clause.spelling):
        clause.modifiers = _modifiers(cursor, clause, kind)
        clause.items = cursor.listed(lambda: variable(cursor, four_parts=four_parts))


def _modifiers(cursor: TokenCursor, clause: VarListClause, kind: DirectiveKind) -> tuple[str, ...]:
    count = 0
    while cursor.ahead(count).kind is TokenKind.NAME and cursor.ahead(count + 1).text == ",":
        count += 2
    if cursor.ahead(count).kind is not TokenKind.NAME or cursor.ahead(count + 1).text != ":":
        return ()
    allowed = modifiers_of(clause.name, kind)
    found: list[str] = []
    while True:
        word = cursor.next.text
        if word not in allowed:
            what = f"'{clause.spelling}' on '{kind.value}'"
            if word in ALL_MODIFIERS:
                listed = ", ".join(allowed) or "none"
                raise cursor.error(
                    f"modifier '{word}' is not allowed in {what}",
                    f"the modifiers it takes are: {listed}",
                )
            suggestion = or_did_you_mean(word, allowed)
            raise cursor.error(
                f"unknown modifier '{word}' in {what}{suggestion}",
                None if suggestion else "a section is written name[start:length]",
            )
        if word in found:
            raise cursor.error(f"modifier '{word}' is given twice", "remove one of them")
        found.append(word)
        cursor.advance()
        if cursor.advance().text == ":":
            return tuple(found)


# variable : ( name | '(' … ')' ) { '.' name | '->' name | section }
def variable(cursor: TokenCursor, *, four_parts: bool = False) -> VarRefItem:
    """
    One variable, member or array section. Brackets before a `.` or `->` select an element and
    belong to the base; the last run of brackets are the sections.
    """
    first = cursor.next
    if first.text == "(" and first.kind is TokenKind.SYMBOL:
        last = cursor.bracketed()
        if cursor.next.text not in (".", "->", "["):
            raise error(
                cursor.loc_of(first), "expected a variable name, not '('", "remove the parentheses"
            )
    else:
        remedy = "remove the ','" if cursor.ahead(-1).text == "," else "name a variable"
        if first.text in ("*", "&"):
            remedy = "write p[0:n] for the array that a pointer points to"
        if first.kind is not TokenKind.NAME:
            raise cursor.error(f"expected a variable name, not {first.described}", remedy)
        last = cursor.advance()
    sections: list[Section] = []
    while True:
        if cursor.next.text == "[":
            sections.append(array_section(cursor, four_parts=four_parts))
        elif cursor.next.text in (".", "->"):
            for section in sections:
                if not section.is_index:
                    raise error(
                        section.loc,
                        "a section cannot be followed by a member",
                        "only the last brackets of a reference may be a section",
                    )
            sections.clear()
            cursor.advance()
            last = cursor.name("the name of a member")
        else:
            break
    text = cursor.text_between(first, last)
    loc = cursor.loc_of(first)
    return VarRefItem(text, loc, ExprSlot(text, loc), sections)


# section : '[' expression ']' | '[' [ expression ] ':' [ expression ] ']'
#         | '[' [ expression ] ':' expression ':' expression ':' expression ']'   (compression)
def array_section(cursor: TokenCursor, *, four_parts: bool) -> Section:
    """One pair of brackets; `four_parts`: the section of a compression clause, which may also have the
    smallest and the largest value."""
    opening = cursor.advance()
    section = Section(cursor.loc_of(opening))
    if cursor.next.text == "]":
        raise cursor.error("empty brackets", "write [start:length], or [:] for the whole array")
    if cursor.next.text != ":":
        section.lower = cursor.expression()
    if cursor.accept("]"):
        section.is_index = True
        return section
    _colon(cursor, opening)
    if cursor.next.text not in ("]", ":"):
        section.length = cursor.expression("a length")
    if cursor.next.text == ":":
        if not four_parts:
            raise cursor.error(
                "a section has two parts here, start and length", "write [start:length]"
            )
        cursor.advance()
        section.minimum = cursor.expression("the smallest value")
        _colon(cursor, opening)
        section.maximum = cursor.expression("the largest value")
    if not cursor.accept("]"):
        raise error(
            cursor.loc_of(cursor.next),
            f"expected ']' after the section, not {cursor.next.described}",
            "write [start:length]",
            [(cursor.loc_of(opening), "the '[' is here")],
        )
    return section


def _colon(cursor: TokenCursor, opening: DirectiveToken) -> None:
    if not cursor.accept(":"):
        raise error(
            cursor.loc_of(cursor.next),
            f"expected ':' or ']' in a section, not {cursor.next.described}",
            "write [start:length]",
            [(cursor.loc_of(opening), "the '[' is here")],
        )
