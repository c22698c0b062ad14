"""The quick lexer gives pycparser's tokens, also of text that is no C."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

from accopt.compiler.c.quick_lexer import QuickLexer
from pycparser.c_lexer import CLexer

PIECES = (
    *(
        "a",
        "x1",
        "L",
        "u8",
        "U",
        "int",
        "return",
        "$",
        "×",
        "0",
        "7",
        "09",
        "12",
        "1.5",
        ".5",
        "e5",
    ),
    *(
        "0x1f",
        "ul",
        "1'000",
        '"abc"',
        '"a\\q"',
        '"a\\@"',
        '"',
        "'",
        "'c'",
        "'ab'",
        "\\",
        "\\n",
        "\n",
    ),
    *(" ", "\t", ".", "...", "[", "[[", "]]", "]", "(", ")", "+", "++", "-", "->", "/", "//", "/*"),
    *(
        "*",
        "=",
        "==",
        "<",
        "<<=",
        ">",
        ">>",
        "&",
        "&&",
        "|",
        "^",
        "%",
        "!",
        "~",
        "?",
        ":",
        "::",
        ",",
    ),
    *(";", "{", "}", "#", '# 3 "a.c"\n', "#pragma acc x\n", "@"),
)


def tokens(lexer: type[CLexer], text: str) -> object:
    mistakes: list[object] = []
    made = lexer(lambda *what: mistakes.append(what))
    made._keyword_map["typeof"] = "TYPEOF"
    made.input(text, "f.c")
    found: list[object] = []
    while (token := made.token()) is not None:
        found.append((token.type, token.value, token.lineno, token.column, token.filename))
    return found, mistakes, made._lineno


def test_tokens_are_pycparsers():
    choose = random.Random(1)
    texts = ["".join(choose.choices(PIECES, k=choose.randint(1, 9))) for _ in range(4000)]
    texts += [path.read_text() for path in (Path(__file__).parent / "programs").glob("*.c")]
    for text in texts:
        assert tokens(QuickLexer, text) == tokens(CLexer, text), text


def test_a_string_takes_its_own_memory():
    text = '"' + "ab\\n" * 100_000 + '"'
    tracemalloc.start()
    try:
        found = tokens(QuickLexer, text)
        assert isinstance(found, tuple) and found[0][0][1] == text
        assert tracemalloc.get_traced_memory()[1] < 4 * len(text)
    finally:
        tracemalloc.stop()
