"""
Which files of a program are compiled together: those whose compilation reads each other.

Passes read the following outside of the function that they compile, and nothing else.

1. Functions that device code calls, directly or not (`infer-routines`, `inline-small-routines`, outlining).
2. Functions that host code with directives calls, directly or not: their effects decide about data regions
   (`passes/ir/data/host_effects.py`). A function with directives of its own, other than `loop`, `atomic` and
   `cache`, is not read: it may do anything to the device, as may one that is defined nowhere.
3. Of the global variables that such functions name: initial values, types, `declare` directives, and how all
   other functions use them (whether pointers to them or device copies of them may exist).
4. The `routine` directives of functions that they call.

Only functions with directives have such passes. So two files are in one group if a function with directives
in the first, or a function that is read for it, calls a function of the second that is read, or names a
variable that the second names, too; or if the files give a function different `routine` directives. Groups
are the classes of this relation. Everything else that crosses files is the same for all files of a program
and is a part of the key of a group (`compiler/files_apart.py`); and a program with copies between devices is
compiled as a whole, as any construct may then have a border that is computed first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..base.abi import DEVICE_COPIES
from ..directives.records import BindClause, Directive, DirectiveKind, PeerClause
from . import ast as c
from .tree import Node, clause_slots, statements, walk

_DEVICE_CODE = (DirectiveKind.LOOP, DirectiveKind.ATOMIC, DirectiveKind.CACHE)
"""Directives that functions which device code calls may contain."""


@dataclass(frozen=True)
class FunctionUse:
    """
    A function: the functions and the external variables that it names; whether other files can call it;
    whether it has directives, and such that it is not read for its callers (`is_opaque`).
    """

    functions: frozenset[str]
    variables: frozenset[str]
    is_external: bool
    has_directives: bool
    is_opaque: bool


@dataclass(frozen=True)
class FileUse:
    """
    A file: the functions that it defines, by name; the external variables that it defines, or names in
    functions, initial values and `declare` directives; those in the directives again; and the `routine`
    directives of external functions, as texts by name.
    """

    functions: Mapping[str, FunctionUse]
    variables: frozenset[str]
    declared: frozenset[str]
    routines: Mapping[str, str]

    def to_plain(self) -> object:
        """The use as values of JSON."""
        functions = {
            name: [sorted(f.functions), sorted(f.variables), *_flags(f)]
            for name, f in self.functions.items()
        }
        return [functions, sorted(self.variables), sorted(self.declared), dict(self.routines)]

    @staticmethod
    def from_plain(plain: Any) -> FileUse:
        """The use that `to_plain` gave."""
        functions, variables, declared, routines = plain
        found = {
            name: FunctionUse(frozenset(called), frozenset(named), *flags)
            for name, (called, named, *flags) in functions.items()
        }
        return FileUse(found, frozenset(variables), frozenset(declared), routines)


def _flags(function: FunctionUse) -> list[bool]:
    return [function.is_external, function.has_directives, function.is_opaque]


def use_of(unit: c.TranslationUnit) -> FileUse:
    """What a checked file uses and defines."""
    functions: dict[str, FunctionUse] = {}
    routines: dict[str, str] = {}
    for function in unit.functions:
        own = [d for d in function.directives if d.kind is DirectiveKind.ROUTINE]
        if own and not function.is_static:
            routines[_name(function)] = "\n".join(map(_text, own))
        if function.body is not None:
            functions[_name(function)] = _function_use(function, function.body)
    declared = set[str]().union(
        *(_variables(_clauses(d)) for d in unit.directives if d.kind is DirectiveKind.DECLARE)
    )
    values = [value for v in unit.variables if v.init is not None for _, value in v.init.items]
    variables = declared.union(
        (_name(v) for v in unit.variables if _is_shared(v) and v.is_defined),
        _variables(values),
        *(function.variables for function in functions.values()),
    )
    return FileUse(functions, frozenset(variables), frozenset(declared), routines)


def _function_use(function: c.FunctionDecl, body: c.Compound) -> FunctionUse:
    called: set[str] = set()
    kinds = [directive.kind for directive in function.directives]
    variables = _variables(node for each in function.directives for node in _clauses(each))
    for directive in function.directives:
        bind = directive.find("bind", BindClause)
        called.update([bind.target] if bind is not None else [])
    for node in walk(body):
        if isinstance(node, c.AccStmt):
            kinds.append(node.directive.kind)
        elif isinstance(node, c.FunctionRef):
            called.add(_name(node.decl))
        elif isinstance(node, c.VarRef) and _is_shared(node.decl):
            variables.add(_name(node.decl))
        elif isinstance(node, c.DeclStmt):
            called.update(_name(d.cleanup) for d in node.decls if d.cleanup is not None)
    return FunctionUse(
        frozenset(called),
        frozenset(variables),
        not function.is_static,
        bool(kinds),
        any(kind not in (*_DEVICE_CODE, DirectiveKind.ROUTINE) for kind in kinds),
    )


def _clauses(directive: Directive) -> list[Node]:
    slots = (slot for clause in directive.clauses for slot in clause_slots(clause))
    return [slot.expr for slot in slots if slot.expr is not None]


def _variables(roots: Iterable[Node]) -> set[str]:
    """The external variables that parts of a tree name."""
    nodes = (node for root in roots for node in walk(root))
    return {_name(n.decl) for n in nodes if isinstance(n, c.VarRef) and _is_shared(n.decl)}


def _is_shared(variable: c.VarDecl) -> bool:
    return variable.storage is c.Storage.GLOBAL


def _name(decl: c.FunctionDecl | c.VarDecl) -> str:
    return decl.symbol or decl.name


def _text(directive: Directive) -> str:
    """A routine directive as text: equal texts at one place of a header mean the same in all files."""
    return f"{directive.loc.file}:{directive.loc.line}: {directive.text}"


def copies_between_devices(unit: c.TranslationUnit, use: FileUse) -> bool:
    """Whether a file, of which this is the use, may copy between devices."""
    if any(not f.functions.isdisjoint(DEVICE_COPIES) for f in use.functions.values()):
        return True
    return any(
        isinstance(node, c.AccStmt)
        and any(isinstance(p, PeerClause) for p in node.directive.clauses)
        for f in unit.functions
        if f.body is not None
        for node in statements(f.body)
    )


def groups(files: Sequence[FileUse]) -> list[list[int]]:
    """
    The files of a program, by number, in groups that are compiled without the others, each in order; the
    groups in the order of their first files.
    """
    return _Groups(files).find()


class _Groups:
    def __init__(self, files: Sequence[FileUse]) -> None:
        self._files = files
        self._parents = list(range(len(files)))
        self._definers = {
            name: i
            for i, file in enumerate(files)
            for name, function in file.functions.items()
            if function.is_external
        }
        """External function → the file that defines it."""
        self._users: dict[str, list[int]] = {}
        """Variable → the files that name it."""
        for i, file in enumerate(files):
            for name in file.variables:
                self._users.setdefault(name, []).append(i)

    def find(self) -> list[list[int]]:
        self._join_routines()
        self._join_read()
        found: dict[int, list[int]] = {}
        for i in range(len(self._files)):
            found.setdefault(self._root(i), []).append(i)
        return list(found.values())

    def _root(self, i: int) -> int:
        while self._parents[i] != i:
            self._parents[i] = i = self._parents[self._parents[i]]
        return i

    def _join(self, i: int, j: int) -> None:
        first, second = sorted((self._root(i), self._root(j)))
        self._parents[second] = first

    def _join_routines(self) -> None:
        """Joins each file with those whose `routine` directives of a function differ from its own."""
        for i, file in enumerate(self._files):
            called = (function.functions for function in file.functions.values())
            for name in file.routines.keys() | set[str]().union(*called):
                definer = None if name in file.functions else self._definers.get(name)
                if definer is not None:
                    of_definer = self._files[definer].routines
                    if of_definer.get(name) != file.routines.get(name):
                        self._join(i, definer)

    def _join_read(self) -> None:
        """Joins each file with those that its functions with directives, and those read for them, need."""
        pending = [
            (i, name)
            for i, file in enumerate(self._files)
            for name, function in file.functions.items()
            if function.has_directives
        ]
        seen = set(pending)
        for file in self._files:
            for name in file.declared:
                self._join_users(name)
        while pending:
            i, name = pending.pop()
            function = self._files[i].functions[name]
            for variable in function.variables:
                self._join_users(variable)
            for called in function.functions:
                j = i if called in self._files[i].functions else self._definers.get(called)
                if j is None or self._files[j].functions[called].is_opaque:
                    continue
                self._join(i, j)
                if (j, called) not in seen:
                    seen.add((j, called))
                    pending.append((j, called))

    def _join_users(self, variable: str) -> None:
        """Joins the files that name a variable."""
        users = self._users.pop(variable, [])
        for other in users[1:]:
            self._join(users[0], other)
