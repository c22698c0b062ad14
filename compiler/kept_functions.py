"""
Functions of large programs whose code is kept, so that an edit of one function compiles that function, and
not the files that are compiled with it.

The code of a function without directives depends on its own text, on what the files say outside of functions,
and on no other function's body, except as follows. Functions of which one of these may hold are compiled
every time; the others can be left out of their files (`c/function_texts.py`) if their code is kept.

- Directives, and some calls of the runtime, concern the whole file (`c/sema`).
- A body may declare names with linkage, or have assembly. Its static variables are a part of its code.
- Messages have lines, which an edit moves, and an order.
- Passes read functions with directives of OpenACC, those that they call, and what other functions do to the
  global variables that these name (`c/file_groups.py`). A function is left out only if nothing calls it from
  there, except from functions whose directives have no statement, and if others that are compiled use each
  of these variables in the same ways (`function_survey.py`). Passes take it for one of another file, of
  which they assume the worst.
- Whether the address of a scalar variable at file scope is taken anywhere decides about loops over it.
- The symbol of what several files have each of their own, such as a static function, depends on which of them
  a body names first.

What the files say outside of functions is the key of what is kept; numbers of lines are not part of it, as
the code has none. If the compilation without these functions fails, or if something that the whole program
decides comes out differently, the whole program is compiled.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .backend.cache import DiskCache, content_key
from .base.abi import DEVICE_COPIES
from .base.phases import LOADING, phase
from .fingerprint import compiler_fingerprint

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .base.diagnostics import Diagnostic
    from .base.options import CompileOptions
    from .c.ast import TranslationUnit
    from .c.function_texts import FunctionText, ProgramText
    from .c.preprocess import PreprocessedSource
    from .function_survey import ProgramSurvey
    from .host_symbols import HostSymbol

_WORTH_IT = 100_000
"""The characters of functions with bodies from which keeping them takes less time than it saves."""
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+acc\b.*|\b_Pragma\b", re.MULTILINE)
_WITH_STATEMENT = re.compile(
    r"#[ \t]*pragma[ \t]+acc[ \t]+(?!(?:update|enter|exit|wait|init|shutdown|set)\b)|\b_Pragma\b"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_NOT_ALONE = re.compile(
    r"^[ \t]*#[ \t]*pragma|\b_Pragma\b|\b__label__\b|\b__attribute"
    r"|\b(?:extern|asm|__asm|__asm__|__thread|_Thread_local|thread_local)\b"
    rf"|\b(?:omp_|__accopt_|acc_set_|(?:{'|'.join(DEVICE_COPIES)})\b)",
    re.MULTILINE,
)
"""
Matches what a function must not contain to be left out. Of OpenACC's routines, these make the host the
current device, or copy between devices, which concerns all constructs of a program.
"""


class NotKept(Exception):
    """The code of a program without some functions cannot be completed: the whole file must be compiled."""


@dataclass(frozen=True)
class _Kept:
    """A function's code: the text of its body, how it uses global variables, and the functions it names."""

    body: str
    uses: Mapping[str, frozenset[str]]
    named: tuple[str, ...]
    symbol: HostSymbol

    def to_plain(self) -> list[Any]:
        uses = {name: sorted(kinds) for name, kinds in self.uses.items()}
        return [self.body, uses, self.named, self.symbol.to_plain()]

    @staticmethod
    def from_plain(plain: Sequence[Any]) -> _Kept:
        from .host_symbols import HostSymbol

        body, uses, named, symbol = plain
        found = {name: frozenset(kinds) for name, kinds in uses.items()}
        return _Kept(body, found, tuple(named), HostSymbol.from_plain(symbol))


@dataclass(frozen=True)
class _Entry:
    """
    What is kept of a file. `has_uses`: whether the uses of variables are known; `has_unions`: whether any
    function uses one; `directed` and `exposed` as in `ProgramSurvey`.
    """

    functions: Mapping[str, _Kept] = field(default_factory=dict[str, _Kept])
    has_uses: bool = False
    has_unions: bool = False
    directed: frozenset[str] = frozenset()
    exposed: frozenset[str] = frozenset()

    def to_bytes(self) -> bytes:
        functions = {name: kept.to_plain() for name, kept in self.functions.items()}
        flags = [self.has_uses, self.has_unions, sorted(self.directed), sorted(self.exposed)]
        return zlib.compress(json.dumps([functions, *flags]).encode(), 1)

    @staticmethod
    def from_bytes(data: bytes) -> _Entry:
        functions, uses, unions, directed, exposed = json.loads(zlib.decompress(data))
        found = {name: _Kept.from_plain(plain) for name, plain in functions.items()}
        return _Entry(found, uses, unions, frozenset(directed), frozenset(exposed))


def functions_to_leave_out(
    text: ProgramText,
    known: Mapping[str, Mapping[str, frozenset[str]]],
    directed: Collection[str],
    exposed: Collection[str],
    *,
    has_uses: bool,
) -> frozenset[str]:
    """
    Which functions of a program can be left out of it: `known` are the uses of global variables by those
    whose code is kept. `directed` functions have directives outside of their bodies; the addresses of
    `exposed` variables are taken. Without `has_uses`, the uses are not known.
    """
    functions = text.functions
    apart = {
        name
        for name in known
        if not _NOT_ALONE.search(functions[name].body) and functions[name].words.isdisjoint(exposed)
    }
    outside = [line for outline in text.outlines for line in _DIRECTIVE.findall(outline)]
    read = {n for n, f in functions.items() if n in directed or _DIRECTIVE.search(f.body)}
    if not read and not outside:
        return frozenset(apart)
    if not has_uses:
        return frozenset()
    words = set[str]().union(*map(_WORD.findall, outside), *(functions[n].words for n in read))
    others: dict[str, list[FunctionText]] = {}
    for other in text.others:
        is_read = not other.name or other.name in directed or _DIRECTIVE.search(other.body)
        others.setdefault("" if is_read else other.name, []).append(other)
    entered = (n for n in read if n in directed or _WITH_STATEMENT.search(functions[n].body))
    pending = [*others.pop("", ()), *map(functions.__getitem__, entered)]
    while pending:
        own = pending.pop().words
        words |= own
        called = own.intersection(functions) - read
        read |= called
        pending += map(functions.__getitem__, called)
        pending += [f for name in own.intersection(others) for f in others.pop(name)]
    apart -= read
    users: dict[str, dict[str, frozenset[str]]] = {}
    for name, uses in known.items():
        for variable in uses.keys() & words if name not in read else ():
            users.setdefault(variable, {})[name] = uses[variable]
    for variable in sorted(users):
        _leave_users(users[variable], apart)
    return frozenset(apart)


def _leave_users(users: Mapping[str, frozenset[str]], apart: set[str]) -> None:
    """Removes functions from `apart` until the others use a variable in all ways in which its `users` do."""
    missing = set[str]().union(*users.values())
    for name in sorted(users, key=lambda name: name in apart):
        if name not in apart:
            missing -= users[name]
        elif not missing.isdisjoint(users[name]):
            apart.remove(name)
            missing -= users[name]


class KeptFunctions:
    """
    The functions of a program that is compiled with `options`, or of some files of it; `mark` as for
    `generate_module`.
    """

    def __init__(
        self, sources: Sequence[PreprocessedSource], options: CompileOptions, mark: str
    ) -> None:
        with phase(LOADING):
            from .c.function_texts import ProgramText, file_text

        self._sources, self._options, self._mark = sources, options, mark
        with phase("find functions"):
            self._text = ProgramText(tuple(file_text(source.text) for source in sources))
        self._store = DiskCache.default("functions")
        self._survey: ProgramSurvey | None = None
        self._uses: Mapping[str, Mapping[str, frozenset[str]]] = {}
        self._has_uses = self._has_unions = False
        self._symbols: list[HostSymbol] = []

    @staticmethod
    def of(
        sources: Sequence[PreprocessedSource], options: CompileOptions, mark: str = ""
    ) -> KeptFunctions | None:
        """
        The functions of a program, or of a part of one, which has a `mark`; None if it is small, or if its
        code depends on lines or on options of passes. The simulator runs one module.
        """
        plain = not (options.pass_options or options.skipped_passes or options.added_passes)
        lines = options.debug_info or options.host_lines
        if sum(len(source.text) for source in sources) < _WORTH_IT or options.target == "sim":
            return None
        if not plain or lines or options.checks_ir or options.check_cache:
            return None
        found = KeptFunctions(sources, options, mark)
        size = sum(len(function.body) for function in found._text.functions.values())
        return found if size >= _WORTH_IT else None

    @cached_property
    def _key(self) -> str:
        options = self._options.key(), self._mark
        return content_key("functions", compiler_fingerprint(), *options, *self._text.outlines)

    @cached_property
    def _entry(self) -> _Entry:
        data = self._store.get(self._key)
        with phase("read functions"):
            return _Entry() if data is None else _Entry.from_bytes(data)

    @cached_property
    def _contents(self) -> Mapping[str, str]:
        """Each function's text, as a key."""
        return {name: content_key(f.content) for name, f in self._text.functions.items()}

    @cached_property
    def left_out(self) -> frozenset[str]:
        """The functions that need not be compiled."""
        with phase("find functions"):
            unchanged = {
                name: kept.uses
                for name, kept in self._entry.functions.items()
                if self._contents.get(name) == kept.body
            }
            entry = self._entry
            return functions_to_leave_out(
                self._text, unchanged, entry.directed, entry.exposed, has_uses=entry.has_uses
            )

    @cached_property
    def reduced(self) -> list[PreprocessedSource]:
        """The files without the functions that need not be compiled."""
        kept = self._entry.functions
        return [
            replace(source, text=file.without(self.left_out, lambda name: kept[name].named))
            for source, file in zip(self._sources, self._text.files, strict=True)
        ]

    def whole(self) -> None:
        """The whole program is compiled now."""
        self.__dict__["left_out"] = frozenset[str]()

    def cut(self, units: Sequence[TranslationUnit]) -> Callable[[], None]:
        """Makes the typed trees of the whole files those of `reduced`; returns what reverses it."""
        with phase(LOADING):
            from .c.function_texts import without_bodies

        with phase("find functions"):
            restored = [without_bodies(unit, self.left_out) for unit in units]

        def restore() -> None:
            for each in restored:
                each()

        return restore

    def see_units(self, units: Sequence[TranslationUnit]) -> None:
        """Reads the typed trees of the program, which begin with those of the files. Raises `NotKept`."""
        with phase(LOADING):
            from .function_survey import survey

        with phase("find functions"):
            self._survey = survey(units[: len(self._sources)], wall=self._options.wall)
        known = self._entry.exposed, self._entry.directed
        if self.left_out and known != (self._survey.exposed, self._survey.directed):
            raise NotKept

    def see_module(self, module: ModuleOp) -> None:
        """Reads the acc-level module of the program. Raises `NotKept`."""
        with phase(LOADING):
            from ..dialects.accx import PUNS
            from .function_survey import uses_of_variables

        self._has_unions = PUNS in module.attributes
        if self.left_out and self._entry.has_unions != self._has_unions:
            raise NotKept
        self._has_uses = any(_DIRECTIVE.search(source.text) for source in self._sources)
        if self._has_uses:
            with phase("find functions"):
                found: dict[str, dict[str, frozenset[str]]] = {}
                for symbol, uses in uses_of_variables(module).items():
                    own = found.setdefault(self._name(symbol), {})
                    for variable, kinds in uses.items():
                        name = self._name(variable)
                        own[name] = kinds | own.get(name, frozenset())
                self._uses = found

    def _name(self, symbol: str) -> str:
        """The name in C of an internal symbol."""
        return symbol.removesuffix(self._mark)

    def text_of_host(self, module: ModuleOp, options: CompileOptions) -> str:
        """The LLVM IR of the host, of a module at stage `nvvm`, with the functions that were left out."""
        with phase(LOADING):
            from .emit import print_host
            from .host_symbols import host_symbols, text_of

        with phase("LLVM IR of the host", module):
            kept = {name: self._entry.functions[name].symbol for name in self.left_out}
            printed = print_host(module, options)
            places = {each.name: i for i, each in enumerate(printed)}
            if any(each.symbol.name not in places for each in kept.values()):
                raise NotKept
            made = host_symbols([each for each in printed if self._name(each.name) not in kept])
            self._symbols = sorted([*kept.values(), *made], key=lambda s: places[s.symbol.name])
            return text_of(self._symbols)

    def keep(self, messages: Sequence[Diagnostic]) -> None:
        """Keeps the code of functions after the program was compiled with these messages."""
        assert self._survey is not None
        with phase("keep functions"):
            found = {
                name: kept for name, kept in self._entry.functions.items() if name in self.left_out
            } | self._new(self._survey, messages)
            entry = _Entry(
                found,
                self._has_uses,
                self._has_unions,
                self._survey.directed,
                self._survey.exposed,
            )
            self._store.put(self._key, entry.to_bytes())

    def _new(self, survey: ProgramSurvey, messages: Sequence[Diagnostic]) -> dict[str, _Kept]:
        """The functions that were compiled now and whose code can be kept."""
        silent = self._silent(messages)
        found: dict[str, _Kept] = {}
        for each in self._symbols:
            name = self._name(each.symbol.name)
            if name not in survey.functions or name not in silent or not each.symbol.is_function:
                continue
            own = {name for name, _ in (*each.strings, *each.declared, *each.statics)}
            others = {
                self._name(n) for n in each.names if n not in own and not n.startswith("llvm.")
            }
            if others <= survey.symbols and survey.renamed.isdisjoint((*each.names, *others, name)):
                uses, named = self._uses.get(name, {}), survey.functions[name]
                found[name] = _Kept(self._contents[name], uses, named, each)
        return found

    def _silent(self, messages: Sequence[Diagnostic]) -> Collection[str]:
        """The functions in whose lines no message has a place."""
        if not messages:
            return self._text.functions
        places: dict[str, set[int]] = {}
        for each in messages:
            for loc in (each.loc, *(place for place, _ in each.notes)):
                places.setdefault(loc.file, set()).add(loc.line)
        return {
            name
            for source, text in zip(self._sources, self._text.files, strict=True)
            for name, (file, first, last) in text.lines(source.file).items()
            if name in self._text.functions
            and places.get(file, set()).isdisjoint(range(first, last + 1))
        }
