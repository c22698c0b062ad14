"""Identifiers beyond ASCII: what is none, and names without them (C11 6.4.2.1, 6.4.3, annex D)."""

from __future__ import annotations

import pytest
from accopt.compiler.base.diagnostics import SourceLoc
from accopt.compiler.base.identifiers import ascii_name, decoded, from_ascii_name
from accopt.compiler.base.names import c_name, value_name
from accopt.compiler.directives.parser import parse_directive
from accopt.compiler.directives.records import VarListClause
from sema_dump import mistake


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("int \\u0041x;", "1:5"),  # a character of the basic set
        ("int \\uD800;", "1:5"),
        ("int \\u12;", "1:5"),
        ("int \\u0300x;", "1:5"),  # combining, at the beginning
        ("int ×;", "1:5"),
        ("int a×b;", "1:6"),
        ("int x\u00a0= 1;", "1:6"),
    ],
)
def test_what_is_no_identifier(text: str, place: str) -> None:
    found = mistake(text)
    assert str(found.loc).endswith(place) and found.message.startswith("illegal character")


def test_places_behind_names_beyond_ascii() -> None:
    for name in ("ä", "\\u00e4", "\\U000000e4", "$a"):
        text = f"int {name}; int f(void) {{ return {name} + nope; }}"
        assert mistake(text).loc.column == text.index("nope") + 1


def test_universal_names_in_directives() -> None:
    text = "parallel copy(\\u03b1, x) private(β$)"
    directive = parse_directive(text, SourceLoc("a.c", 3, 13))
    items = [item for clause in directive.all("copy", VarListClause) for item in clause.items]
    assert [(item.name, item.loc.column) for item in items] == [
        ("α", 13 + text.index("\\")),
        ("x", 13 + text.index("x)")),
    ]


@pytest.mark.parametrize("name", ["größe", "名前", "x😀", "a$b", "é_1", "plain"])
def test_names_in_ascii(name: str) -> None:
    assert ascii_name(name).isascii() and from_ascii_name(ascii_name(name)) == name
    assert value_name(name).isascii() and c_name(value_name(name)) == name


def test_universal_names_that_stay() -> None:
    assert decoded("\\u03b1\\u0041\\UFFFFFFFF") == "α\\u0041\\UFFFFFFFF"
