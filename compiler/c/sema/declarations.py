"""
Declarations: linkage, storage, redeclaration, and function definitions (C11 6.2.2, 6.7, 6.9).

Every variable that is not AUTO and every function enters the unit's tree once; a later declaration
of the same name is checked against it and merged into it.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import CompileError, SourceLoc, error
from ...base.library_headers import is_system
from ..asm_syntax import AsmLabel
from ..ast import Compound, FunctionDecl, Initializer, Load, Storage, VarDecl, VarRef
from ..attribute_syntax import Attribute, Attributes, attributes_of
from ..gnu_syntax import IMPLICIT_INT, AlignedTypedef
from ..types import LONG, ArrayType, CType, FunctionType, QualType, RecordType, VoidType
from .constants import integer_value
from .conversions import compatible, rvalue
from .literals import string_literal
from .scopes import Scope, Symbol, TypedefName
from .thread_locals import fill_control, make_thread_local
from .type_names import apply_qualifiers
from .unit import CheckedFunction, Unit

_LAST_PRIORITY = 65535
"""Of constructors without one."""
_THREAD_LOCAL = frozenset(("_Thread_local", "__thread", "thread_local"))


def describe(symbol: Symbol) -> str:
    """What kind of thing a name is, for messages."""
    match symbol:
        case FunctionDecl():
            return "a function"
        case TypedefName():
            return "a type"
        case VarDecl():
            return "a parameter" if symbol.is_param else "a variable"
        case _:
            return "an enumeration constant"


class DeclarationChecker:
    """Checks declarations in the unit's current scope."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        # Variables with linkage by name: block-scope `extern` declarations refer to these.
        self._linked: dict[str, VarDecl | FunctionDecl] = {}

    # Entry points -----------------------------------------------------------------------------

    def external(self, node: Any) -> None:
        """A declaration or function definition at file scope."""
        match node:
            case c_ast.FuncDef():
                self._function_definition(node)
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
            self._function_declaration(node, q.type)
            return []
        if "extern" in node.storage:
            self._block_extern(node, q)
            return []
        decl = self._local_variable(node, q)
        return [decl] if decl.storage is Storage.AUTO else []

    def static_assert(self, node: Any) -> None:
        """`_Static_assert(condition, message)` (C11 6.7.10)."""
        loc = self.unit.loc(node)
        value = integer_value(rvalue(self.unit.expressions.check(node.cond)))
        if value is None:
            raise error(
                loc,
                "the condition of _Static_assert is not a constant",
                "use constants and sizeof only",
            )
        if value == 0:
            text = ""
            if node.message is not None:
                data, _ = string_literal(node.message.value, loc)
                text = ": " + data[:-1].decode("utf-8", "replace")
            raise error(loc, f"static assertion failed{text}")

    def check_new(self, name: str, loc: SourceLoc) -> None:
        """Raise if `name` is already declared in the current scope."""
        old = self.unit.scope.names.get(name)
        if old is not None:
            raise error(
                loc,
                f"'{name}' is already declared as {describe(old)} here",
                "rename one of them",
                [(old.loc, "first declaration")],
            )

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
            self._function_declaration(node, q.type)
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
                fill_control(self.unit, decl)

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
            self.unit.types.declare_record(t.name, isinstance(t, c_ast.Union), self.unit.loc(t))
        else:
            self.unit.types.build(t)

    def _global(self, node: Any, q: QualType, loc: SourceLoc) -> VarDecl:
        name: str = node.name
        if isinstance(q.type, VoidType):
            raise error(loc, f"variable '{name}' has type void", "use a type with values")
        is_extern = "extern" in node.storage
        storage = Storage.STATIC_GLOBAL if "static" in node.storage else Storage.GLOBAL
        old = self.unit.file_scope.names.get(name) or self._linked.get(name)
        if old is None:
            symbol = self._label(node) or name
            decl = VarDecl(name, q, loc, storage, symbol=symbol, is_defined=not is_extern)
            decl.alignment = self.alignment(node)
            self._linkage(decl, node)
            if not _THREAD_LOCAL.isdisjoint(node.storage):
                make_thread_local(self.unit, decl)
            self._link(decl)
            self.unit.file_scope.declare(name, decl)
            return decl
        if not isinstance(old, VarDecl):
            raise error(
                loc,
                f"'{name}' is already {describe(old)}",
                "rename one of them",
                [(old.loc, "declared here")],
            )
        if not is_extern and storage is not old.storage:
            raise error(
                loc,
                f"'{name}' is both static and not static",
                "use 'static' on every declaration, or on none",
                [(old.loc, "first declaration")],
            )  # fmt: skip
        self._merge(old, q, loc)
        self.unit.file_scope.declare(name, old)
        if not is_extern and not old.is_defined:
            old.is_defined, old.loc = True, loc
            if old.control is not None:
                old.control.is_defined = True
        self._linkage(old, node)
        old.alignment = self.alignment(node) or old.alignment
        return old

    def _linkage(self, decl: VarDecl | FunctionDecl, node: Any) -> None:
        """The attributes of a declaration that tell the linker something (GNU C)."""
        decl.is_weak |= bool(attributes_of(node.align, "weak"))
        for attribute in attributes_of(node.align, "alias"):
            data, _ = string_literal(attribute.args[0].value, self.unit.loc(attribute))
            decl.alias = data[:-1].decode()
        if isinstance(decl, FunctionDecl):
            decl.is_noreturn |= _is_noreturn(node)
            decl.constructor = self._priority(node, "constructor", decl.constructor)
            decl.destructor = self._priority(node, "destructor", decl.destructor)

    def _priority(self, node: Any, name: str, known: int | None) -> int | None:
        """The priority in `constructor(101)`; the lowest where none is given."""
        for attribute in attributes_of(node.align, name):
            known = _LAST_PRIORITY
            if attribute.args:
                value = integer_value(rvalue(self.unit.expressions.check(attribute.args[0])))
                known = _LAST_PRIORITY if value is None else value
        return known

    def _merge(self, old: VarDecl, q: QualType, loc: SourceLoc) -> None:
        if not compatible(old.type, q.type) or old.qual.const != q.const:
            raise error(
                loc,
                f"'{old.name}' is declared as '{q}' here and as '{old.qual}' before",
                "make the declarations agree",
                [(old.loc, "earlier declaration")],
            )
        if not old.type.is_complete:
            old.qual = q

    def _link(self, decl: VarDecl) -> None:
        self._linked[decl.name] = decl
        self.unit.tree.variables.append(decl)

    def finish(self) -> None:
        """Check what only the end of the file tells: tentative definitions (C11 6.9.2), and weak names."""
        for name, target in self.unit.tree.weak.items():
            linked = self._linked.get(name)
            if linked is not None:
                linked.is_weak, linked.alias = True, target or linked.alias
        for decl in list(self._linked.values()):
            if isinstance(decl, VarDecl) and decl.control is not None and decl.is_defined:
                fill_control(self.unit, decl)
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
        self.check_new(node.name, loc)
        if isinstance(q.type, ArrayType) and q.type.is_vla:
            q = QualType(self._freeze(q.type, node.name, loc, hidden))
        alignment = self._typedef_alignment(node)
        self.unit.scope.declare(node.name, TypedefName(node.name, q, loc, alignment))
        return hidden

    def _typedef_alignment(self, node: Any) -> int | None:
        """The alignment that a typedef gives to variables, its own or that of the type it renames."""
        own = self.strictest(node.align) if isinstance(node, AlignedTypedef) else None
        return max(filter(None, (own, self.named_alignment(node.type))), default=None)

    def named_alignment(self, type_: Any) -> int | None:
        """The alignment of the typedef that a declarator's elements are of."""
        while isinstance(type_, c_ast.ArrayDecl | c_ast.TypeDecl):
            type_ = type_.type
        if not isinstance(type_, c_ast.IdentifierType) or len(type_.names) != 1:
            return None
        symbol = self.unit.scope.find(type_.names[0])
        return symbol.alignment if isinstance(symbol, TypedefName) else None

    def _freeze(self, t: ArrayType, name: str, loc: SourceLoc, hidden: list[VarDecl]) -> ArrayType:
        """
        A variable-length typedef fixes its lengths where it stands: keep them in hidden variables.
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
        loc = self.unit.loc(node)
        if node.init is not None:
            raise error(
                loc,
                "an 'extern' declaration in a function cannot initialise",
                "remove 'extern' or the value",
            )
        self.check_new(node.name, loc)
        old = self._linked.get(node.name)
        if old is None:
            old = VarDecl(node.name, q, loc, Storage.GLOBAL, symbol=node.name, is_defined=False)
            self._link(old)
            self._linkage(old, node)
            if not _THREAD_LOCAL.isdisjoint(node.storage):
                make_thread_local(self.unit, old)
        elif isinstance(old, VarDecl):
            self._merge(old, q, loc)
        else:
            raise error(
                loc,
                f"'{node.name}' is already a function",
                "rename one of them",
                [(old.loc, "declared here")],
            )
        self.unit.scope.declare(node.name, old)

    def _local_variable(self, node: Any, q: QualType) -> VarDecl:
        loc = self.unit.loc(node)
        name: str = node.name
        self.check_new(name, loc)
        if isinstance(q.type, VoidType):
            raise error(loc, f"variable '{name}' has type void", "use a type with values")
        if self._label(node) is not None:
            raise error(
                loc,
                f"'{name}' is bound to a register",
                "name the register in the constraints of the asm statement",
            )
        decl = VarDecl(name, q, loc, alignment=self.alignment(node))
        decl.cleanup = self._cleanup(node)
        is_thread_local = not _THREAD_LOCAL.isdisjoint(node.storage)
        is_static = "static" in node.storage or is_thread_local
        if is_static:
            function = self.unit.function
            assert function is not None
            decl.storage = Storage.STATIC_LOCAL
            decl.symbol = f"{function.decl.name}.{name}.{self.unit.next_number()}"
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
            fill_control(self.unit, decl)
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

    def alignment(self, node: Any) -> int | None:
        """The strictest `_Alignas` of a declaration in bytes (C11 6.7.5), or of its type's name (GNU C)."""
        given = self.strictest(node.align or ()), self.named_alignment(node.type)
        return max(filter(None, given), default=None)

    def strictest(self, items: Sequence[Any]) -> int | None:
        """The strictest of several `_Alignas` in bytes."""
        best = 0
        for item in items:
            if isinstance(item, AsmLabel):
                continue
            if isinstance(item, Attributes):
                best = max([best, *(self._aligned(a) for a in attributes_of([item], "aligned"))])
                continue
            loc = self.unit.loc(item)
            if isinstance(item.alignment, c_ast.Typename):
                value: int | None = self.unit.types.build(item.alignment).type.align
            else:
                value = integer_value(rvalue(self.unit.expressions.check(item.alignment)))
            if value is None or value < 0 or value & (value - 1):
                raise error(
                    loc, "_Alignas needs a constant power of two", "write e.g. _Alignas(64)"
                )
            best = max(best, value)
        return best or None

    def _aligned(self, attribute: Attribute) -> int:
        """The bytes of `aligned(n)`; as many as any type has for `aligned`."""
        if not attribute.args:
            return 16
        argument, loc = attribute.args[0], self.unit.loc(attribute)
        if isinstance(argument, c_ast.Typename):
            return self.unit.types.build(argument).type.align
        value = integer_value(rvalue(self.unit.expressions.check(argument)))
        if value is None or value <= 0 or value & (value - 1):
            raise error(loc, "'aligned' needs a constant power of two", "write e.g. aligned(64)")
        return value

    def _label(self, node: Any) -> str | None:
        """The assembler label of a declaration (GNU C): what the linker calls it."""
        label = next((item for item in node.align or () if isinstance(item, AsmLabel)), None)
        if label is None:
            return None
        data, _ = string_literal(label.name.value, self.unit.loc(label))
        return data[:-1].decode()

    # Functions --------------------------------------------------------------------------------

    def _function_declaration(self, node: Any, t: FunctionType) -> FunctionDecl:
        loc = self.unit.loc(node)
        if node.init is not None:
            raise error(
                loc,
                f"function '{node.name}' is initialised like a variable",
                "write '{ … }' for its body",
            )
        decl = self._declare_function(node, t, loc)
        if not decl.params and isinstance(node.type, c_ast.FuncDecl):
            with self.unit.nested_scope():
                decl.params = self.unit.types.function(node.type, t.result)[1]
        self.unit.directives.attach_routines(decl)
        return decl

    def _declare_function(self, node: Any, t: FunctionType, loc: SourceLoc) -> FunctionDecl:
        name: str = node.name
        old = self._linked.get(name) or self.unit.file_scope.names.get(name)
        here = self.unit.scope.names.get(name)
        if old is None:
            if here is not None:
                self.check_new(name, loc)
            is_static = "static" in node.storage
            is_inline = "inline" in (node.funcspec or ())
            old = FunctionDecl(name, t, loc, is_static=is_static, is_inline=is_inline)
            old.symbol = self._label(node)
            self._linkage(old, node)
            self._linked[name] = old
            self.unit.tree.functions.append(old)
        elif not isinstance(old, FunctionDecl):
            raise error(
                loc,
                f"'{name}' is already {describe(old)}",
                "rename one of them",
                [(old.loc, "declared here")],
            )
        else:
            self._merge_function(old, node, t, loc)
        self.unit.scope.declare(name, old)
        return old

    def _merge_function(
        self, old: FunctionDecl, node: Any, t: FunctionType, loc: SourceLoc
    ) -> None:
        known, old.is_implicit = not old.is_implicit, False
        if not known and isinstance(t.result, VoidType):
            old.type = t  # earlier calls keep the type they believed in; that is warned about there
        elif not compatible(old.type, t):
            raise error(
                loc,
                f"'{old.name}' is declared as '{t}' here and as '{old.type}' before",
                "make the declarations agree",
                [(old.loc, "earlier declaration")],
            )
        if "static" in node.storage and not old.is_static:
            raise error(
                loc, f"'{old.name}' is static here but not before", "write 'static' on its first declaration",
                [(old.loc, "earlier declaration")],
            )  # fmt: skip
        old.symbol = self._label(node) or old.symbol
        self._linkage(old, node)
        old.is_inline = old.is_inline or "inline" in (node.funcspec or ())
        if t.prototyped or (t.params and not old.type.prototyped):
            old.type = t

    def _function_definition(self, node: Any) -> None:
        loc = self.unit.loc(node.decl)
        self._check_storage(node.decl)
        node, old_style = self._with_types(node)
        decl_node = node.decl
        if not isinstance(decl_node.type, c_ast.FuncDecl):
            raise error(
                loc,
                f"'{decl_node.name}' is not declared as a function",
                "write its parameters in parentheses",
            )
        result = self.unit.types.build(decl_node.type.type).type
        scope = Scope(self.unit.scope)
        with self.unit.nested_scope(scope):
            t, params = self.unit.types.function(decl_node.type, result)
        if old_style:
            t = replace(t, prototyped=False)
        decl = self._declare_function(decl_node, t, loc)
        if decl.body is not None:
            raise error(
                loc,
                f"function '{decl.name}' is defined twice",
                "remove one",
                [(decl.loc, "first definition")],
            )
        if decl.symbol is not None and not decl.is_static:
            raise error(
                loc,
                f"'{decl.name}' has an assembler name, '{decl.symbol}', and is defined here",
                "define the function with that name",
            )
        self._check_definition(decl, t, params)
        decl.loc, decl.params = loc, params
        if decl.is_inline and "extern" not in decl_node.storage:
            decl.is_static = True  # each file that includes its header has its own (C11 6.7.4p7)
        self.unit.directives.attach_routines(decl)
        self.unit.function = CheckedFunction(decl)
        # Lets a recursive definition be found, and a second one be refused.
        decl.body = Compound(loc=self.unit.loc(node.body), body=[])
        self.unit.recovery.active = not is_system(loc)
        try:
            with self.unit.nested_scope(scope):
                decl.body = self.unit.statements.function_body(node.body)
        except CompileError:
            # Inline functions of the host's headers may use what only its compiler has: they stay
            # undefined, which is an error where they are used.
            if self.unit.recovery.active:
                raise
            decl.body = None
        self.unit.recovery.active = True
        self.unit.function = None

    def _with_types(self, node: Any) -> tuple[Any, bool]:
        """
        The definition with the types of old-style parameters (`int f(a) double a; { … }`, C11 6.9.1p6) where
        those of a prototype stand, int for those without one; and whether there are any.
        """
        function = node.decl.type
        if not isinstance(function, c_ast.FuncDecl) or function.args is None:
            return node, False
        types = {d.name: d for d in node.param_decls or () if isinstance(d, c_ast.Decl)}
        names = function.args.params
        unknown = set(types) - {name.name for name in names if isinstance(name, c_ast.ID)}
        for stray in sorted(unknown):
            raise error(
                self.unit.loc(types[stray]),
                f"'{stray}' is declared among the parameters of '{node.decl.name}', but is none",
                "name it inside the parentheses, or move the declaration into the body",
            )
        if not any(isinstance(name, c_ast.ID) for name in names):
            return node, False
        own = _own_definition(node)
        own.decl.type.args.params = [
            self._promoted(own, types.get(name.name) or _declaration(name, IMPLICIT_INT))
            if isinstance(name, c_ast.ID)
            else name
            for name in names
        ]
        return own, True

    def _promoted(self, node: Any, declared: Any) -> Any:
        """
        An old-style parameter as it is passed: a `float` as a double (C11 6.5.2.2p6), which the body
        begins with converting.
        """
        words = getattr(declared.type.type, "names", None)
        if words != ["float"] or not isinstance(declared.type, c_ast.TypeDecl):
            return declared
        passed = _declaration(c_ast.ID(f"{declared.name}.passed", declared.coord), "double")
        declared = copy(declared)
        declared.init = c_ast.ID(passed.name, declared.coord)
        node.body.block_items = [declared, *(node.body.block_items or ())]
        return passed

    def _check_definition(self, decl: FunctionDecl, t: FunctionType, params: list[VarDecl]) -> None:
        if not t.result.is_complete and not isinstance(t.result, VoidType):
            raise error(
                decl.loc,
                f"'{decl.name}' returns incomplete type '{t.result}'",
                "define the type first",
            )
        for p in params:
            if not p.type.is_complete:
                raise error(
                    p.loc,
                    f"parameter '{p.name}' has incomplete type '{p.type}'",
                    "define the type first",
                )


def _own_definition(node: Any) -> Any:
    """A definition whose parameters and body may be replaced: trees that are parsed stay as they are."""
    own = copy(node)
    own.decl, own.body = copy(node.decl), copy(node.body)
    own.decl.type = copy(node.decl.type)
    own.decl.type.args = copy(node.decl.type.args)
    return own


def _declaration(name: Any, word: str) -> Any:
    """The declaration of `name` (an identifier node) with a type of one word."""
    t = c_ast.TypeDecl(name.name, [], None, c_ast.IdentifierType([word], name.coord), name.coord)
    return c_ast.Decl(name.name, [], [], [], [], t, None, None, name.coord)


def _is_noreturn(node: Any) -> bool:
    """Whether a declaration says that its function does not return, in one of three ways."""
    said = attributes_of(node.align, "noreturn") or "_Noreturn" in (node.funcspec or ())
    standard = (each for group in node.attributes or () for each in group.attributes)
    return bool(said) or any(each.name.strip("_").lower() == "noreturn" for each in standard)


def _is_variable(t: CType) -> bool:
    return isinstance(t, ArrayType) and t.is_vla
