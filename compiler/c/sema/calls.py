"""
Calls and built-ins (C11 6.5.2.2, 7.16, 7.19).

Headers reach the built-ins through macros: `va_start` is `__builtin_va_start`, `INFINITY` is
`__builtin_inff()`. A built-in that is only another spelling of a library function
(`__builtin_memcpy`) is a call of that function.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc, error
from ...base.machine import target_machine
from ..ast import (
    AddressOf,
    Call,
    ComplexOp,
    Decay,
    Deref,
    Expr,
    FloatConst,
    FunctionDecl,
    FunctionRef,
    IntConst,
    Member,
    PtrAdd,
    VaArg,
    VaOp,
)
from ..builtins import BUILTIN_TYPES
from ..known_headers import header_of
from ..library_builtins import library_type
from ..types import (
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LDOUBLE,
    LONG,
    SIZE_T,
    UINT,
    VOID,
    ArrayType,
    ComplexType,
    CType,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    QualType,
    RecordMember,
    RecordType,
    VoidType,
    pointer_to,
)
from . import complex_numbers
from .atomic_calls import AtomicChecker
from .builtin_calls import REFUSED, BuiltinChecker
from .casts import cast, promote_argument, promoted_type
from .constants import constant_value, integer_value
from .conversions import convert_assigned, decay, is_null_constant
from .implicit import declare_implicitly
from .members import member_path
from .scopes import TypedefName
from .temporaries import Temporary
from .unit import Unit

VA_LIST_TAG = "__va_list_tag"

_FLOAT_CONSTANTS: dict[str, tuple[float, FloatType]] = {
    f"__builtin_{name}{suffix}": (value, t)
    for name, value in (
        ("huge_val", math.inf),
        ("inf", math.inf),
        ("nan", math.nan),
        ("nans", math.nan),
    )
    for suffix, t in (("", DOUBLE), ("f", FLOAT), ("l", LDOUBLE), ("f16", HALF))
}

_COMPARISONS = {
    "__builtin_isgreater": ">",
    "__builtin_isgreaterequal": ">=",
    "__builtin_isless": "<",
    "__builtin_islessequal": "<=",
}


_SELECTS_DEVICE = frozenset(("acc_set_device_type", "acc_set_device_num"))
"""Routines whose last argument may make the host the current device (OpenACC 3.4, 3.2.2)."""
_HOST = 2
"""`acc_device_host`."""


class CallChecker:
    """Checks `f(…)`, where `f` may be a built-in."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._more = BuiltinChecker(unit)
        self._atomics = AtomicChecker(unit)
        self._library: dict[str, FunctionDecl] = {}
        self._builtins: dict[str, Callable[[Any, list[Any]], Expr]] = {
            "__builtin_va_start": self._va_start,
            "__builtin_va_end": self._va_end,
            "__builtin_va_copy": self._va_copy,
            "__builtin_va_arg": self._va_arg,
            "offsetof": self._offsetof,
            "__builtin_expect": self._expect,
            "__builtin_constant_p": self._constant_p,
            "__builtin_complex": self._complex,
            "__accopt_atomic_step": self._atomics.accopt_atomic_step,
        }

    def check(self, node: Any) -> Expr:
        """A call expression."""
        loc = self.unit.loc(node)
        arguments: list[Any] = list(node.args.exprs) if node.args is not None else []
        if isinstance(node.name, c_ast.ID):
            name: str = node.name.name
            symbol = self.unit.scope.find(name)
            if symbol is None:
                return self._unknown(name, node, arguments, loc)
        callee = self.unit.expressions.value(node.name)
        return self._call(callee, arguments, loc)

    def _unknown(self, name: str, node: Any, arguments: list[Any], loc: SourceLoc) -> Expr:
        """A call of a name that is not declared: a built-in or an error."""
        builtin = self._builtins.get(name)
        if builtin is not None:
            return builtin(node, arguments)
        if name in _COMPARISONS:
            self._more.check_arity(node, arguments, 2)
            left, right = arguments
            comparison = c_ast.BinaryOp(_COMPARISONS[name], left, right, node.coord)
            return self.unit.expressions.check(comparison)
        if name in _FLOAT_CONSTANTS:
            value, t = _FLOAT_CONSTANTS[name]
            return FloatConst(type=t, loc=loc, value=value)
        if name == "alloca":  # GNU C declares it without a header
            name = "__builtin_alloca"
        if name in BUILTIN_TYPES:
            return self._call_of(FunctionDecl(name, BUILTIN_TYPES[name], loc), arguments, loc)
        if name.startswith(("__sync_", "__atomic_")):
            made = self._atomics.check(name, node, arguments)
            if made is not None:
                return made
        if name.startswith("__builtin_"):
            return self._builtin(name.removeprefix("__builtin_"), node, arguments, loc)
        function = declare_implicitly(self.unit, name, node, loc)
        if function is not None:
            return self._call_of(function, arguments, loc)
        raise self.unit.expressions.undeclared(name, loc, "function")

    def _builtin(self, name: str, node: Any, arguments: list[Any], loc: SourceLoc) -> Expr:
        """A call of `__builtin_NAME` that is not in the tables: resolved here, or of a library function."""
        handler = self._more.find(name)
        if handler is not None:
            return handler(node, arguments)
        function = self.unit.file_scope.find(name)
        if not isinstance(function, FunctionDecl):
            function = self._library_function(name, loc)
        if function is not None:
            return self._call_of(function, arguments, loc)
        header = header_of(name)
        remedy = REFUSED.get(name) or (
            f"add '#include <{header}>' and call '{name}'"
            if header
            else f"use a library function instead of '__builtin_{name}'"
        )
        raise error(loc, f"built-in '__builtin_{name}' is not supported", remedy)

    def _library_function(self, name: str, loc: SourceLoc) -> FunctionDecl | None:
        """The declaration of a library function that GNU C knows without a header."""
        t = library_type(name, lambda: pointer_to(self._va_list_record()))
        if t is None:
            return None
        if name not in self._library:
            self._library[name] = FunctionDecl(name, t, loc)
        return self._library[name]

    def _va_list_record(self) -> CType:
        found = self.unit.file_scope.find("__builtin_va_list")
        assert isinstance(found, TypedefName) and isinstance(found.qual.type, ArrayType)
        return found.qual.type.element.type

    def _call_of(self, decl: FunctionDecl, arguments: list[Any], loc: SourceLoc) -> Expr:
        return self._call(decay(FunctionRef(type=decl.type, loc=loc, decl=decl)), arguments, loc)

    def _call(self, callee: Expr, arguments: list[Any], loc: SourceLoc) -> Expr:
        t = callee.type.pointee.type if isinstance(callee.type, PointerType) else callee.type
        if not isinstance(t, FunctionType):
            raise error(
                loc, f"'{callee.type}' is not a function and cannot be called", "remove the '(…)'"
            )
        decl: FunctionDecl | None = None
        if isinstance(callee, Decay) and isinstance(callee.operand, FunctionRef):
            callee = callee.operand
            decl = callee.decl
        name = f"'{decl.name}'" if decl is not None else "the function"
        self._check_count(t, len(arguments), name, decl, loc)
        if not t.result.is_complete and not isinstance(t.result, VoidType):
            raise error(
                loc, f"{name} returns incomplete type '{t.result}'", "include its definition"
            )
        values: list[Expr] = []
        for i, argument in enumerate(arguments):
            value = self.unit.expressions.value(argument)
            if i < len(t.params):
                what = f"argument {i + 1} of {name}"
                value = self._unchecked(value, t, i, what)
                value = convert_assigned(value, t.params[i], what, self.unit.sink)
            else:
                if isinstance(value.type, VoidType):
                    raise error(
                        value.loc,
                        f"argument {i + 1} of {name} has no value",
                        "pass an expression with a value",
                    )
                value = promote_argument(value)
            values.append(value)
        if decl is not None and t.params and isinstance(t.params[0], ComplexType):
            name = complex_numbers.part_named(decl.name)
            if name is not None and decl.body is None:
                return complex_numbers.part(name, values[0], t.params[0], loc)
        if decl is not None and decl.name in _SELECTS_DEVICE and values:
            device_type = integer_value(values[-1])
            if device_type in (None, _HOST) and self.unit.target != "host":
                self.unit.tree.selects_host = True
        return Call(type=t.result, loc=loc, callee=callee, args=values, function_type=t)

    def _unchecked(self, value: Expr, t: FunctionType, index: int, what: str) -> Expr:
        """
        An argument of a function that was defined without a prototype (C11 6.9.1p6), whose arguments C does
        not check: an integer for a pointer and the reverse are passed on, with a warning.
        """
        wanted = t.params[index]
        kinds = {type(value.type), type(wanted)}
        if t.prototyped or kinds != {IntType, PointerType} or is_null_constant(value):
            return value
        self.unit.sink.warn(
            value.loc,
            f"{what}: '{value.type}' is passed for a parameter of type '{wanted}'",
            f"declare the parameter as '{value.type}'",
        )
        return cast(value, wanted)

    def _complex(self, node: Any, arguments: list[Any]) -> Expr:
        """`__builtin_complex(re, im)`: a complex number of its parts."""
        self._more.check_arity(node, arguments, 2)
        loc = self.unit.loc(node)
        parts = [self.unit.expressions.value(argument) for argument in arguments]
        element = parts[0].type if isinstance(parts[0].type, FloatType) else DOUBLE
        self.unit.types.require_complex(element, loc)
        t = self.unit.types.complex(element)
        operands = [convert_assigned(p, element, "a complex part", self.unit.sink) for p in parts]
        return ComplexOp(type=t, loc=loc, op="make", operands=operands)

    def _check_count(
        self, t: FunctionType, given: int, name: str, decl: FunctionDecl | None, loc: SourceLoc
    ) -> None:
        need = len(t.params)
        if not t.prototyped or given == need or (t.variadic and given > need):
            return
        least = "at least " if t.variadic else ""
        plural = "" if need == 1 else "s"
        notes = [(decl.loc, f"declared as '{t}'")] if decl is not None else []
        few = "few" if given < need else "many"
        raise error(
            loc,
            f"too {few} arguments to {name}: it takes {least}{need}, {given} given",
            f"pass {least}{need} argument{plural}",
            notes,
        )

    # Built-ins --------------------------------------------------------------------------------

    def _va_list(self, node: Any) -> Expr:
        """A `va_list` operand, as a pointer to its structure."""
        value = self.unit.expressions.value(node)
        t = value.type
        target = t.pointee.type if isinstance(t, PointerType) else None
        if not (isinstance(target, RecordType) and target.tag == VA_LIST_TAG):
            raise error(value.loc, f"'{t}' is not a va_list", "declare 'va_list args;' and pass it")
        return value

    def _va_start(self, node: Any, arguments: list[Any]) -> Expr:
        alone = self.unit.c23 and len(arguments) == 1
        self._more.check_arity(node, arguments, 1 if alone else 2)
        loc, function = self.unit.loc(node), self.unit.function
        if function is None or not function.decl.type.variadic:
            raise error(
                loc,
                "va_start in a function without '…' parameters",
                "declare the function with '...'",
            )
        last = function.decl.params[-1].name if function.decl.params else ""
        if alone:
            return VaOp(type=VOID, loc=loc, op="va_start", list=self._va_list(arguments[0]))
        if not isinstance(arguments[1], c_ast.ID) or arguments[1].name != last:
            self.unit.sink.warn(
                loc,
                f"the second argument of va_start should be '{last}'",
                "name the last parameter before '...'",
            )
        return VaOp(type=VOID, loc=loc, op="va_start", list=self._va_list(arguments[0]))

    def _va_end(self, node: Any, arguments: list[Any]) -> Expr:
        self._more.check_arity(node, arguments, 1)
        return VaOp(
            type=VOID, loc=self.unit.loc(node), op="va_end", list=self._va_list(arguments[0])
        )

    def _va_copy(self, node: Any, arguments: list[Any]) -> Expr:
        self._more.check_arity(node, arguments, 2)
        target, source = self._va_list(arguments[0]), self._va_list(arguments[1])
        return VaOp(type=VOID, loc=self.unit.loc(node), op="va_copy", list=target, source=source)

    def _va_arg(self, node: Any, arguments: list[Any]) -> Expr:
        loc = self.unit.loc(node)
        t = self.unit.types.build(arguments[1]).type
        promoted: CType = t
        if isinstance(t, IntType):
            promoted = promoted_type(t)
        elif isinstance(t, FloatType) and t.bits == 32:
            promoted = DOUBLE
        if promoted != t:
            raise error(
                loc,
                f"va_arg of '{t}': variable arguments are passed as '{promoted}'",
                f"write va_arg(…, {promoted})",
            )
        if not t.is_complete or isinstance(t, ArrayType):
            raise error(loc, f"va_arg of '{t}'", "use a complete type that is not an array")
        return VaArg(type=t, loc=loc, list=self._va_list(arguments[0]))

    def _offsetof(self, node: Any, arguments: list[Any]) -> Expr:
        """`offsetof(type, member.designator[0])`, an integer constant."""
        loc = self.unit.loc(node)
        t = self.unit.types.build(arguments[0]).type
        null = IntConst(type=pointer_to(t), loc=loc, value=0)
        place = self._designator(arguments[1], Deref(type=t, loc=loc, pointer=null))
        value = constant_value(AddressOf(type=pointer_to(place.type), loc=loc, operand=place))
        if not isinstance(value, int):
            raise error(
                loc, "offsetof with a subscript that is not constant", "use a constant subscript"
            )
        return IntConst(type=SIZE_T, loc=loc, value=value)

    def _designator(self, node: Any, place: Expr) -> Expr:
        loc = self.unit.loc(node)
        if isinstance(node, c_ast.ArrayRef):
            base = decay(self._designator(node.name, place))
            if not isinstance(base.type, PointerType):
                raise error(loc, f"'{base.type}' cannot be subscripted", "name a member array")
            index = self.unit.expressions.value(node.subscript)
            pointer = PtrAdd(type=base.type, loc=loc, pointer=base, index=index)
            return Deref(type=base.type.pointee.type, loc=loc, pointer=pointer)
        if isinstance(node, c_ast.StructRef):
            place = self._designator(node.name, place)
        name: str = node.field.name if isinstance(node, c_ast.StructRef) else node.name
        if not isinstance(place.type, RecordType) or not place.type.is_complete:
            raise error(loc, f"offsetof in '{place.type}'", "name a complete structure or union")
        for field in member_path(place.type, name, loc):
            if field.bit_width is not None:
                raise error(
                    loc, f"offsetof of bit-field '{name}'", "name a member that is not a bit-field"
                )
            place = Member(type=field.type.type, loc=loc, record=place, field=field)
        return place

    def _expect(self, node: Any, arguments: list[Any]) -> Expr:
        """`__builtin_expect(value, likely)`: the value; the hint is evaluated and not used."""
        self._more.check_arity(node, arguments, 2)
        value = convert_assigned(
            self.unit.expressions.value(arguments[0]), LONG, "__builtin_expect", self.unit.sink
        )
        hint = self.unit.expressions.value(arguments[1])
        if constant_value(hint) is not None:
            return value
        held = Temporary(self.unit, value.loc)
        read = held.hold(value)
        held.hold(hint)
        return held.result(read())

    def _constant_p(self, node: Any, arguments: list[Any]) -> Expr:
        self._more.check_arity(node, arguments, 1)
        value = constant_value(self.unit.expressions.value(arguments[0]))
        known = isinstance(value, int | float)
        return IntConst(type=INT, loc=self.unit.loc(node), value=int(known))


def va_list_type() -> ArrayType:
    """
    `__builtin_va_list`: an array of one structure (x86-64 psABI 3.5.7). In AAPCS64 it is a structure, but
    functions also get its address, as the structure is large.
    """
    record = RecordType(VA_LIST_TAG, False)
    pointer, unsigned, signed = QualType(pointer_to(VOID)), QualType(UINT), QualType(INT)
    members = [
        ("gp_offset", unsigned),
        ("fp_offset", unsigned),
        ("overflow_arg_area", pointer),
        ("reg_save_area", pointer),
    ]
    if target_machine() == "aarch64":
        members = [
            ("__stack", pointer),
            ("__gr_top", pointer),
            ("__vr_top", pointer),
            ("__gr_offs", signed),
            ("__vr_offs", signed),
        ]
    record.complete([RecordMember(name, qual) for name, qual in members])
    return ArrayType(QualType(record), 1)
