"""Whatever the text, the parser answers with a Directive or a CompileError inside the text."""

from __future__ import annotations

from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink, SourceLoc
from accopt.compiler.directives.parser import parse_directive
from accopt.compiler.directives.records import Directive, DirectiveKind
from accopt.compiler.directives.rules import ALIASES, ALL_MODIFIERS, DIRECTIVES
from hypothesis import given, settings
from hypothesis import strategies as st

WORDS = sorted(
    {word for kind in DirectiveKind for word in kind.value.split()}
    | {name for rule in DIRECTIVES.values() for name in rule.clauses}
    | set(ALIASES)
    | set(ALL_MODIFIERS)
    | {"a", "n", "num", "dim", "static", "force", "length", "devnum", "queues", "max", "peer"}
)
SYMBOLS = [
    *list("()[]{}:,*+-&|^.?;'\"\\/#@%"),
    "->",
    "&&",
    "||",
    "[0:n]",
    "(a)",
    "(+:a)",
    "/*@9:9*/",
]
PIECES = st.lists(st.sampled_from([*WORDS, *SYMBOLS, "1", "0x", " ", "\n"]), max_size=25)


def answer(text: str) -> Directive | None:
    try:
        return parse_directive(text, SourceLoc("f.c", 1, 1), DiagnosticSink())
    except CompileError as e:
        for diagnostic in e.diagnostics:
            assert diagnostic.message
            assert diagnostic.loc.line in (1, 9)
            assert 0 < diagnostic.loc.column <= len(text) + 10
        return None


@settings(max_examples=200)
@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    answer(text)


@settings(max_examples=300)
@given(st.sampled_from([k.value for k in DirectiveKind]), PIECES)
def test_words_and_symbols(head: str, pieces: list[str]) -> None:
    answer(f"{head} {' '.join(pieces)}")
    answer(f"{head}{''.join(pieces)}")


LEGAL = [
    " parallel loop gang num_gangs(10, 2) copyin(readonly: a[0:n][i], s.x) if(a ? b : c) async(1)",
    " update self(a[0:n]) device(b) wait(devnum:1:queues:2,3) device_type(nvidia) async",
    " loop reduction(+:x) collapse(force:2) tile(2,*) gang(static:*) vector(length:4)",
    " data compression_copy(x[0:n:-1.0:1.0]) default(present)",
]


@settings(max_examples=200)
@given(st.sampled_from(LEGAL), st.data())
def test_damaged_directives(text: str, data: st.DataObject) -> None:
    """Cut out or double a stretch of a legal directive."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    answer(text[:start] + text[end:])
    answer(text[:end] + text[start:])


def test_legal_ones_are_legal() -> None:
    assert all(answer(text) is not None for text in LEGAL)
