"""
Built-in functions of GNU C and clang that the checker resolves (GCC manual, "Other Built-in Functions
Provided by GCC" and "Built-in Functions to Perform Arithmetic with Overflow Checking"). A built-in that
compiles to an instruction becomes a call of a function of `builtins.py`, with the types of this call.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc, error
from ..ast import (
    Assign,
    BinaryOp,
    Call,
    Expr,
    ExprStmt,
    FunctionDecl,
    FunctionRef,
    IntConst,
    StringLiteral,
)
from ..types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LDOUBLE,
    LLONG,
    LONG,
    SIZE_T,
    UINT,
    ULLONG,
    ULONG,
    VOID,
    ArrayType,
    ComplexType,
    CType,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    QualType,
    RecordType,
    pointer_to,
)
from . import complex_numbers
from .casts import cast
from .constants import integer_value
from .conversions import compatible, convert_assigned
from .temporaries import Temporary
from .unit import Unit

REFUSED = {
    "apply": "call the function with its arguments",
    "apply_args": "pass the arguments by name",
    "return": "return a value of the function's type",
    "va_arg_pack": "write a macro with '__VA_ARGS__'",
    "va_arg_pack_len": "write a macro with '__VA_ARGS__'",
    "setjmp": "use setjmp of <setjmp.h>",
    "longjmp": "use longjmp of <setjmp.h>",
    "call_with_static_chain": "call the function itself",
}
"""Built-ins that are refused by name, with the remedies."""

_FLOAT_TESTS = ("isnan", "isinf", "isfinite", "isnormal", "issubnormal", "iszero", "issignaling")
_CLASSES = (*_FLOAT_TESTS, "isinf_sign", "signbit")
_OVERFLOW = re.compile(r"([su]?)(add|sub|mul)(l{0,2})_overflow(_p)?$")
_OPERATORS = {"add": "+", "sub": "-", "mul": "*"}
_OVERFLOW_TYPES = {"s": (INT, LONG, LLONG), "u": (UINT, ULONG, ULLONG)}
_COUNTS = {"popcountg": "popcount", "clzg": "clz", "ctzg": "ctz", "parityg": "parity"}

Handler = Callable[[Any, list[Any]], Expr]


class BuiltinChecker:
    """Checks calls of these built-ins in the unit's current scope."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._handlers: dict[str, Handler] = {
            "choose_expr": self._choose,
            "types_compatible_p": self._types_compatible,
            "object_size": self._object_size,
            "dynamic_object_size": self._object_size,
            "classify_type": self._classify,
            "fpclassify": self._fpclassify,
            "isunordered": self._unordered,
            "islessgreater": self._less_or_greater,
            "is_constant_evaluated": lambda node, _: self._int(node, 0),
            "cpu_supports": lambda node, _: self._int(node, 0),
            "cpu_is": lambda node, _: self._int(node, 0),
            "cpu_init": lambda node, _: self._int(node, 0),
            "LINE": lambda node, _: self._int(node, self.unit.loc(node).line),
            "FILE": lambda node, _: self._text(node, self.unit.loc(node).file),
            "FUNCTION": self._function_name,
            "speculation_safe_value": self._first,
            "assoc_barrier": self._first,
            "extend_pointer": self._extend_pointer,
            "return_address": self._of_frame,
            "frame_address": self._of_frame,
            **dict.fromkeys(("powi", "powif", "powil"), self._powi),
            **dict.fromkeys(("fabsf16", "copysignf16"), self._of_halves),
            "alloca_with_align": self._alloca,
            "alloca_with_align_and_max": self._alloca,
            **dict.fromkeys(_CLASSES, self._float_test),
            **dict.fromkeys(_COUNTS, self._count),
        }

    def find(self, name: str) -> Handler | None:
        """The method that checks a call of `__builtin_NAME`; None for other names."""
        if _OVERFLOW.match(name):
            return self._overflow
        plain = name[:-1] if name[-1:] in ("f", "l") else name
        handler = self._handlers.get(name)
        if handler is None and plain in _CLASSES:
            return self._float_test
        is_part = handler is None and complex_numbers.part_named(name) is not None
        return self._complex_part if is_part else handler

    # Helpers ----------------------------------------------------------------------------------

    def _int(self, node: Any, value: int) -> Expr:
        return IntConst(type=INT, loc=self.unit.loc(node), value=value)

    def _text(self, node: Any, text: str) -> Expr:
        data = text.encode() + b"\0"
        t = ArrayType(QualType(CHAR), len(data))
        return StringLiteral(type=t, loc=self.unit.loc(node), data=data)

    def _values(self, node: Any, arguments: list[Any], count: int) -> list[Expr]:
        self.check_arity(node, arguments, count)
        return [self.unit.expressions.value(argument) for argument in arguments]

    def check_arity(
        self, node: Any, arguments: list[Any], least: int, most: int | None = None
    ) -> None:
        """Raises `CompileError` unless a call has `least` arguments, or `least` to `most`."""
        if not least <= len(arguments) <= (least if most is None else most):
            raise error(
                self.unit.loc(node),
                f"'{node.name.name}' takes {least} argument{'' if least == 1 else 's'}, "
                f"{len(arguments)} given",
                "check the call",
            )

    def _instruction(self, name: str, result: CType, args: list[Expr], loc: SourceLoc) -> Expr:
        """A call of built-in `name` (without prefix) with the types of `args`."""
        t = FunctionType(result, tuple(arg.type for arg in args))
        callee = FunctionRef(type=t, loc=loc, decl=FunctionDecl(f"__builtin_{name}", t, loc))
        return Call(type=result, loc=loc, callee=callee, args=args, function_type=t)

    def _first(self, node: Any, arguments: list[Any]) -> Expr:
        self.check_arity(node, arguments, 1, 2)
        return self.unit.expressions.value(arguments[0])

    # Types and translation time ---------------------------------------------------------------

    def _choose(self, node: Any, arguments: list[Any]) -> Expr:
        """`__builtin_choose_expr(constant, a, b)`: only the chosen expression is checked."""
        self.check_arity(node, arguments, 3)
        chosen = self.unit.expressions.integer(arguments[0])
        if chosen is None:
            raise error(
                self.unit.loc(node),
                "the first argument of '__builtin_choose_expr' is not a constant",
                "use a constant, or '?:'",
            )
        return self.unit.expressions.check(arguments[1 if chosen else 2])

    def _types_compatible(self, node: Any, arguments: list[Any]) -> Expr:
        self.check_arity(node, arguments, 2)
        first, second = (self.unit.types.build(argument).type for argument in arguments)
        return self._int(node, int(compatible(first, second)))

    def _classify(self, node: Any, arguments: list[Any]) -> Expr:
        """`__builtin_classify_type(x)`: the value of gcc's `enum type_class` (typeclass.h)."""
        (value,) = self._values(node, arguments, 1)
        match value.type:
            case IntType():
                kind = 1
            case PointerType():
                kind = 5
            case FloatType():
                kind = 8
            case ComplexType():
                kind = 9
            case RecordType(is_union=is_union):
                kind = 13 if is_union else 12
            case _:
                kind = 0
        return self._int(node, kind)

    def _object_size(self, node: Any, arguments: list[Any]) -> Expr:
        """`__builtin_object_size(p, kind)`, with gcc's answer for unknown objects: the largest size, or 0
        for a minimum."""
        self.check_arity(node, arguments, 2)
        kind = self.unit.expressions.integer(arguments[1]) or 0
        self.unit.expressions.value(arguments[0])
        value = 0 if kind & 2 else (1 << 64) - 1
        return IntConst(type=SIZE_T, loc=self.unit.loc(node), value=value)

    def _function_name(self, node: Any, arguments: list[Any]) -> Expr:
        function = self.unit.function
        return self._text(node, "" if function is None else function.decl.name)

    def _extend_pointer(self, node: Any, arguments: list[Any]) -> Expr:
        (value,) = self._values(node, arguments, 1)
        return cast(value, ULLONG)

    def _of_frame(self, node: Any, arguments: list[Any]) -> Expr:
        """`__builtin_return_address(level)`."""
        (level,) = self._values(node, arguments, 1)
        number, loc = integer_value(level), self.unit.loc(node)
        if number is None:
            raise error(loc, f"'{node.name.name}' needs a constant", "write the number of callers")
        constant = IntConst(type=UINT, loc=loc, value=number)
        name = node.name.name.removeprefix("__builtin_")
        return self._instruction(name, pointer_to(VOID), [constant], loc)

    def _powi(self, node: Any, arguments: list[Any]) -> Expr:
        """`__builtin_powi(x, n)` as `pow(x, n)`."""
        suffix = node.name.name.removeprefix("__builtin_powi")
        name = c_ast.ID(f"__builtin_pow{suffix}", node.coord)
        return self.unit.expressions.check(c_ast.FuncCall(name, node.args, node.coord))

    def _of_halves(self, node: Any, arguments: list[Any]) -> Expr:
        """`__builtin_fabsf16(x)` and `__builtin_copysignf16(x, y)` as those of `float`."""
        name = c_ast.ID(node.name.name.removesuffix("16"), node.coord)
        halves = [c_ast.Cast(_typename("_Float16", node), a, node.coord) for a in arguments]
        call = c_ast.FuncCall(name, c_ast.ExprList(halves, node.coord), node.coord)
        return cast(self.unit.expressions.check(call), HALF)

    def _alloca(self, node: Any, arguments: list[Any]) -> Expr:
        self.check_arity(node, arguments, 2, 3)
        size = convert_assigned(
            self.unit.expressions.value(arguments[0]), SIZE_T, "the size", self.unit.sink
        )
        bits = self.unit.expressions.integer(arguments[1]) or 0
        loc = self.unit.loc(node)
        if bits > 128:
            raise error(
                loc, f"an alignment of {bits} bits", "use aligned_alloc for more than 16 bytes"
            )
        return self._instruction("alloca", pointer_to(VOID), [size], loc)

    # Floating point ---------------------------------------------------------------------------

    def _float_test(self, node: Any, arguments: list[Any]) -> Expr:
        (value,) = self._values(node, arguments, 1)
        name = node.name.name.removeprefix("__builtin_")
        name = next(n for n in sorted(_CLASSES, key=len, reverse=True) if name.startswith(n))
        if not isinstance(value.type, FloatType):
            raise error(value.loc, f"'{name}' of '{value.type}'", "its argument must be floating")
        return self._instruction(name, INT, [value], self.unit.loc(node))

    def _complex_part(self, node: Any, arguments: list[Any]) -> Expr:
        """`__builtin_crealf(z)`, `__builtin_conj(z)` and the like, for all parts and types."""
        (value,) = self._values(node, arguments, 1)
        name = node.name.name.removeprefix("__builtin_")
        plain = complex_numbers.part_named(name)
        assert plain is not None
        element = {"f": FLOAT, "l": LDOUBLE}[name[-1]] if plain != name else DOUBLE
        t = self.unit.types.complex(element)
        return complex_numbers.part(plain, value, t, self.unit.loc(node))

    def _fpclassify(self, node: Any, arguments: list[Any]) -> Expr:
        values = self._values(node, arguments, 6)
        codes = [convert_assigned(v, INT, "a code", self.unit.sink) for v in values[:5]]
        if not isinstance(values[5].type, FloatType):
            raise error(
                values[5].loc, f"fpclassify of '{values[5].type}'", "its argument must be floating"
            )
        return self._instruction("fpclassify", INT, [*codes, values[5]], self.unit.loc(node))

    def _pair(self, node: Any, arguments: list[Any]) -> list[c_ast.Node]:
        self.check_arity(node, arguments, 2)
        return [c_ast.Cast(_typename("double", node), a, node.coord) for a in arguments]

    def _unordered(self, node: Any, arguments: list[Any]) -> Expr:
        """`__builtin_isunordered(a, b)`: whether an argument is a NaN; `long double` arguments are tested
        as doubles."""
        first, second = (self._nan(a, node) for a in self._pair(node, arguments))
        return BinaryOp(type=INT, loc=self.unit.loc(node), op="||", lhs=first, rhs=second)

    def _nan(self, argument: Any, node: Any) -> Expr:
        value = self.unit.expressions.value(argument)
        return self._instruction("isnan", INT, [value], self.unit.loc(node))

    def _less_or_greater(self, node: Any, arguments: list[Any]) -> Expr:
        self.check_arity(node, arguments, 2)
        loc, out = self.unit.loc(node), Temporary(self.unit, self.unit.loc(node))
        values = [self.unit.expressions.value(argument) for argument in arguments]
        held = [out.hold(cast(v, max((x.type for x in values), key=_width))) for v in values]
        less, greater = (
            BinaryOp(type=INT, loc=loc, op=op, lhs=held[0](), rhs=held[1]()) for op in ("<", ">")
        )
        return out.result(BinaryOp(type=INT, loc=loc, op="||", lhs=less, rhs=greater))

    # Integers ---------------------------------------------------------------------------------

    def _count(self, node: Any, arguments: list[Any]) -> Expr:
        """`__builtin_clzg(x, n)`, `ctzg` and `popcountg` for any unsigned type; n is the result for 0."""
        name = _COUNTS[node.name.name.removeprefix("__builtin_")]
        self.check_arity(node, arguments, 1, 2)
        value = self.unit.expressions.value(arguments[0])
        if not isinstance(value.type, IntType):
            raise error(value.loc, f"'{name}' of '{value.type}'", "its argument must be an integer")
        if len(arguments) == 1:
            return self._instruction(name, INT, [value], self.unit.loc(node))
        loc, out = self.unit.loc(node), Temporary(self.unit, self.unit.loc(node))
        held = out.hold(value)
        counted = self._instruction(name, INT, [held()], loc)
        other = self.unit.expressions.value(arguments[1])
        return out.result(out.choice(held(), counted, cast(other, INT)))

    def _overflow(self, node: Any, arguments: list[Any]) -> Expr:
        """
        `__builtin_add_overflow(a, b, &r)`: computed in a type that holds every result, stored, and compared
        with what was stored. `…_overflow_p` only returns whether the third argument's type cannot hold it.
        """
        found = _OVERFLOW.match(node.name.name.removeprefix("__builtin_"))
        assert found is not None
        sign, name, length, predicate = found.groups()
        values = self._values(node, arguments, 3)
        if sign:
            t = _OVERFLOW_TYPES[sign][len(length)]
            values[:2] = [convert_assigned(v, t, "an operand", self.unit.sink) for v in values[:2]]
        last = values[2].type
        target = last.pointee.type if not predicate and isinstance(last, PointerType) else last
        types = [v.type for v in values[:2]] + [target]
        if not all(isinstance(t, IntType) for t in types):
            raise error(self.unit.loc(node), f"'{node.name.name}' of '{types[0]}'", "use integers")
        loc, out = self.unit.loc(node), Temporary(self.unit, self.unit.loc(node))
        wide = _wide(name, *(t for t in types if isinstance(t, IntType)))
        lhs, rhs = (cast(v, wide) for v in values[:2])
        place = None if predicate else out.hold(values[2])
        exact = out.hold(BinaryOp(type=wide, loc=loc, op=_OPERATORS[name], lhs=lhs, rhs=rhs))
        kept = cast(exact(), target)
        if place is not None:
            stored = Assign(type=target, loc=loc, target=out.deref(place()), value=kept)
            out.body.append(ExprStmt(loc=loc, expr=stored))
        kept = cast(cast(exact(), target), wide)
        return out.result(cast(BinaryOp(type=INT, loc=loc, op="!=", lhs=kept, rhs=exact()), BOOL))


def _width(t: CType) -> int:
    return t.bits if isinstance(t, FloatType) else 0


def _wide(name: str, a: IntType, b: IntType, target: IntType) -> IntType:
    """An integer type that holds every `a op b`, and every value of `target`."""
    signed = name == "sub" or a.signed or b.signed
    bits = a.bits + b.bits if name == "mul" else max(a.bits, b.bits) + 2
    bits = max(bits, target.bits + signed)
    bits = next(n for n in (64, 128, 256, 512) if n >= bits)
    return IntType(f"exact {bits}-bit integer", bits, signed, 100 + bits)


def _typename(word: str, node: Any) -> Any:
    t = c_ast.TypeDecl(None, [], None, c_ast.IdentifierType([word], node.coord), node.coord)
    return c_ast.Typename(None, [], None, t, node.coord)
