"""Pragmas in the preprocessor (C11 6.10.6, 6.10.9): each is kept for later phases, carried out, refused or
dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..base.diagnostics import DiagnosticSink, SourceLoc, error
from ..base.similar import nearest
from .preprocess_expand import Macro, MacroExpander, spelling
from .preprocess_lexer import Position, Token, strip, tokenize

_DIRECTIVES = frozenset(
    (
        "parallel",
        "kernels",
        "serial",
        "loop",
        "data",
        "enter",
        "exit",
        "host_data",
        "routine",
        "update",
        "atomic",
    )
)
"""First words of OpenACC directives that are not also first words of other pragmas."""
_SAY_NOTHING = frozenset(
    ("diagnostic", "system_header", "visibility", "push_options", "pop_options", "ivdep", "unroll")
)
"""Pragmas of gcc and clang that concern messages, linkage and optimisation."""
_REFUSED_PRAGMAS: Mapping[str, str] = {
    "scalar_storage_order": "swap the bytes in the program",
    "redefine_extname": "declare the function with its own name",
}
"""Pragmas that change what a program means, so that dropping them would be wrong."""


def _destringize(token: Token) -> list[Token]:
    """The tokens of `_Pragma`'s string (C11 6.10.9)."""
    body = token.value[token.value.index('"') + 1 : -1]
    text = body.replace('\\"', '"').replace("\\\\", "\\")
    place = token.source
    if token.is_expanded or text != body:
        return tokenize(text, place, fixed=True)
    return tokenize(text, (place[0], place[1], place[2] + 1))


class Pragmas:
    """
    The pragmas of one translation unit. `write` writes those that later phases need; `once` records that
    the current file, if it is one, is not to be read again; `openmp`: OpenMP's pragmas stay.
    """

    def __init__(
        self,
        macros: MacroExpander,
        write: Callable[[Position, Sequence[Token], str], None],
        sink: DiagnosticSink,
        once: Callable[[], bool],
        *,
        openmp: bool,
    ) -> None:
        self._macros = macros
        self._write = write
        self._sink = sink
        self._once = once
        self._kept = ("acc", "omp", "pack", "weak") if openmp else ("acc", "pack", "weak")
        self._said_openmp = openmp
        self._saved: dict[str, list[Macro | None]] = {}  # saved by #pragma push_macro
        self.remembered = 0
        """The number of pragmas so far whose effect depends on earlier ones, or on which later ones
        depend."""

    def operator(self, tokens: list[Token], index: int) -> int:
        """Carry out `_Pragma("…")` (C11 6.10.9) at `index`; returns the index after its ')'."""
        operator = tokens[index]
        rest = [i for i in range(index + 1, len(tokens)) if not tokens[i].is_space][:3]
        if [tokens[i].value for i in (rest[0::2])] != ["(", ")"] or (
            tokens[rest[1]].type != "CPP_STRING"
        ):
            raise error(operator.loc, "_Pragma needs one string literal", 'write _Pragma("acc …")')
        self.run(operator.source, strip(_destringize(tokens[rest[1]])))
        return rest[2] + 1

    def run(self, place: Position, args: list[Token]) -> None:
        """Write a pragma of OpenACC, or of OpenMP if that is enabled; carry out, refuse or drop any
        other."""
        if not args:
            return
        word = args[0].value
        self.remembered += word in ("omp", "push_macro", "pop_macro")
        if word in self._kept:
            rest = args[1:]
            hash_column = args[0].source[2] - len("#pragma ")
            if place[1] == args[0].source[1] and not args[0].is_expanded:
                place = (place[0], place[1], max(hash_column, 1))
            self._write(place, self._macros.expanded(rest) if rest else rest, word)
        elif word == "once" and self._once():
            return
        elif word in ("push_macro", "pop_macro"):
            self._save_macro(word, args)
        elif word in _REFUSED_PRAGMAS:
            loc = args[0].loc
            raise error(loc, f"#pragma {word} is not supported", _REFUSED_PRAGMAS[word])
        elif word == "omp":
            self._ignore_openmp(args[0].loc)
        elif word in ("GCC", "clang", "message"):
            self._of_other_compilers([t for t in args if not t.is_space])
        elif (meant := _directive_without_acc([each.value for each in args])) is not None:
            message = f"#pragma {word} is ignored; did you mean '#pragma acc {meant}'?"
            self._sink.warn(args[0].loc, message, "write 'acc' after '#pragma'")
        else:
            self._sink.remark(args[0].loc, f"#pragma {word} is ignored")

    def _of_other_compilers(self, words: list[Token]) -> None:
        """`#pragma GCC …`, `clang …`, `message`: passes on the texts of messages; drops without a warning
        those about messages and optimisation; warns about others."""
        loc, name = words[0].loc, " ".join(t.value for t in words[:2] if t.type == "CPP_ID")
        kind, text = name.split()[-1], spelling(words[len(name.split()) :]).strip()
        if kind == "error":
            raise error(loc, f"#pragma {name} {text}")
        if kind == "warning":
            self._sink.warn(loc, f"#pragma {name} {text}")
        elif kind not in _SAY_NOTHING:
            said = f"#pragma message {text}" if kind == "message" else f"#pragma {name} is ignored"
            self._sink.remark(loc, said)

    def _save_macro(self, word: str, args: list[Token]) -> None:
        """`#pragma push_macro("name")`, and `pop_macro`, which restores the macro (as in gcc and MSVC)."""
        literal = next((t for t in args if t.type == "CPP_STRING"), None)
        if literal is None:
            raise error(args[0].loc, f"#pragma {word} needs a name", f'write {word}("NAME")')
        name = literal.value.strip('"')
        saved = self._saved.setdefault(name, [])
        if word == "push_macro":
            saved.append(self._macros.table.get(name))
        elif saved:
            macro = saved.pop()
            if macro is None:
                self._macros.table.pop(name, None)
            else:
                self._macros.table[name] = macro

    def _ignore_openmp(self, loc: SourceLoc) -> None:
        """Warn, once in a file, that directives of OpenMP are ignored."""
        if not self._said_openmp:
            self._sink.remark(
                loc, "#pragma omp is ignored, here and further on: OpenMP needs -fopenmp"
            )
        self._said_openmp = True


def _directive_without_acc(words: Sequence[str]) -> str | None:
    """The directive of OpenACC that a pragma with these words may be meant to be."""
    first, second = words[0], words[1] if len(words) > 1 else ""
    if first in _DIRECTIVES and second != "(":
        return first
    if second in _DIRECTIVES and nearest(first.lower(), ("acc", "openacc")):
        return second
    return None
