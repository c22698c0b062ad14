"""
Declarations of variables and types: storage, redeclaration, initial values (C11 6.2.2, 6.7, 6.9.2).
Functions are in `function_declarations.py`, linkage in `linkage.py`.

Every variable that is not AUTO and every function enters the unit's tree once; a later declaration
of the same name is checked against it and merged into it.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc, error
from ..ast import FunctionDecl, Initializer, Load, Storage, VarDecl, VarRef
from ..attribute_syntax import attributes_of
from ..gnu_syntax import AlignedTypedef
from ..types import LONG, ArrayType, CType, FunctionType, QualType, RecordType, VoidType
from .aliases import define_aliases
from .conversions import compatible
from .function_declarations import FunctionDeclarations
from .linkage import conflict
from .literals import plain_text
from .scopes import TypedefName
from .thread_locals import fill_control, make_thread_local
from .type_names import apply_qualifiers
from .unit import Unit

_THREAD_LOCAL = frozenset(("_Thread_local", "__thread", "thread_local"))


class DeclarationChecker:
    """Checks declarations in the unit's current scope."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.linkage = unit.linkage
        self.alignments = unit.alignments
        self.functions = FunctionDeclarations(unit)

    # Entry points -----------------------------------------------------------------------------

    def external(self, node: Any) -> None:
        """A declaration or function definition at file scope."""
        match node:
            case c_ast.FuncDef():
                self._check_storage(node.decl)
                self.functions.definition(node)
            case c_ast.Typedef():
                self._typedef(node)
            case c_ast.Decl():
                self._check_storage(node)
                self._external_decl(node)
            case c_ast.StaticAssert():
                self.static_assert(node)
            case c_ast.AttributeDeclaration():
                pass
            case _:
                raise error(
                    self.unit.loc(node),
                    "this is not allowed outside a function",
                    "move it into a function",
                )

    def local(self, node: Any) -> list[VarDecl]:
        """A declaration in a block; the AUTO variables it makes, in order."""
        if isinstance(node, c_ast.Typedef):
            return self._typedef(node)
        if isinstance(node, c_ast.StaticAssert):
            self.static_assert(node)
            return []
        self._check_storage(node)
        if node.name is None:
            self._tag_only(node)
            return []
        q = self._type(node)
        if isinstance(q.type, FunctionType):
            self.functions.declaration(node, q.type)
            return []
        if "extern" in node.storage:
            self._block_extern(node, q)
            return []
        decl = self._local_variable(node, q)
        return [decl] if decl.storage is Storage.AUTO else []

    def static_assert(self, node: Any) -> None:
        """`_Static_assert(condition, message)` (C11 6.7.10)."""
        loc = self.unit.loc(node)
        value = self.unit.expressions.integer(node.cond)
        if value is None:
            raise error(
                loc,
                "the condition of _Static_assert is not a constant",
                "use constants and sizeof only",
            )
        if value == 0:
            text = ""
            if node.message is not None:
                text = ": " + plain_text(node.message.value, loc)
            raise error(loc, f"static assertion failed{text}")

    # File scope -------------------------------------------------------------------------------

    def _check_storage(self, node: Any) -> None:
        if len(set(node.storage or ()) - _THREAD_LOCAL - {"constexpr"}) > 1:
            raise error(
                self.unit.loc(node),
                f"'{' '.join(node.storage)}' together",
                "keep one storage class",
            )

    def _external_decl(self, node: Any) -> None:
        if node.name is None:
            self._tag_only(node)
            return
        loc = self.unit.loc(node)
        if "auto" in node.storage or "register" in node.storage:
            raise error(loc, f"'{node.storage[0]}' outside a function", "remove it")
        q = self._type(node)
        if isinstance(q.type, FunctionType):
            self.functions.declaration(node, q.type)
            return
        decl = self._global(node, q, loc)
        if node.init is not None:
            if decl.init is not None:
                raise error(
                    loc,
                    f"'{node.name}' is initialised twice",
                    "remove one",
                    [(decl.loc, "first here")],
                )
            decl.loc = loc
            decl.is_defined = True
            self._initialise(decl, node.init, is_static=True)
            if decl.control is not None:
                fill_control(decl)

    def _type(self, node: Any) -> QualType:
        """The declared type; that of the initial value for `__auto_type` (GNU C) and `auto` (C23 6.7.9)."""
        innermost = node.type
        while isinstance(innermost, c_ast.PtrDecl | c_ast.ArrayDecl):
            innermost = innermost.type
        specifier = getattr(innermost, "type", None)
        if not isinstance(specifier, c_ast.InferredType):
            q = self.unit.types.declared(node)
        else:
            loc = self.unit.loc(node)
            if innermost is not node.type or node.init is None:
                raise error(
                    loc,
                    f"the type of '{node.name}' cannot be inferred",
                    "give it a value, or a type",
                )
            value = self.unit.expressions.value(node.init)
            q = apply_qualifiers(QualType(value.type), node.type.quals or (), loc)
        return replace(q, const=True) if "constexpr" in node.storage else q

    def _tag_only(self, node: Any) -> None:
        """`struct S;`, `struct S {…};`, `enum E {…};` (C11 6.7.2.3)."""
        t = node.type
        if isinstance(t, c_ast.Struct | c_ast.Union) and t.decls is None and t.name is not None:
            self.unit.types.records.declare(t.name, isinstance(t, c_ast.Union), self.unit.loc(t))
        else:
            self.unit.types.build(t)

    def _global(self, node: Any, q: QualType, loc: SourceLoc) -> VarDecl:
        name: str = node.name
        if isinstance(q.type, VoidType):
            raise error(loc, f"variable '{name}' has type void", "use a type with values")
        is_extern = "extern" in node.storage
        storage = Storage.STATIC_GLOBAL if "static" in node.storage else Storage.GLOBAL
        old = self.unit.file_scope.names.get(name) or self.linkage.linked.get(name)
        if old is None:
            symbol = self.linkage.label(node) or name
            decl = VarDecl(name, q, loc, storage, symbol=symbol, is_defined=not is_extern)
            decl.alignment = self.alignments.of_declaration(node)
            self.linkage.add_attributes(decl, node)
            if not _THREAD_LOCAL.isdisjoint(node.storage):
                make_thread_local(self.unit, decl)
            self.linkage.link(decl)
            self.unit.file_scope.declare(name, decl)
            return decl
        if not isinstance(old, VarDecl):
            raise conflict(name, old, loc)
        if not is_extern and storage is not old.storage:
            raise error(
                loc,
                f"'{name}' is both static and not static",
                "use 'static' on every declaration, or on none",
                [(old.loc, "first declaration")],
            )  # fmt: skip
        self.linkage.merge(old, q, loc)
        self.unit.file_scope.declare(name, old)
        if not is_extern and not old.is_defined:
            old.is_defined, old.loc = True, loc
            if old.control is not None:
                old.control.is_defined = True
        self.linkage.add_attributes(old, node)
        old.alignment = self.alignments.of_declaration(node) or old.alignment
        return old

    def finish(self) -> None:
        """Check what depends on the whole file: tentative definitions (C11 6.9.2), weak names and aliases."""
        for name, target in self.unit.tree.weak.items():
            linked = self.linkage.linked.get(name)
            if linked is not None:
                linked.is_weak, linked.alias = True, target or linked.alias
        define_aliases(self.linkage.linked.values())
        for decl in list(self.linkage.linked.values()):
            if isinstance(decl, VarDecl) and decl.control is not None and decl.is_defined:
                fill_control(decl)
        for decl in self.unit.tree.variables:
            if not decl.is_defined or decl.type.is_complete:
                continue
            if isinstance(decl.type, ArrayType):
                self.unit.sink.warn(
                    decl.loc,
                    f"array '{decl.name}' has no length: one element assumed",
                    "write the length",
                )
                decl.qual = QualType(
                    ArrayType(decl.type.element, 1), decl.qual.const, decl.qual.volatile
                )
            else:
                raise error(
                    decl.loc,
                    f"'{decl.name}' has incomplete type '{decl.type}'",
                    "define the type, or declare it extern",
                )

    # Typedefs ---------------------------------------------------------------------------------

    def _typedef(self, node: Any) -> list[VarDecl]:
        loc = self.unit.loc(node)
        q = self.unit.types.declared(node)
        if isinstance(q.type, RecordType) and isinstance(node, AlignedTypedef):
            transparent = bool(attributes_of(node.align, "transparent_union"))
            q.type.is_transparent |= transparent and q.type.is_union
        old = self.unit.scope.names.get(node.name)
        hidden: list[VarDecl] = []
        if isinstance(old, TypedefName) and compatible(old.qual.type, q.type):
            return hidden
        self.linkage.check_new(node.name, loc)
        if isinstance(q.type, ArrayType) and q.type.is_vla:
            q = QualType(self._freeze(q.type, node.name, loc, hidden))
        alignment = self.alignments.of_typedef(node)
        self.unit.scope.declare(node.name, TypedefName(node.name, q, loc, alignment))
        return hidden

    def _freeze(self, t: ArrayType, name: str, loc: SourceLoc, hidden: list[VarDecl]) -> ArrayType:
        """
        Keep the lengths of a variable-length typedef, which are fixed at its declaration, in hidden
        variables.
        """
        element = t.element
        if isinstance(element.type, ArrayType):
            element = QualType(self._freeze(element.type, name, loc, hidden))
        if t.length is None or isinstance(t.length, int):
            return ArrayType(element, t.length)
        decl = VarDecl(f"{name}.length", QualType(LONG, const=True), loc)
        decl.init = Initializer(LONG, [(0, t.length)], False, loc)
        hidden.append(decl)
        return ArrayType(
            element, Load(type=LONG, loc=loc, lvalue=VarRef(type=LONG, loc=loc, decl=decl))
        )

    # Blocks -----------------------------------------------------------------------------------

    def _block_extern(self, node: Any, q: QualType) -> None:
        self.linkage.note_link()
        loc = self.unit.loc(node)
        if node.init is not None:
            raise error(
                loc,
                "an 'extern' declaration in a function cannot initialise",
                "remove 'extern' or the value",
            )
        self.linkage.check_new(node.name, loc)
        old = self.linkage.linked.get(node.name)
        if old is None:
            old = VarDecl(node.name, q, loc, Storage.GLOBAL, symbol=node.name, is_defined=False)
            self.linkage.link(old)
            self.linkage.add_attributes(old, node)
            if not _THREAD_LOCAL.isdisjoint(node.storage):
                make_thread_local(self.unit, old)
        elif isinstance(old, VarDecl):
            self.linkage.merge(old, q, loc)
        else:
            raise conflict(node.name, old, loc)
        self.unit.scope.declare(node.name, old)

    def _local_variable(self, node: Any, q: QualType) -> VarDecl:
        loc = self.unit.loc(node)
        name: str = node.name
        self.linkage.check_new(name, loc)
        if isinstance(q.type, VoidType):
            raise error(loc, f"variable '{name}' has type void", "use a type with values")
        if self.linkage.label(node) is not None:
            raise error(
                loc,
                f"'{name}' is bound to a register, which is not supported",
                "name the register in the constraints of the asm statement",
            )
        decl = VarDecl(name, q, loc, alignment=self.alignments.of_declaration(node))
        decl.cleanup = self._cleanup(node)
        is_thread_local = not _THREAD_LOCAL.isdisjoint(node.storage)
        is_static = "static" in node.storage or is_thread_local
        if is_static:
            function = self.unit.function
            assert function is not None
            decl.storage = Storage.STATIC_LOCAL
            decl.symbol = self.unit.numbered(f"{function.decl.name}.{name}")
            self.unit.tree.variables.append(decl)
        if is_thread_local:
            make_thread_local(self.unit, decl)
        if is_static and _is_variable(q.type):
            raise error(
                loc, f"static '{name}' has variable length", "use a constant length, or malloc"
            )
        self.unit.scope.declare(name, decl)
        if node.init is not None:
            self._initialise(decl, node.init, is_static=is_static)
        if is_thread_local:
            fill_control(decl)
        if not decl.type.is_complete:
            remedy = (
                "write its length"
                if isinstance(decl.type, ArrayType)
                else "define the type before this line"
            )
            raise error(loc, f"'{name}' has incomplete type '{decl.type}'", remedy)
        return decl

    def _cleanup(self, node: Any) -> FunctionDecl | None:
        """The function of `__attribute__((cleanup(f)))`."""
        for attribute in attributes_of(node.align, "cleanup"):
            name = attribute.args[0].name if attribute.args else ""
            found = self.unit.scope.find(name)
            if not isinstance(found, FunctionDecl):
                loc = self.unit.loc(attribute)
                raise error(
                    loc, f"cleanup({name}) names no function", "declare the function before"
                )
            return found
        return None

    def _initialise(self, decl: VarDecl, init: Any, *, is_static: bool) -> None:
        if isinstance(decl.type, ArrayType) and decl.type.is_vla:
            raise error(
                self.unit.loc(init),
                f"variable-length array '{decl.name}' cannot have an initialiser",
                "assign in a loop",
            )
        initialiser = self.unit.initialisers.check(
            decl.type, init, f"initialising '{decl.name}'", is_static
        )
        decl.init = initialiser
        if initialiser.type is not decl.type:
            decl.qual = QualType(
                initialiser.type, decl.qual.const, decl.qual.volatile, decl.qual.restrict
            )


def _is_variable(t: CType) -> bool:
    return isinstance(t, ArrayType) and t.is_vla
