"""
The host's LLVM IR as functions that can be kept, and put into a later module of the program.

In the text of a module, the names of strings and types depend on other functions. Here they are made from
their contents, so that the text of a function depends on this function only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

from .backend.cache import content_key
from .llvmir.symbols import SymbolText, join

_PREFIX = ".str."
_STRING = re.compile(rf'c"[^"\n]*"|@({re.escape(_PREFIX)}[\w.$-]*)')
_STRING_VALUE = re.compile(rf"@{re.escape(_PREFIX)}[\w.$-]* = private unnamed_addr constant (.*)")
_TYPE = re.compile(r'c"[^"\n]*"|%([A-Za-z]\w*\.[\w.$-]*)')
_NUMBER = re.compile(r"\.\d+$")
_NAME = re.compile(r'c"[^"\n]*"|@("[^"\n]*"|[\w.$-]+)')
_INTERNAL = re.compile(r"@[^ ]+ = internal ")
_EXTERNAL = re.compile(r"@[^ ]+ = (?:external|extern_weak) ")

_Typed = tuple[str, dict[str, str]]
"""A text, and the definitions of the types that it names."""


@dataclass(frozen=True)
class HostSymbol:
    """
    A function or variable that a module defines: its text, the `strings` that it names, with their texts, the
    texts of what it names and the module only declares, and of the static variables of the function, each by
    name; and all `names` in its text and in those of the variables. The types of `symbol` are those of all
    these texts.
    """

    symbol: SymbolText
    strings: tuple[tuple[str, str], ...]
    declared: tuple[tuple[str, str], ...]
    statics: tuple[tuple[str, str], ...]
    names: tuple[str, ...]

    def to_plain(self) -> list[Any]:
        """Values for JSON."""
        parts = self.strings, self.declared, self.statics
        return [list(astuple(self.symbol)), *parts, self.names]

    @staticmethod
    def from_plain(plain: Sequence[Any]) -> HostSymbol:
        """The symbol of which `to_plain` gave these values."""
        (name, text, is_function, types, declarations, nodes), *rest = plain
        pairs = tuple((each, body) for each, body in types)
        symbol = SymbolText(name, text, is_function, pairs, tuple(declarations), tuple(nodes))
        *parts, names = rest
        strings, declared, statics = (tuple((each, body) for each, body in part) for part in parts)
        return HostSymbol(symbol, strings, declared, statics, tuple(names))


def host_symbols(printed: Sequence[SymbolText]) -> list[HostSymbol]:
    """What the module of these symbols defines, in order, with names made from contents."""
    declared: dict[str, _Typed] = {}
    strings: dict[str, tuple[str, str]] = {}
    defined: list[SymbolText] = []
    for each in printed:
        for line in each.declarations:
            declared.setdefault(_name_of(line), _with_types(line, dict(each.types)))
        value = None if each.is_function else _STRING_VALUE.match(each.text)
        if _is_declaration(each):
            declared[each.name] = _with_types(each.text, dict(each.types))
        elif value is not None:
            name = _PREFIX + content_key(value[1])[:24]
            strings[each.name] = name, each.text.replace(each.name, name, 1)
        else:
            defined.append(each)
    statics = _statics(defined)
    of_functions = {static.name for own in statics.values() for static in own}
    return [
        _host_symbol(each, statics.get(each.name, ()), declared, strings)
        for each in defined
        if each.name not in of_functions
    ]


def _statics(defined: Sequence[SymbolText]) -> dict[str, list[SymbolText]]:
    """
    The static variables of functions, by the functions' symbols. They are named by these
    (`c/sema/declarations.py`); those that others name, too, are left out.
    """
    functions: dict[str, list[str]] = {}
    for each in defined:
        if each.is_function:
            functions.setdefault(_of_function(each), []).append(each.name)
    variables = {
        each.name: each
        for each in defined
        if not each.is_function
        and "." in each.name
        and _INTERNAL.match(each.text)
        and len(functions.get(_of_function(each), ())) == 1
    }
    shared = {
        name
        for each in (defined if variables else ())
        for name in _names_in(each.text)
        if name in variables
        and name != each.name
        and not (each.is_function and _of_function(each) == _of_function(variables[name]))
    }
    found: dict[str, list[SymbolText]] = {}
    for name, each in variables.items():
        if name not in shared:
            found.setdefault(functions[_of_function(each)][0], []).append(each)
    return found


def _of_function(each: SymbolText) -> str:
    """The name in C of a function, or of that of a static variable."""
    return each.name.partition(".")[0]


def _names_in(text: str) -> dict[str, None]:
    return dict.fromkeys(name.strip('"') for name in _NAME.findall(text) if name)


def _host_symbol(
    each: SymbolText,
    variables: Sequence[SymbolText],
    declared: Mapping[str, _Typed],
    strings: Mapping[str, tuple[str, str]],
) -> HostSymbol:
    own: dict[str, str] = {}
    names: dict[str, None] = {}
    types: dict[str, str] = {}

    def string(found: re.Match[str]) -> str:
        if found[1] not in strings:
            return found[0]
        name, text = strings[found[1]]
        own[name] = text
        return f"@{name}"

    def complete(symbol: SymbolText) -> str:
        text = _STRING.sub(string, symbol.text) if f"@{_PREFIX}" in symbol.text else symbol.text
        text, named = _with_types(text, dict(symbol.types))
        types.update(named)
        names.update(_names_in(text))
        return text

    text = complete(each)
    statics = tuple((variable.name, complete(variable)) for variable in variables)
    others = {name: declared[name] for name in names if name in declared}
    for _, of_other in others.values():
        types |= of_other
    return HostSymbol(
        replace(each, text=text, types=tuple(types.items()), declarations=()),
        tuple(own.items()),
        tuple((name, line) for name, (line, _) in others.items()),
        statics,
        tuple(names),
    )


def _with_types(text: str, bodies: Mapping[str, str]) -> _Typed:
    """`text` with the types that it names, which are named by their definitions."""
    if not bodies:
        return text, {}
    own: dict[str, str] = {}
    names: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        old = f"%{found[1]}"
        if found[1] is None or old not in bodies:
            return found[0]
        if old not in names:
            body = _TYPE.sub(name, bodies[old])  # a type that it names is complete: no cycles
            names[old] = f"{_NUMBER.sub('', old)}.{content_key(body)[:16]}"
            own[names[old]] = body
        return names[old]

    text = _TYPE.sub(name, text)
    own.update((old, _TYPE.sub(name, body)) for old, body in bodies.items() if old[1] == '"')
    return text, own


def text_of(symbols: Iterable[HostSymbol]) -> str:
    """The module of these symbols."""
    texts: dict[str, SymbolText] = {}
    defined: list[SymbolText] = []
    for each in symbols:
        for name, text in each.strings:
            texts.setdefault(name, _variable(name, text))
        for name, text in each.declared:
            line = text if text.startswith("declare ") else None
            texts.setdefault(
                name, _variable(name, text) if line is None else _declaration(name, line)
            )
        defined += [_variable(name, text) for name, text in each.statics]
        defined.append(each.symbol)
    return join([*texts.values(), *defined], "", None)


def _variable(name: str, text: str) -> SymbolText:
    return SymbolText(name, text, False, (), (), ())


def _declaration(name: str, line: str) -> SymbolText:
    return SymbolText(name, line, True, (), (), ())


def _is_declaration(each: SymbolText) -> bool:
    if each.is_function:
        return each.text.startswith("declare ")
    return _EXTERNAL.match(each.text) is not None


def _name_of(line: str) -> str:
    found = _NAME.search(line)
    assert found is not None
    return found[1].strip('"')
