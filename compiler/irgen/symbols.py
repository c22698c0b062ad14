"""Symbols and shared definitions of the module being generated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.dialects import llvm
from xdsl.dialects.builtin import BytesAttr, ModuleOp, StringAttr, i8
from xdsl.dialects.llvm import LLVMArrayType, LLVMFunctionType
from xdsl.ir import Attribute, Operation

from ...dialects.accx import ENTRY
from ...passes.decisions.device_functions import KNOWN_FUNCTIONS
from ..base.diagnostics import DiagnosticSink, error
from ..base.identifiers import ascii_name
from ..base.library_headers import is_library, is_of_openmp
from ..c import ast as c
from ..c.library_builtins import library_type
from ..c.tree import symbol_name
from ..c.types import VOID
from .conventions import has_records, signature
from .layout import TypeLowering

if TYPE_CHECKING:
    from .function import TreeRules

EXTERNAL = llvm.LinkageAttr("external")
INTERNAL = llvm.LinkageAttr("internal")
WEAK = llvm.LinkageAttr("weak")
EXTERN_WEAK = llvm.LinkageAttr("extern_weak")


@dataclass
class ModuleState:
    """Symbols and shared definitions of the module being generated."""

    sink: DiagnosticSink
    rules: TreeRules
    host_fallback: bool = False
    """Whether the host may be the current device, in which case compute constructs run on the calling
    thread."""
    mark: str = ""
    """
    For a file of a larger program that is generated alone: the suffix that makes its internal names unique
    in the program.
    """
    types: TypeLowering = field(default_factory=TypeLowering)
    module: ModuleOp = field(default_factory=lambda: ModuleOp([]))
    function_types: dict[str, LLVMFunctionType] = field(default_factory=dict[str, LLVMFunctionType])
    globals: dict[str, llvm.GlobalOp] = field(default_factory=dict[str, llvm.GlobalOp])
    recipes: ModuleOp = field(default_factory=lambda: ModuleOp([]))
    """The recipes that clauses name; `add_recipes` puts them into `module`."""
    _taken: set[str] = field(default_factory=set[str])
    _variables: dict[int, str] = field(default_factory=dict[int, str])
    referenced: list[c.VarDecl] = field(default_factory=list["c.VarDecl"])
    _functions: dict[int, str] = field(default_factory=dict[int, str])
    _defined: dict[str, c.FunctionDecl | c.VarDecl] = field(
        default_factory=dict[str, "c.FunctionDecl | c.VarDecl"]
    )
    entries: dict[str, tuple[str, c.FunctionDecl]] = field(
        default_factory=dict[str, "tuple[str, c.FunctionDecl]"]
    )
    """Functions of the program → the symbols of their entries (`records_by_value.py`)."""
    device_versions: dict[str, str] = field(default_factory=dict[str, str])
    """Symbols of routines that are bound to other functions on the device."""
    _renamed: dict[str, str] = field(default_factory=dict[str, str])
    """
    Names that passes know as functions of the library, but which the program defines, or declares with
    another type → the symbols of these functions until `name-entries`.
    """
    overridden: set[int] = field(default_factory=set[int])
    """The identities of weak definitions that another definition replaces."""
    _aliases: dict[str, c.FunctionDecl | c.VarDecl] = field(
        default_factory=dict[str, "c.FunctionDecl | c.VarDecl"]
    )
    """Other names of definitions that no other definition replaces."""
    _strings: dict[tuple[bytes, int], str] = field(default_factory=dict[tuple[bytes, int], str])
    _declared: dict[str, c.VarDecl | c.FunctionDecl] = field(
        default_factory=dict[str, "c.VarDecl | c.FunctionDecl"]
    )

    # Symbols ----------------------------------------------------------------------------------

    def unique(self, name: str) -> str:
        """`name` with the file's mark, or `name.1`, … if the module has that symbol already, or if it is
        that of a library function, for which passes would take it."""
        out, n = name + self.mark, 0
        while out in self._taken or out in KNOWN_FUNCTIONS:
            n += 1
            out = f"{name}{self.mark}.{n}"
        self._taken.add(out)
        return out

    def define_externals(self, units: Sequence[c.TranslationUnit]) -> None:
        """Reserves the names of external definitions. Raises `CompileError` for two definitions of one
        name."""
        for unit in units:
            defined: list[c.FunctionDecl | c.VarDecl] = [
                f for f in unit.functions if f.body is not None and not f.is_static
            ]
            defined += [v for v in unit.variables if v.storage is c.Storage.GLOBAL and v.is_defined]
            for decl in defined:
                is_function = isinstance(decl, c.FunctionDecl)
                name = ascii_name(decl.name) if is_function else symbol_name(decl)
                first = self._defined.get(name)
                if first is not None and (first.is_weak or decl.is_weak):
                    loser = first if first.is_weak else decl
                    self.overridden.add(id(loser))
                    self._defined[name] = decl if loser is first else first
                    continue
                if first is not None:
                    raise error(
                        decl.loc,
                        f"'{name}' is defined twice in the program",
                        "make one of them 'static', or declare it 'extern' here",
                        [(first.loc, "the other definition is here")],
                    )
                self._defined[name] = decl
                self._taken.add(name)
            self._aliases |= _aliases(unit)
            for v in unit.variables:
                if v.storage is c.Storage.GLOBAL:
                    self._taken.add(symbol_name(v))
            for f in unit.functions:
                if not f.is_static:
                    self._taken.add(ascii_name(f.name))

    def symbol_of(self, decl: c.VarDecl) -> str:
        """The symbol of a variable that is not AUTO."""
        name = symbol_name(decl)
        if name in self._aliases and name not in self._defined:
            target = self._aliases[name]
            return self.symbol_of(target) if isinstance(target, c.VarDecl) else name
        if decl.storage is c.Storage.GLOBAL:
            if name not in self._defined:
                self._declared.setdefault(name, decl)
            return name
        found = self._variables.get(id(decl))
        if found is None:
            found = self._variables[id(decl)] = self.unique(name)
            self.referenced.append(decl)
        return found

    def function_symbol(self, decl: c.FunctionDecl) -> str:
        """The symbol of a function; its IR type is in `function_types`."""
        if decl.is_static:
            found = self._functions.get(id(decl))
            if found is None:
                found = self._functions[id(decl)] = self.unique(ascii_name(decl.name))
                self.function_types[found] = self._own_type(decl)
            return found
        name = symbol_name(decl)
        target = self._aliases.get(name)
        if isinstance(target, c.FunctionDecl) and name not in self._defined:
            return self.function_symbol(target)
        definition = self._defined.get(name)
        is_ours = isinstance(definition, c.FunctionDecl)
        if name in KNOWN_FUNCTIONS and (is_ours or self._has_other_type(name, decl)):
            if name not in self._renamed:
                self._renamed[name] = self.unique(name)
            name = self._renamed[name]
        if name not in self.function_types:
            if is_ours:
                self.function_types[name] = self._own_type(definition)
            else:
                self._declared[name] = decl
                self.function_types[name] = signature(self.types, decl.type).type
        return name

    def _has_other_type(self, name: str, decl: c.FunctionDecl) -> bool:
        """Whether a function of the C library's name is declared with another type than the library's."""
        library = library_type(name, lambda: VOID) if decl.type.prototyped else None
        if library is None or decl.type.variadic or is_library(decl.loc):
            return False
        return signature(self.types, library).type != signature(self.types, decl.type).type

    def symbol_named(self, name: str) -> str:
        """The symbol of what the program, or else a library, calls `name` outside of its files."""
        return self._renamed.get(name, name)

    def name_of_entry(self, symbol: str) -> StringAttr | None:
        """The name that the function `symbol` gets at the end (`accx.entry`); None if it has it already."""
        return next(
            (StringAttr(n) for n, renamed in self._renamed.items() if renamed == symbol), None
        )

    def _own_type(self, definition: c.FunctionDecl) -> LLVMFunctionType:
        if self.is_by_convention(definition):
            return signature(self.types, definition.type).type
        return self.types.function(definition.type)

    @staticmethod
    def is_by_convention(definition: c.FunctionDecl) -> bool:
        """Whether a function of the program itself takes its arguments by the platform's convention."""
        return definition.type.variadic

    def has_entry(self, definition: c.FunctionDecl) -> bool:
        """Whether others reach a function of the program by an entry (`records_by_value.py`)."""
        return not self.is_by_convention(definition) and has_records(definition.type)

    def entry_symbol(self, decl: c.FunctionDecl) -> str:
        """The symbol whose address is used as that of a function: its entry's, if it needs one."""
        symbol = self.function_symbol(decl)
        definition = self.definition(decl)
        if definition is None or not self.has_entry(definition):
            return symbol
        if symbol not in self.entries:
            self.entries[symbol] = self.unique(f"{symbol}.entry"), definition
        return self.entries[symbol][0]

    def is_external(self, definition: c.FunctionDecl) -> bool:
        """Whether code outside of the program can call this function of the program by name."""
        return not (definition.is_static or definition.is_inline)

    def definition(self, decl: c.FunctionDecl) -> c.FunctionDecl | None:
        """The definition of this function in some file of the program."""
        if decl.body is not None or decl.is_static:
            return decl if decl.body is not None else None
        name = symbol_name(decl)
        found = self._defined.get(name, self._aliases.get(name))
        return found if isinstance(found, c.FunctionDecl) else None

    def is_defined(self, decl: c.FunctionDecl) -> bool:
        """Whether some file of the program defines this function."""
        return self.definition(decl) is not None

    def may_write(self, decl: c.FunctionDecl) -> bool:
        """
        Whether calling `decl` may change variables whose address is not taken: functions of the program do,
        those of the C library do not. OpenMP's functions belong to the program: while one waits, other
        threads write.
        """
        elsewhere = bool(self.mark) and (not is_library(decl.loc) or is_of_openmp(decl.loc))
        return elsewhere or self.is_defined(decl)

    def string(self, data: bytes, alignment: int = 1) -> str:
        """The symbol of a constant with the bytes `data`, of a string literal for example."""
        found = self._strings.get((data, alignment))
        if found is None:
            found = self._strings[data, alignment] = self.unique(f".str.{len(self._strings)}")
            self.add_global(
                llvm.GlobalOp(
                    LLVMArrayType(len(data), i8),
                    found,
                    "private",
                    constant=True,
                    value=text_attr(data),
                    alignment=alignment,
                    unnamed_addr=2,
                )
            )
        return found

    def declare_intrinsic(
        self, name: str, params: Sequence[Attribute], result: Attribute | None
    ) -> None:
        """Declares an LLVM intrinsic, once."""
        if name not in self.function_types:
            t = self.function_types[name] = LLVMFunctionType(params, result)
            self.module.body.block.add_op(llvm.FuncOp(name, t, EXTERNAL))

    def add_global(self, op: llvm.GlobalOp) -> None:
        self.globals[op.sym_name.data] = op
        self.module.body.block.add_op(op)

    def declare_externals(self) -> None:
        """Adds declarations of all used functions and variables that the program does not define."""
        block = self.module.body.block
        first = block.first_op
        for name, decl in self._declared.items():
            if isinstance(decl, c.FunctionDecl):
                linkage = EXTERN_WEAK if decl.is_weak else EXTERNAL
                op: Operation = llvm.FuncOp(name, self.function_types[name], linkage)
                op.arg_attrs = signature(self.types, decl.type).attributes
                if (own := self.name_of_entry(name)) is not None:
                    op.attributes[ENTRY] = own
            else:
                t = self.types.convert(decl.type) if decl.type.is_complete else i8
                op = llvm.GlobalOp(t, name, EXTERN_WEAK if decl.is_weak else EXTERNAL)
                self.globals[name] = op
            op.location = decl.loc.to_attr()
            if first is None:
                block.add_op(op)
            else:
                block.insert_op_before(op, first)


def _aliases(unit: c.TranslationUnit) -> dict[str, c.FunctionDecl | c.VarDecl]:
    """The names of a file that have no definition of their own, and the definitions that they stand for."""
    named = {symbol_name(decl): decl for decl in (*unit.functions, *unit.variables)}
    found: dict[str, c.FunctionDecl | c.VarDecl] = {}
    for name, decl in named.items():
        target = decl
        while target.alias is not None:
            target = named[target.alias]
        if target is not decl:
            found[name] = target
    return found


def text_attr(data: bytes) -> Attribute:
    """The bytes of a string as an attribute that prints as text."""
    try:
        return StringAttr(data.decode("ascii"))
    except UnicodeDecodeError:
        return BytesAttr(data)
