"""
Checks that the files of a program agree on the names they share (C11 6.2.7, 6.9p5).

A program whose files disagree has undefined behaviour, but linkers do not check it, and many programs
declare an `enum` here and an `int` there, functions without parameters, or structures with differently
named members. So declarations that differ are a warning that names both places. Errors are what no linker
accepts (two definitions) and what cannot work: a name that is a function in one file and a variable in
another, and a variable declared larger than its definition, or as a pointer where the definition is an
array. Calls that do not fit their function's definition are reported at the call
(`irgen/mismatched_calls.py`), so that an unused declaration is not an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..base.diagnostics import DiagnosticSink, SourceLoc, error
from ..base.library_headers import is_library
from .ast import FunctionDecl, Storage, TranslationUnit, VarDecl
from .types import (
    INT,
    ArrayType,
    CType,
    Field,
    FunctionType,
    PointerType,
    QualType,
    RecordType,
    VoidType,
    innermost,
)

Declaration = FunctionDecl | VarDecl

_ONE_HEADER = "declare it in one header that both files include"


def check_agreement(units: Sequence[TranslationUnit], sink: DiagnosticSink) -> None:
    """
    Compare every declaration of an external name with its definition, or else with the first declaration.
    Of several tentative definitions of a variable, one remains. Differences are warnings in
    `sink`; raises `CompileError` for what cannot be linked.
    """
    sameness = Sameness()
    for decls in _declared(units, lambda decl: decl.name).values():
        reference = _definition(decls)
        for decl in decls:
            if decl is not reference:
                _check_pair(reference, decl, sameness, sink)


def are_independent(units: Sequence[TranslationUnit], taken: frozenset[str]) -> bool:
    """
    Whether each file can be compiled without the others, with the same result: every external name has at
    most one definition, all its declarations equal it, and it is not a function of the C library (declared
    in a header, or in `taken`). `check_agreement` has compared the files before.
    """
    sameness = Sameness()
    taken = taken.union(*(unit.idle for unit in units))
    for name, decls in _declared(units, lambda decl: decl.symbol or decl.name).items():
        definitions = [decl for decl in decls if _is_defined(decl)]
        if not definitions:
            continue
        if len(definitions) > 1 or name in taken or any(is_library(decl.loc) for decl in decls):
            return False
        for decl in decls:
            gave_way = isinstance(decl, VarDecl) and decl.gave_way
            if gave_way or not sameness.of(definitions[0].type, decl.type):
                return False
    return True


def _declared(
    units: Sequence[TranslationUnit], key: Callable[[Declaration], str]
) -> dict[str, list[Declaration]]:
    """The declarations of external names, by `key`."""
    declared: dict[str, list[Declaration]] = {}
    for unit in units:
        for decl in (*unit.functions, *unit.variables):
            if is_external(decl):
                declared.setdefault(key(decl), []).append(decl)
    return declared


def is_external(decl: Declaration) -> bool:
    """Whether other files may mean the same by its name."""
    if isinstance(decl, FunctionDecl):
        return not decl.is_static
    return decl.storage is Storage.GLOBAL


def _is_defined(decl: Declaration) -> bool:
    return decl.body is not None if isinstance(decl, FunctionDecl) else decl.is_defined


def _definition(decls: Sequence[Declaration]) -> Declaration:
    """The declaration to compare the others with: among definitions an initialised one, or else the
    largest."""
    found = decls[0]
    for decl in decls[1:]:
        _check_kind(found, decl)
        if not _is_defined(decl):
            continue
        if not _is_defined(found) or _make_common(found, decl) is decl:
            found = decl
    return found


def _make_common(old: Declaration, decl: Declaration) -> Declaration:
    """
    The definition that remains of two. Two definitions of a variable are merged if at most one has an
    initialiser, as linkers do for headers that define variables (C11 J.5.11). Of weak definitions, one that
    is not weak remains, or the first. Raises `CompileError` for other pairs.
    """
    if old.is_weak or decl.is_weak:
        return decl if old.is_weak and not decl.is_weak else old
    if isinstance(old, VarDecl) and isinstance(decl, VarDecl) and not (old.init and decl.init):
        larger = (decl.init is not None, _size(decl.type)) > (old.init is not None, _size(old.type))
        kept, other = (decl, old) if larger else (old, decl)
        other.is_defined, other.gave_way = False, True
        return kept
    raise error(
        decl.loc,
        f"'{decl.name}' is defined in two files",
        "make one 'static', or declare it 'extern' in all files but one",
        _other(old),
    )


def _other(old: Declaration) -> list[tuple[SourceLoc, str]]:
    return [(old.loc, "the definition" if _is_defined(old) else "the other declaration")]


def _check_kind(old: Declaration, decl: Declaration) -> None:
    if isinstance(old, FunctionDecl) != isinstance(decl, FunctionDecl):
        raise error(
            decl.loc,
            f"'{decl.name}' is a function in one file and a variable in another",
            "rename one of them",
            _other(old),
        )


def _check_pair(
    old: Declaration, decl: Declaration, sameness: Sameness, sink: DiagnosticSink
) -> None:
    if sameness.of(old.type, decl.type) or (is_library(old.loc) and is_library(decl.loc)):
        return  # our headers and the system's do not always give a structure the same tag
    if isinstance(decl, FunctionDecl) and decl.is_implicit and _is_harmless(old.type):
        return  # the call has been warned about
    what = f"'{decl.name}' is '{decl.type}' here and '{old.type}' in another file"
    if str(old.type) == str(decl.type):
        what = f"'{decl.name}' is '{decl.type}' in two files, with different members"
    if isinstance(old, VarDecl) and _cannot_be(old.type, decl.type):
        raise error(decl.loc, what, _ONE_HEADER, _other(old))
    sink.warn(decl.loc, what, _ONE_HEADER, _other(old))


def _is_harmless(t: CType) -> bool:
    """Whether a function of type `t` may be called as if it returned int, provided that the result is
    unused."""
    return isinstance(t, FunctionType) and (t.result == INT or isinstance(t.result, VoidType))


def _cannot_be(old: CType, new: CType) -> bool:
    """
    Whether a variable of type `old` cannot be used as one of type `new`: because one is a pointer and the
    other an array, or because `new` is larger, so that memory after the variable would be used. Arrays of
    different lengths are allowed, as a program may keep to the shorter one.
    """
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        return _cannot_be(innermost(old), innermost(new))
    if isinstance(old, ArrayType) != isinstance(new, ArrayType):
        return True
    return _size(new) > _size(old) > 0


def _size(t: CType) -> int:
    return t.size if t.is_complete and not isinstance(t, FunctionType) else 0


class Sameness:
    """
    Whether types of two files are compatible (C11 6.2.7p1). Structures and unions are if their tags are the
    same and, where both are complete, their members. Results for pairs of records are remembered, as
    declarations of a program name the same records many times; the types must live as long as this object.
    """

    def __init__(self) -> None:
        self._same: set[tuple[int, int]] = set()
        """Pairs of records that are the same, or are assumed to be while they are compared."""
        self._assumed: list[tuple[int, int]] = []

    def of(self, a: CType, b: CType) -> bool:
        """Whether two types are compatible."""
        self._assumed.clear()
        if self._types(a, b):
            return True
        self._same.difference_update(self._assumed)  # may follow from a false one
        return False

    def _types(self, a: CType, b: CType) -> bool:
        match a, b:
            case RecordType(), RecordType():
                return self._records(a, b)
            case PointerType(), PointerType():
                return self._qualified(a.pointee, b.pointee)
            case ArrayType(), ArrayType():
                known = isinstance(a.length, int) and isinstance(b.length, int)
                return (not known or a.length == b.length) and self._qualified(a.element, b.element)
            case FunctionType(), FunctionType():
                return self._functions(a, b)
            case _:
                return a == b

    def _qualified(self, a: QualType, b: QualType) -> bool:
        same_words = (a.const, a.volatile) == (b.const, b.volatile)
        return same_words and self._types(a.type, b.type)

    def _functions(self, a: FunctionType, b: FunctionType) -> bool:
        if not self._types(a.result, b.result):
            return False
        if not (a.prototyped and b.prototyped):
            return True
        if a.variadic != b.variadic or len(a.params) != len(b.params):
            return False
        return all(self._types(x, y) for x, y in zip(a.params, b.params, strict=True))

    def _records(self, a: RecordType, b: RecordType) -> bool:
        pair = id(a), id(b)
        if a is b or pair in self._same:
            return True
        if a.is_union != b.is_union or a.tag != b.tag:
            return False
        if a.fields is None or b.fields is None:
            return True
        self._same.add(pair)
        self._assumed.append(pair)
        return len(a.fields) == len(b.fields) and all(
            _place(x) == _place(y) and self._qualified(x.type, y.type)
            for x, y in zip(a.fields, b.fields, strict=True)
        )


def _place(member: Field) -> tuple[str | None, int, int, int | None]:
    return member.name, member.offset, member.bit_offset, member.bit_width
