"""
Translation phase 4 (C11 6.10): directives, conditional groups, inclusion, pragmas.

Text collects in a chunk until something changes the set of macros, then the chunk is expanded and
written, so that a call of a function-like macro may span lines.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ..base.diagnostics import DiagnosticSink, SourceLoc, error
from ..base.library_headers import is_system
from .preprocess_embed import Embed, closing, limit_of, read_embed
from .preprocess_expand import Macro, MacroExpander, macro_of
from .preprocess_expr import evaluate
from .preprocess_headers import (
    Found,
    HeaderSearch,
    NeedsSystemHeaders,
    ReadFiles,
)
from .preprocess_lexer import IDENTIFIER, LexedFile, LineReader, Position, Token, strip, tokenize
from .preprocess_output import OutputWriter
from .preprocess_queries import QUERIES, answer

_MAX_INCLUDE_DEPTH = 200
_IDENTIFIER = re.compile(IDENTIFIER)

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
"""First words of directives of OpenACC that no other pragma begins with."""
_SAY_NOTHING = frozenset(
    ("diagnostic", "system_header", "visibility", "push_options", "pop_options", "ivdep", "unroll")
)
"""Pragmas of gcc and clang about messages, linkage and speed."""
_REFUSED_PRAGMAS: Mapping[str, str] = {
    "scalar_storage_order": "swap the bytes in the program",
    "redefine_extname": "declare the function with its own name",
}
"""Pragmas that change what a program means, so that dropping them would be wrong."""


@dataclass(slots=True)
class _Conditional:
    """An open #if: whether text around it is live, a group was taken, and #else has been seen."""

    start: Token
    outer: bool
    taken: bool
    closed: bool = False


def _spelling(tokens: Sequence[Token]) -> str:
    return re.sub(r"\s+", " ", "".join(t.value for t in tokens)).strip()


def _destringize(token: Token) -> list[Token]:
    """The tokens of `_Pragma`'s string (C11 6.10.9)."""
    body = token.value[token.value.index('"') + 1 : -1]
    text = body.replace('\\"', '"').replace("\\\\", "\\")
    place = token.source
    if token.is_expanded or text != body:
        return tokenize(text, place, fixed=True)
    return tokenize(text, (place[0], place[1], place[2] + 1))


class Headers:
    """The headers that the files of a program include, each read and lexed once."""

    def __init__(self) -> None:
        self._files: dict[Path, LexedFile] = {}

    def get(self, path: Path, loc: SourceLoc) -> LexedFile:
        """The header at `path`; `loc`: who asks."""
        found = self._files.get(path)
        if found is None:
            found = self._files[path] = LexedFile(read_source(path, loc), str(path), shared=True)
        return found


class MacroPreprocessor(MacroExpander):
    """
    Preprocesses one translation unit into `output`. `search` finds the files of #include; `sink` receives
    warnings. `openmp`: OpenMP's pragmas stay; `c23`: `true` is one in conditions. `headers` are what is
    known of headers.
    """

    def __init__(
        self,
        output: OutputWriter,
        search: HeaderSearch,
        sink: DiagnosticSink,
        *,
        openmp: bool = False,
        c23: bool = False,
        headers: Headers | None = None,
    ) -> None:
        super().__init__()
        self._headers = headers or Headers()
        self._kept = ("acc", "omp", "pack", "weak") if openmp else ("acc", "pack", "weak")
        self._said_openmp = openmp
        self._c23 = c23
        self._saved: dict[str, list[Macro | None]] = {}  # by #pragma push_macro
        self.output = output
        self._search = search
        self.files = ReadFiles(search.inputs)
        self._folder = -1  # of the search, where the current file was found
        self._sink = sink
        self._conditionals: list[_Conditional] = []
        self._live = True
        self._chunk: list[Token] = []
        self._reader = LineReader(LexedFile("", ""))
        self._once: set[Path] = set()
        self._depth = 0
        self._path: Path | None = None
        self._directives: dict[str, Callable[[Token, list[Token]], None]] = {
            "define": self._define,
            "undef": self._undef,
            "include": self._include,
            "include_next": self._include,
            "embed": self._embed,
            "error": self._error,
            "warning": self._warning,
            "line": self._renumber,
            "pragma": self._pragma,
            "ident": lambda name, args: None,
        }
        self._conditional_directives: dict[str, Callable[[Token, list[Token]], None]] = {
            "if": self._if,
            "ifdef": self._if,
            "ifndef": self._if,
            "elif": self._elif,
            "elifdef": self._elif,
            "elifndef": self._elif,
            "else": self._else,
            "endif": self._endif,
        }

    # Files and lines

    def predefine(self, name: str, body: str) -> None:
        """`#define name body`; `name` may have parameters. Raises on a malformed definition."""
        text = f"{name} {body}"
        tokens = strip(tokenize(text, ("<command line>", 1, 1)))
        if not tokens or tokens[0].type != "CPP_ID":
            raise error(
                SourceLoc("<command line>", 0),
                f"-D{name}: '{name}' is not a macro name",
                "write -DNAME or -DNAME=VALUE",
            )
        self._define(tokens[0], tokens)

    def undefine(self, name: str) -> None:
        """`#undef name`; nothing if it is not defined."""
        self.table.pop(name, None)

    def include_first(self, name: str) -> None:
        """`#include "name"` before the first line of a file, as `-include` asks."""
        self.process(f'#include "{name}"\n', "<command line>", Path("<command line>"))

    def definitions(self) -> str:
        """All macros as `#define`s."""
        lines: list[str] = []
        for name, macro in self.table.items():
            arguments = ""
            if macro.arglist is not None:
                given = [str(a) for a in macro.arglist]
                if macro.variadic:
                    given[-1] = "..." if given[-1] == "__VA_ARGS__" else f"{given[-1]}..."
                arguments = f"({', '.join(given)})"
            lines.append(f"#define {name}{arguments} {_spelling(macro.value)}".rstrip())
        return "\n".join(sorted(lines)) + "\n"

    def process(self, text: str, file: str, path: Path | None) -> None:
        """Preprocess `text`, known as `file` in messages and found at `path` (None: in memory)."""
        self._process(LexedFile(text, file), path)

    def _process(self, lexed: LexedFile, path: Path | None) -> None:
        self.files.add(path, lexed.text)
        outer = self._reader, self._conditionals, self._path, self.table.get("__FILE__")
        self._reader, self._conditionals, self._path = LineReader(lexed), [], path
        self._set_file(lexed.file)
        self.output.apart()
        for line in self._reader:
            head = next((t for t in line if t.type != "CPP_WS"), None)
            if head is None:
                if self._chunk:
                    self._chunk.append(line[-1])
            elif head.value == "#":
                self._directive(line[line.index(head) + 1 :])
            elif self._live:
                self._chunk += line
        self._flush()
        if self._conditionals:
            start = self._conditionals[-1].start
            raise error(start.loc, f"unterminated #{start.value}", "close it with #endif")
        self._reader, self._conditionals, self._path, name = outer
        if name is not None:
            self.table["__FILE__"] = name
        self.output.apart()

    def _set_file(self, file: str) -> None:
        name = file.replace("\\", "\\\\").replace('"', '\\"')
        self.table["__FILE__"] = Macro([Token("CPP_STRING", f'"{name}"', (file, 1, 1))])

    def _directive(self, tokens: list[Token]) -> None:
        end = tokens[-1]
        tokens = strip(tokens)
        if not tokens:
            return
        name, args = tokens[0], strip(tokens[1:])
        conditional = self._conditional_directives.get(name.value)
        if conditional is not None:
            conditional(name, args or [end])
            return
        if not self._live:
            return
        self._flush()
        if name.type == "CPP_INTEGER":
            self._renumber(name, tokens)
            return
        action = self._directives.get(name.value)
        if action is None:
            known = [*self._directives, *self._conditional_directives]
            close = difflib.get_close_matches(name.value, known, 1)
            remedy = f"did you mean '#{close[0]}'?" if close else None
            raise error(name.loc, f"unknown preprocessing directive '#{name.value}'", remedy)
        action(name, args)

    def _flush(self) -> None:
        """Expand and write the text collected so far."""
        if not self._chunk:
            return
        tokens, self._chunk = self._chunk, []
        expanded = self.expanded(tokens)
        start = 0
        for index, token in enumerate(expanded):
            if token.value == "_Pragma" and index >= start:
                self.output.tokens(expanded[start:index])
                start = self._pragma_operator(expanded, index)
        self.output.tokens(expanded[start:] if start else expanded)

    # Macros

    def _define(self, name: Token, args: list[Token]) -> None:
        if not args:
            raise error(name.loc, "#define needs the name of a macro")
        macro = args[0]
        if macro.type != "CPP_ID" or macro.value == "defined":
            raise error(macro.loc, f"'{macro.value}' cannot be the name of a macro")
        self._check_parameters(args)
        known = self.table.get(macro.value)
        new = self.table[macro.value] = macro_of(args)
        if known is not None and name is not macro:
            same = known.arglist == new.arglist and _spelling(
                cast(list[Token], known.value)
            ) == _spelling(cast(list[Token], new.value))
            if not same and not is_system(macro.loc):
                self._sink.warn(
                    macro.loc,
                    f"macro '{macro.value}' was defined differently before",
                    f"write #undef {macro.value} first",
                )

    def _check_parameters(self, args: list[Token]) -> None:
        """Refuse malformed parameter lists and misplaced `##`."""
        body = args[1:]
        if len(args) > 1 and args[1].value == "(":
            close = next((i for i, t in enumerate(args) if t.value == ")"), None)
            if close is None:
                raise error(args[1].loc, "expected ')' after the macro's parameters")
            names = [t for t in args[2:close] if not t.is_space]
            for index, token in enumerate(names):
                wanted = index % 2 == 1
                dots = token.value == "..." and index == len(names) - 1
                if dots or ((token.value == ",") if wanted else (token.type == "CPP_ID")):
                    continue
                raise error(token.loc, f"unexpected '{token.value}' among the macro's parameters")
            if names and names[-1].value == ",":
                raise error(names[-1].loc, "expected a parameter after ','")
            body = args[close + 1 :]
        elif len(args) > 1 and not args[1].is_space:
            raise error(args[1].loc, f"expected a space after the macro name '{args[0].value}'")
        body = strip(body)
        if body and "##" in (body[0].value, body[-1].value):
            raise error(body[0].loc, "'##' is not allowed at either end of a macro's text")

    def _undef(self, name: Token, args: list[Token]) -> None:
        if not args or args[0].type != "CPP_ID":
            raise error(name.loc, "#undef needs the name of a macro")
        self.undefine(args[0].value)

    # Conditional groups

    def _if(self, name: Token, args: list[Token]) -> None:
        outer = self._live
        if outer:
            self._live = self._condition(name, args)
        self._conditionals.append(_Conditional(name, outer, self._live or not outer))

    def _condition(self, name: Token, args: list[Token]) -> bool:
        if name.value in ("if", "elif"):
            return self._evaluate(name, args)
        if not args or args[0].type != "CPP_ID":
            raise error(name.loc, f"#{name.value} needs the name of a macro")
        defined = self._is_defined(args[0].value)
        return defined == (name.value in ("ifdef", "elifdef"))

    def _is_defined(self, name: str) -> bool:
        return name in self.table or name in QUERIES or name in ("__LINE__", "__COUNTER__")

    def _evaluate(self, name: Token, args: list[Token]) -> bool:
        tokens = self.expanded(self._answered(args), in_condition=True)
        end = args[-1].loc
        if not any(not t.is_space for t in tokens):
            raise error(name.loc, f"#{name.value} needs an expression")
        tokens = self._answered(self._without_defined(tokens))
        if self._c23:
            tokens = [_as_number(token) for token in tokens]
        return evaluate(tokens, end) != 0

    def _answered(self, args: Sequence[Token]) -> list[Token]:
        """The tokens with `__has_include(<f>)` and its like replaced by their answers."""
        if not any(token.value in QUERIES for token in args):
            return list(args)
        tokens = [token for token in args if not token.is_space]
        out: list[Token] = []
        index = 0
        while index < len(tokens):
            token = tokens[index]
            index += 1
            asked = index < len(tokens) and tokens[index].value == "("
            if token.value not in QUERIES or not asked:
                out.append(token)
                continue
            close = closing(tokens, index)
            if close is None or close == index + 1:
                raise error(token.loc, f"'{token.value}' needs an argument in parentheses")
            text = "".join(t.value for t in tokens[index + 1 : close])
            if token.value == "__has_embed":
                known = self._has_embed(token, tokens[index + 1 : close])
            elif token.value.startswith("__has_include"):
                following = token.value.endswith("_next")
                target, quoted = text.strip('<>"'), text.startswith('"')
                known = int(self._find(target, quoted=quoted, following=following) is not None)
            else:
                known = answer(token.value, text.split("::")[-1])
            out.append(Token("CPP_INTEGER", str(known), token.source))
            index = close + 1
        return out

    def _without_defined(self, tokens: Sequence[Token]) -> list[Token]:
        out: list[Token] = []
        rest = [t for t in tokens if not t.is_space]
        index = 0
        while index < len(rest):
            token = rest[index]
            index += 1
            if token.value != "defined":
                out.append(token)
                continue
            parenthesized = index < len(rest) and rest[index].value == "("
            index += parenthesized
            if index >= len(rest) or rest[index].type != "CPP_ID":
                raise error(token.loc, "'defined' needs the name of a macro")
            value = "1" if self._is_defined(rest[index].value) else "0"
            out.append(Token("CPP_INTEGER", value, token.source))
            index += 1
            if parenthesized:
                if index >= len(rest) or rest[index].value != ")":
                    raise error(token.loc, "expected ')' after 'defined(NAME'")
                index += 1
        return out

    def _innermost(self, name: Token) -> _Conditional:
        if not self._conditionals:
            raise error(name.loc, f"#{name.value} without #if")
        entry = self._conditionals[-1]
        if entry.closed and name.value != "endif":
            raise error(
                name.loc,
                f"#{name.value} after #else",
                None,
                [(entry.start.loc, "the #if is here")],
            )
        return entry

    def _elif(self, name: Token, args: list[Token]) -> None:
        entry = self._innermost(name)
        self._live = entry.outer and not entry.taken and self._condition(name, args)
        entry.taken = entry.taken or self._live

    def _else(self, name: Token, args: list[Token]) -> None:
        entry = self._innermost(name)
        self._live = entry.outer and not entry.taken
        entry.taken = entry.closed = True

    def _endif(self, name: Token, args: list[Token]) -> None:
        self._live = self._innermost(name).outer
        self._conditionals.pop()

    # Inclusion

    def _include(self, name: Token, args: list[Token]) -> None:
        """`#include "f"`, `#include <f>`, or macros that expand to one of them (C11 6.10.2)."""
        if args and args[0].type == "CPP_ID":
            args = strip(self.expanded(args))
        if not args:
            raise error(name.loc, "#include needs a file name", 'write <file.h> or "file.h"')
        text = "".join(t.value for t in args)
        quoted = args[0].type == "CPP_STRING"
        if not quoted and not (text.startswith("<") and ">" in text):
            raise error(args[0].loc, "malformed #include", 'write <file.h> or "file.h"')
        target = args[0].value[1:-1] if quoted else text[1 : text.index(">")]
        found = self._find(target, quoted=quoted, following=name.value == "include_next")
        if found is None:
            raise self._search.missing(args[0].loc, target)
        path = found.path
        if path in self._once:
            return
        if self._depth >= _MAX_INCLUDE_DEPTH:
            raise error(name.loc, f"#include nests deeper than {_MAX_INCLUDE_DEPTH} files")
        self._depth += 1
        outer, self._folder = self._folder, found.folder
        lexed = self._headers.get(path, args[0].loc)
        if lexed.is_read and lexed.guard is not None and self._is_defined(lexed.guard):
            self.files.add(path, lexed.text)
        else:
            self._process(lexed, path)
        self._folder = outer
        self._depth -= 1

    def _embed(self, name: Token, args: list[Token]) -> None:
        """`#embed` (C23 6.10.4)."""
        found = read_embed(args, name)
        limit = limit_of(found, name, self.expanded)
        path = self._find_resource(found)
        if path is None:
            remedy = "add the directory that holds it with -I <directory>"
            raise error(name.loc, f"cannot find the file '{found.target}'", remedy)
        text = read_source(path, name.loc)
        self.files.add(path, text)
        self._chunk += found.tokens(path.read_bytes(), limit, name)

    def _find_resource(self, asked: Embed) -> Path | None:
        found = self._find(asked.target, quoted=asked.quoted)
        return None if found is None else found.path

    def _has_embed(self, name: Token, args: list[Token]) -> int:
        """What `__has_embed` says: 0 not there, 1 with bytes, 2 empty (C23 6.10.2p7)."""
        asked = read_embed(args, name)
        path = self._find_resource(asked)
        if path is None:
            return 0
        empty = limit_of(asked, name, self.expanded) == 0 or not path.stat().st_size
        return 2 if empty else 1

    def _find(self, target: str, *, quoted: bool, following: bool = False) -> Found | None:
        """The file of an #include; of an #include_next, the one behind the folder of the current file."""
        if following:
            return self._search.find(target, None, self._folder)
        here = self._path.parent if self._path is not None else Path()
        return self._search.find(target, here if quoted else None)

    # Everything else

    def _error(self, name: Token, args: list[Token]) -> None:
        if not self._search.system:
            raise NeedsSystemHeaders  # it may be about the compiler
        raise error(name.loc, f"#error {_spelling(args)}".rstrip())

    def _warning(self, name: Token, args: list[Token]) -> None:
        self._sink.warn(name.loc, f"#warning {_spelling(args)}".rstrip())

    def _renumber(self, name: Token, args: list[Token]) -> None:
        """`#line n "file"`, or the `# n "file"` of text that was preprocessed before."""
        words = [t for t in self.expanded(args) if not t.is_space] if args else []
        if not words or not words[0].value.isdecimal():
            raise error(name.loc, "#line needs a line number")
        file = words[1].value[1:-1] if len(words) > 1 else None
        self._reader.renumber(int(words[0].value), file)
        if file is not None:
            self._set_file(file)

    def _pragma(self, name: Token, args: list[Token]) -> None:
        self._run_pragma(name.source, args)

    def _pragma_operator(self, tokens: list[Token], index: int) -> int:
        """Carry out `_Pragma("…")` (C11 6.10.9) at `index`; the index behind its ')'."""
        operator = tokens[index]
        rest = [i for i in range(index + 1, len(tokens)) if not tokens[i].is_space][:3]
        if [tokens[i].value for i in (rest[0::2])] != ["(", ")"] or (
            tokens[rest[1]].type != "CPP_STRING"
        ):
            raise error(operator.loc, "_Pragma needs one string literal", 'write _Pragma("acc …")')
        self._run_pragma(operator.source, strip(_destringize(tokens[rest[1]])))
        return rest[2] + 1

    def _run_pragma(self, place: Position, args: list[Token]) -> None:
        """Write a pragma of OpenACC, or of OpenMP if it is meant; obey, refuse or drop any other."""
        if not args:
            return
        word = args[0].value
        if word in self._kept:
            rest = args[1:]
            hash_column = args[0].source[2] - len("#pragma ")
            if place[1] == args[0].source[1] and not args[0].is_expanded:
                place = (place[0], place[1], max(hash_column, 1))
            self.output.pragma(place, self.expanded(rest) if rest else rest, word)
        elif word == "once" and self._path is not None:
            self._once.add(self._path)
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
        """`#pragma GCC …`, `clang …`, `message`: texts are told; about messages and speed nothing is said."""
        loc, name = words[0].loc, " ".join(t.value for t in words[:2] if t.type == "CPP_ID")
        kind, text = name.split()[-1], _spelling(words[len(name.split()) :]).strip()
        if kind == "error":
            raise error(loc, f"#pragma {name} {text}")
        if kind == "warning":
            self._sink.warn(loc, f"#pragma {name} {text}")
        elif kind not in _SAY_NOTHING:
            said = f"#pragma message {text}" if kind == "message" else f"#pragma {name} is ignored"
            self._sink.remark(loc, said)

    def _save_macro(self, word: str, args: list[Token]) -> None:
        """`#pragma push_macro("name")` and the pop that brings the macro back (as gcc and MSVC have it)."""
        literal = next((t for t in args if t.type == "CPP_STRING"), None)
        if literal is None:
            raise error(args[0].loc, f"#pragma {word} needs a name", f'write {word}("NAME")')
        name = literal.value.strip('"')
        saved = self._saved.setdefault(name, [])
        if word == "push_macro":
            saved.append(self.table.get(name))
        elif saved:
            macro = saved.pop()
            if macro is None:
                self.undefine(name)
            else:
                self.table[name] = macro

    def _ignore_openmp(self, loc: SourceLoc) -> None:
        """Say once in a file that directives of OpenMP are comments."""
        if not self._said_openmp:
            self._sink.remark(
                loc, "#pragma omp is ignored, here and further on: OpenMP needs -fopenmp"
            )
        self._said_openmp = True


def _as_number(token: Token) -> Token:
    """`true` is a number in the conditions of C23 (6.10.2); `false` is 0, as all names are."""
    return Token("CPP_INTEGER", "1", token.source) if token.value == "true" else token


def _directive_without_acc(words: Sequence[str]) -> str | None:
    """The directive of OpenACC that a pragma with these words may be meant to be."""
    first, second = words[0], words[1] if len(words) > 1 else ""
    if first in _DIRECTIVES and second != "(":
        return first
    if second in _DIRECTIVES and difflib.get_close_matches(
        first.lower(), ("acc", "openacc"), 1, 0.6
    ):
        return second
    return None


def read_source(path: Path, loc: SourceLoc) -> str:
    """The text of a source file; bytes that are not UTF-8 survive as surrogates. `loc`: who asks."""
    try:
        data = path.read_bytes()
    except OSError as failure:
        raise error(loc, f"cannot read '{path}': {failure.strerror}") from None
    return data.decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n")
