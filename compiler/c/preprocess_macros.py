"""
Translation phase 4 (C11 6.10): reads lines, carries out directives that define macros, and includes files.
`preprocess_conditions.py` decides which text is live, and `preprocess_pragmas.py` carries out pragmas.

Text collects in a chunk until something changes the set of macros, then the chunk is expanded and
written, so that a call of a function-like macro may span lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..base.diagnostics import DiagnosticSink, SourceLoc, error
from ..base.library_headers import is_system
from ..base.similar import nearest
from .preprocess_again import Inclusion, Seen, inclusion_of
from .preprocess_conditions import ConditionalGroups, Conditions
from .preprocess_embed import Embed, limit_of, read_embed
from .preprocess_expand import Macro, MacroExpander, check_parameters, macro_of, spelling
from .preprocess_headers import (
    Found,
    HeaderSearch,
    NeedsSystemHeaders,
    ReadFiles,
)
from .preprocess_lexer import LexedFile, LineReader, Position, Token, escaped, strip, tokenize
from .preprocess_output import OutputWriter
from .preprocess_pragmas import Pragmas
from .preprocess_sources import Headers, read_source

_MAX_INCLUDE_DEPTH = 200


class MacroPreprocessor(MacroExpander):
    """
    Preprocesses one translation unit into `output`. `search` finds the files of #include; `sink` receives
    warnings. `openmp`: OpenMP's pragmas stay; `c23`: `true` is 1 in conditions. `headers` are the headers
    that were already read and lexed for other files.
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
        self.output = output
        self._search = search
        self.files = ReadFiles(search.inputs)
        self._folder = -1  # number of the searched folder in which the current file was found
        self._sink = sink
        self._conditions = Conditions(self, self, c23=c23)
        self._groups = ConditionalGroups(self._holds)
        self._pragmas = Pragmas(self, self._write_pragma, sink, self._read_once, openmp=openmp)
        self._chunk: list[Token] = []
        self._reader = LineReader(LexedFile("", ""))
        self._once: set[Path] = set()
        self._seen = Seen()
        self._embedded = 0
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

    # Files and lines

    def predefine(self, name: str, body: str) -> None:
        """
        `#define name body`; `name` may have parameters. Raises `CompileError` for a malformed definition.
        """
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
        self._seen.asked.add(name)
        self._seen.changed.add(name)

    def include_first(self, name: str) -> None:
        """`#include "name"` before the first line of a file, as `-include` asks."""
        self.process(f'#include "{name}"\n', "<command line>", Path("<command line>"))

    def definitions(self) -> str:
        """All macros as `#define`s."""
        lines: list[str] = []
        for name, macro in self.table.items():
            arguments = ""
            if macro.arglist is not None:
                given = [*macro.arglist]
                if macro.variadic:
                    given[-1] = "..." if given[-1] == "__VA_ARGS__" else f"{given[-1]}..."
                arguments = f"({', '.join(given)})"
            lines.append(f"#define {name}{arguments} {spelling(macro.value)}".rstrip())
        return "\n".join(sorted(lines)) + "\n"

    def process(self, text: str, file: str, path: Path | None) -> None:
        """Preprocess `text`, known as `file` in messages and found at `path` (None: in memory)."""
        self._process(LexedFile(text, file), path)

    def _process(self, lexed: LexedFile, path: Path | None) -> None:
        self.files.add(path, lexed.text)
        outer = self._reader, self._groups.open, self._path, self.table.get("__FILE__")
        self._reader, self._groups.open, self._path = LineReader(lexed), [], path
        self._set_file(lexed.file)
        self.output.apart()
        groups = self._groups
        for line, words in self._reader:
            if words:
                self._directive(words, line[-1])
            elif words is None:
                if groups.live:
                    self._chunk += line
            elif self._chunk:
                self._chunk.append(line[-1])
        self._flush()
        groups.check_closed()
        self._reader, self._groups.open, self._path, name = outer
        if name is not None:
            self.table["__FILE__"] = name
        self.output.apart()

    def _set_file(self, file: str) -> None:
        name = Token("CPP_STRING", f'"{escaped(file)}"', (file, 1, 1))
        self.table["__FILE__"] = Macro([name])

    def _directive(self, tokens: list[Token], end: Token) -> None:
        """The directive of these tokens, in a line that ends with `end`."""
        name = tokens[0]
        conditional = self._groups.directives.get(name.value)
        if conditional is not None:
            conditional(name, strip(tokens[1:]) or [end])
            return
        if not self._groups.live:
            return
        args = strip(tokens[1:])
        self._flush()
        if name.type == "CPP_INTEGER":
            self._renumber(name, tokens)
            return
        action = self._directives.get(name.value)
        if action is None:
            known = [*self._directives, *self._groups.directives]
            meant = nearest(name.value, known)
            remedy = meant and f"did you mean '#{meant}'?"
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
                start = self._pragmas.operator(expanded, index)
        self.output.tokens(expanded[start:] if start else expanded)

    # Macros

    def expanded(
        self, tokens: Sequence[Token], *, in_condition: bool = False, asked: set[str] | None = None
    ) -> list[Token]:
        """As `MacroExpander` does it; the names are noted."""
        asked = self._seen.asked
        if self._reader.is_shared:
            asked.update([token.value for token in tokens if token.type == "CPP_ID"])
        return super().expanded(tokens, in_condition=in_condition, asked=asked)

    def _holds(self, name: Token, args: list[Token]) -> bool:
        if args:
            self._seen.asked.add(args[0].value)
        return self._conditions.holds(name, args)

    def _define(self, name: Token, args: list[Token]) -> None:
        if not args:
            raise error(name.loc, "#define needs the name of a macro")
        macro = args[0]
        if macro.type != "CPP_ID" or macro.value == "defined":
            raise error(macro.loc, f"'{macro.value}' cannot be the name of a macro")
        known = self.table.get(macro.value)
        new = self.table[macro.value] = self._macro(macro, args)
        self._seen.asked.add(macro.value)
        self._seen.define(macro.value, new)
        if known is not None and name is not macro:
            same = known.arglist == new.arglist and spelling(known.value) == spelling(new.value)
            if not same and not is_system(macro.loc):
                self._sink.warn(
                    macro.loc,
                    f"macro '{macro.value}' was defined differently before",
                    f"write #undef {macro.value} first",
                )

    def _macro(self, name: Token, args: list[Token]) -> Macro:
        """The macro of a `#define` line; the same one for a header's line that is read again."""
        found = self._headers.macros.get(id(name))
        if found is not None and found[0] is name:
            return found[1]
        check_parameters(args)
        made = macro_of(args)
        if self._reader.is_shared:
            self._headers.macros[id(name)] = name, made
        return made

    def _undef(self, name: Token, args: list[Token]) -> None:
        if not args or args[0].type != "CPP_ID":
            raise error(name.loc, "#undef needs the name of a macro")
        self.undefine(args[0].value)

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
        found = self.find(target, quoted=quoted, following=name.value == "include_next")
        if found is None:
            raise self._search.missing(args[0].loc, target)
        path = found.path
        if path in self._once:
            self._seen.files[path] = self._headers.get(path, args[0].loc)
            return
        if self._depth >= _MAX_INCLUDE_DEPTH:
            raise error(name.loc, f"#include nests deeper than {_MAX_INCLUDE_DEPTH} files")
        self._depth += 1
        outer, self._folder = self._folder, found.folder
        lexed = self._headers.get(path, args[0].loc)
        if lexed.is_read and lexed.guard is not None and self._conditions.is_defined(lexed.guard):
            self.files.add(path, lexed.text)
            self._seen.files[path] = lexed
            self._seen.asked.add(lexed.guard)
        else:
            self._read_header(path, lexed)
        self._folder = outer
        self._depth -= 1

    def _read_header(self, path: Path, lexed: LexedFile) -> None:
        """Reads a header, or does what it did before (`preprocess_again.py`)."""
        key = path, self._folder, self._search.system
        known = self._headers.inclusions.find(key, self.table, self._once)
        written = None if known is None else known.written
        if known is not None and (written is None or not self.output.is_at(written.file)):
            self._repeat(known)
            return
        outer, self._seen = self._seen, Seen(files={path: lexed})
        before, once, length = dict(self.table), set(self._once), self.output.length()
        inputs, state = self._search.inputs, self._unrepeatable()
        absent, inputs.absent = inputs.absent, set()
        try:
            self._process(lexed, path)
        finally:
            found, inputs.absent = inputs.absent, absent.union(inputs.absent)
            seen, self._seen = self._seen, outer
            outer.add(seen)
        written = self.output.since(length)
        nothing = length == self.output.length()
        are_read = all(each.is_read for each in seen.files.values())  # except text after a #line
        if state == self._unrepeatable() and are_read and (nothing or written is not None):
            both = (before, self.table), (once, self._once)
            self._headers.inclusions.keep(key, inclusion_of(seen, *both, found, written))

    def _repeat(self, known: Inclusion) -> None:
        self.table.update(known.defined)
        for name in known.removed:
            self.table.pop(name, None)
        self._once |= known.now_once
        for path, lexed in known.seen.files.items():
            self.files.add(path, lexed.text)
        self._seen.add(known.seen)
        self._search.inputs.absent |= known.absent
        if known.written is not None:
            self.output.again(known.written)

    def _unrepeatable(self) -> tuple[int, ...]:
        """Changes where there was something else than text, macros and files."""
        said = len(self._sink.diagnostics)
        return self._counter, said, self._pragmas.remembered, self._embedded

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
        self._embedded += 1
        self._chunk += found.tokens(path.read_bytes(), limit, name)

    def _find_resource(self, asked: Embed) -> Path | None:
        found = self.find(asked.target, quoted=asked.quoted)
        return None if found is None else found.path

    def has_embed(self, name: Token, args: list[Token]) -> int:
        """
        The value of `__has_embed`: 0 for a missing file, 1 for one with bytes, 2 for an empty one (C23
        6.10.2p7).
        """
        asked = read_embed(args, name)
        path = self._find_resource(asked)
        if path is None:
            return 0
        empty = limit_of(asked, name, self.expanded) == 0 or not path.stat().st_size
        return 2 if empty else 1

    def find(self, target: str, *, quoted: bool, following: bool = False) -> Found | None:
        """
        The file of an #include; for #include_next (`following`), only folders after that of the current
        file are searched.
        """
        if following:
            return self._search.find(target, None, self._folder)
        here = self._path.parent if self._path is not None else Path()
        return self._search.find(target, here if quoted else None)

    # Everything else

    def _error(self, name: Token, args: list[Token]) -> None:
        if not self._search.system:
            raise NeedsSystemHeaders  # the condition may be about the compiler
        raise error(name.loc, f"#error {spelling(args)}".rstrip())

    def _warning(self, name: Token, args: list[Token]) -> None:
        self._sink.warn(name.loc, f"#warning {spelling(args)}".rstrip())

    def _renumber(self, name: Token, args: list[Token]) -> None:
        """`#line n "file"`, or the `# n "file"` of text that was preprocessed before."""
        words = [t for t in self.expanded(args) if not t.is_space] if args else []
        if not words or not words[0].value.isdecimal():
            raise error(name.loc, "#line needs a line number")
        file = words[1].value[1:-1] if len(words) > 1 else None
        self._reader.renumber(int(words[0].value), file)
        if file is not None:
            self._set_file(file)

    def _read_once(self) -> bool:
        """`#pragma once`; false if the text does not come from a file."""
        if self._path is not None:
            self._once.add(self._path)
        return self._path is not None

    def _write_pragma(self, place: Position, tokens: Sequence[Token], word: str) -> None:
        self.output.pragma(place, tokens, word)

    def _pragma(self, name: Token, args: list[Token]) -> None:
        self._pragmas.run(name.source, args)
