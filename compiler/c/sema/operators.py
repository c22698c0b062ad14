"""Binary operators and assignments (C11 6.5.5 to 6.5.14, 6.5.16)."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from typing import Any

from ...base.diagnostics import CompileError, SourceLoc, error
from ..ast import (
    Assign,
    BinaryOp,
    CompoundAssign,
    CompoundLiteral,
    Decay,
    Deref,
    Expr,
    IntConst,
    Load,
    Member,
    PtrAdd,
    PtrDiff,
    VarRef,
)
from ..types import (
    FLOAT,
    HALF,
    INT,
    PTRDIFF_T,
    ArrayType,
    CType,
    FunctionType,
    IntType,
    PointerType,
    RecordType,
    VoidType,
    is_arithmetic,
)
from .atomic_calls import AtomicChecker
from .casts import (
    as_half,
    as_halves,
    bit_field_width,
    cast,
    common_type,
    of_type,
    promote,
    promoted_type,
    usual_conversions,
)
from .complex_numbers import common, operation, require_repeatable
from .conversions import (
    compatible,
    convert_assigned,
    is_null_constant,
    mark_address_taken,
    qualified,
    require_scalar,
    rvalue,
)
from .unit import Unit

_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_INTEGER_ONLY = frozenset({"%", "&", "|", "^", "<<", ">>"})
_SHIFTS = frozenset({"<<", ">>"})


def name_of(place: Expr) -> str:
    """The description of an lvalue in messages."""
    match place:
        case VarRef():
            return f"'{place.decl.name}'"
        case Member(field=field) if field.name is not None:
            return f"member '{field.name}'"
        case Deref(pointer=PtrAdd(pointer=Decay(operand=VarRef(decl=decl)))):
            return f"an element of '{decl.name}'"
        case Deref(pointer=PtrAdd(pointer=Load(lvalue=VarRef(decl=decl)))):
            return f"an element of '{decl.name}'"
        case Deref(pointer=Load(lvalue=VarRef(decl=decl))):
            return f"what '{decl.name}' points to"
        case _:
            return "this object"


class OperatorChecker:
    """Checks operators with two operands."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.atomics = AtomicChecker(unit)

    def binary(self, node: Any) -> Expr:
        """`lhs op rhs`."""
        op, loc = node.op, self.unit.loc(node)
        lhs, rhs = self.unit.expressions.value(node.left), self.unit.expressions.value(node.right)
        if op in ("&&", "||"):
            lhs = require_scalar(lhs, f"the left operand of '{op}'")
            rhs = require_scalar(rhs, f"the right operand of '{op}'")
            return BinaryOp(type=INT, loc=loc, op=op, lhs=lhs, rhs=rhs)
        if is_arithmetic(lhs.type) and is_arithmetic(rhs.type):
            return self._arithmetic(op, lhs, rhs, loc)
        result = self._complex(op, lhs, rhs, loc)
        if result is not None:
            return result
        if isinstance(lhs.type, PointerType) or isinstance(rhs.type, PointerType):
            if op in _COMPARISONS:
                return self._compare_pointers(op, lhs, rhs, loc)
            result = self._pointer_arithmetic(op, lhs, rhs, loc)
            if result is not None:
                return result
        raise self._bad_operands(op, lhs.type, rhs.type, loc)

    def _complex(self, op: str, lhs: Expr, rhs: Expr, loc: SourceLoc) -> Expr | None:
        """`lhs op rhs` where one is complex and both are numbers; else None."""
        element = common(lhs.type, rhs.type)
        if element is None:
            return None
        return operation(op, lhs, rhs, self.unit.types.complex(element), loc)

    def _bad_operands(self, op: str, lhs: CType, rhs: CType, loc: SourceLoc) -> CompileError:
        if isinstance(lhs, RecordType) or isinstance(rhs, RecordType):
            remedy = "apply the operator to their members"
        elif isinstance(lhs, VoidType) or isinstance(rhs, VoidType):
            remedy = "an expression of type void has no value"
        else:
            remedy = "convert one of the operands"
        return error(loc, f"operator '{op}' does not apply to '{lhs}' and '{rhs}'", remedy)

    def _arithmetic(self, op: str, lhs: Expr, rhs: Expr, loc: SourceLoc) -> Expr:
        if op in _INTEGER_ONLY and not (
            isinstance(lhs.type, IntType) and isinstance(rhs.type, IntType)
        ):
            remedy = "use fmod from <math.h>" if op == "%" else "convert the operands to integers"
            raise error(
                loc, f"operator '{op}' needs integers, not '{lhs.type}' and '{rhs.type}'", remedy
            )
        if op in _SHIFTS:
            lhs = promote(lhs)
            self._check_shift(op, lhs.type, rhs)
            return BinaryOp(
                type=lhs.type, loc=loc, op=op, lhs=lhs, rhs=cast(promote(rhs), lhs.type)
            )
        lhs, rhs, t = usual_conversions(lhs, rhs)
        if op in ("/", "%"):
            self._check_divisor(op, t, rhs)
        if op in _COMPARISONS:
            lhs, rhs = (as_halves(lhs, rhs) if t == HALF else None) or (lhs, rhs)
            return BinaryOp(type=INT, loc=loc, op=op, lhs=lhs, rhs=rhs)
        return of_type(BinaryOp(type=lhs.type, loc=loc, op=op, lhs=lhs, rhs=rhs), t)

    def _check_divisor(self, op: str, t: CType, rhs: Expr) -> None:
        if isinstance(t, IntType) and isinstance(rhs, IntConst) and rhs.value == 0:
            self.unit.sink.warn(rhs.loc, f"'{op}' by zero", "check the divisor")

    def _check_shift(self, op: str, t: CType, rhs: Expr) -> None:
        if isinstance(t, IntType) and isinstance(rhs, IntConst) and not 0 <= rhs.value < t.bits:
            self.unit.sink.warn(
                rhs.loc,
                f"'{op}' of '{t}' by {rhs.value} is undefined",
                f"shift by 0 to {t.bits - 1}",
            )

    # Pointers ---------------------------------------------------------------------------------

    def require_complete_pointee(self, t: PointerType, loc: SourceLoc) -> None:
        """Raise `CompileError` for arithmetic on a pointer whose elements have no known size; void has size
        1, as in GNU C, with a warning."""
        target = t.pointee.type
        if isinstance(target, VoidType):
            self.unit.sink.warn(
                loc, "arithmetic on 'void *' counts bytes", "cast to 'char *' to say so"
            )
        elif isinstance(target, FunctionType) or not target.is_complete:
            raise error(
                loc,
                f"arithmetic on '{t}': the size of '{target}' is not known",
                "define the type first",
            )

    def _pointer_arithmetic(self, op: str, lhs: Expr, rhs: Expr, loc: SourceLoc) -> Expr | None:
        if op == "+" and isinstance(rhs.type, PointerType):
            lhs, rhs = rhs, lhs
        if not isinstance(lhs.type, PointerType) or op not in ("+", "-"):
            return None
        if isinstance(rhs.type, IntType):
            self.require_complete_pointee(lhs.type, loc)
            return PtrAdd(
                type=lhs.type, loc=loc, pointer=lhs, index=promote(rhs), subtract=op == "-"
            )
        if op == "-" and isinstance(rhs.type, PointerType):
            if not compatible(_bare(lhs.type), _bare(rhs.type)):
                raise error(loc, f"difference of '{lhs.type}' and '{rhs.type}'", "cast one of them")
            self.require_complete_pointee(lhs.type, loc)
            return PtrDiff(type=PTRDIFF_T, loc=loc, lhs=lhs, rhs=cast(rhs, lhs.type))
        return None

    def _compare_pointers(self, op: str, lhs: Expr, rhs: Expr, loc: SourceLoc) -> Expr:
        said = f"comparison of '{lhs.type}' with '{rhs.type}'"
        pointer = lhs.type if isinstance(lhs.type, PointerType) else rhs.type
        for one, other in ((lhs, rhs), (rhs, lhs)):
            if isinstance(one.type, PointerType) or is_null_constant(one):
                continue
            if not isinstance(one.type, IntType):
                raise error(loc, said, "dereference the pointer, or compare with NULL")
            number = "0" if is_null_constant(other) else "what it points to"
            self.unit.sink.warn(
                loc, f"{said}, a pointer with a number", f"compare with {number}, or cast one"
            )
        if is_null_constant(rhs) or not isinstance(rhs.type, PointerType):
            rhs = cast(rhs, pointer)
        elif is_null_constant(lhs) or not isinstance(lhs.type, PointerType):
            lhs = cast(lhs, pointer)
        a, b = _bare(lhs.type), _bare(rhs.type)
        is_void = isinstance(a, VoidType) or isinstance(b, VoidType)
        if not is_void and not compatible(a, b):
            self.unit.sink.warn(
                loc,
                f"comparison of incompatible pointers '{lhs.type}' and '{rhs.type}'",
                "cast one",
            )
        return BinaryOp(type=INT, loc=loc, op=op, lhs=lhs, rhs=cast(rhs, lhs.type))

    # Assignment -------------------------------------------------------------------------------

    def modifiable(self, target: Expr, verb: str) -> Expr:
        """`target`, checked to be a modifiable lvalue (C11 6.3.2.1); `verb` is as "assign to"."""
        loc, t = target.loc, target.type
        if not target.is_lvalue:
            raise error(
                loc,
                f"cannot {verb} a value that is not an object",
                "the target must be a variable, a member or an element",
            )
        name = name_of(target)
        if isinstance(t, ArrayType):
            raise error(
                loc,
                f"cannot {verb} {name}: it is an array",
                "assign its elements in a loop, or use memcpy",
            )
        if isinstance(t, RecordType) and not t.is_complete:
            raise error(loc, f"cannot {verb} {name}: '{t}' is incomplete", "include its definition")
        if isinstance(t, VoidType):
            raise error(
                loc,
                f"cannot {verb} {name}: it is a 'void'",
                "cast the pointer to an object type first",
            )
        if qualified(target).const or _has_const_member(t):
            decl = target.decl if isinstance(target, VarRef | CompoundLiteral) else None
            notes = [(decl.loc, "declared const here")] if decl is not None else []
            raise error(
                loc,
                f"cannot {verb} {name}: it is const",
                "remove 'const' from its declaration",
                notes,
            )
        return target

    def assignment(self, node: Any) -> Expr:
        """`target = value` and `target op= value`."""
        loc = self.unit.loc(node)
        target = self.unit.expressions.check(node.lvalue)
        if isinstance(target.type, FunctionType):
            raise error(loc, "a function cannot be assigned to", "use a function pointer variable")
        target = self.modifiable(target, "assign to" if node.op == "=" else f"apply '{node.op}' to")
        value = self.unit.expressions.value(node.rvalue)
        volatile = qualified(target).volatile
        if node.op == "=":
            if isinstance(target.type, RecordType):
                mark_address_taken(target)
            value = convert_assigned(
                value, target.type, f"assigning to {name_of(target)}", self.unit.sink
            )
            made = Assign(type=target.type, loc=loc, target=target, value=value, volatile=volatile)
            return self.atomics.assign(made) if qualified(target).atomic else made
        op = node.op[:-1]
        result = self._complex(op, rvalue(target), value, loc)
        if result is None:
            compound = self._compound(op, target, value, loc, volatile)
            return self.atomics.compound(compound) if qualified(target).atomic else compound
        require_repeatable(target, op)
        result = convert_assigned(
            result, target.type, f"assigning to {name_of(target)}", self.unit.sink
        )
        return Assign(type=target.type, loc=loc, target=target, value=result, volatile=volatile)

    def _compound(
        self, op: str, target: Expr, value: Expr, loc: SourceLoc, volatile: bool
    ) -> CompoundAssign:
        t = target.type
        compute: CType
        if isinstance(t, PointerType) and op in ("+", "-") and isinstance(value.type, IntType):
            self.require_complete_pointee(t, loc)
            compute, value = t, promote(value)
        elif is_arithmetic(t) and is_arithmetic(value.type):
            if op in _INTEGER_ONLY and not (
                isinstance(t, IntType) and isinstance(value.type, IntType)
            ):
                raise error(
                    loc,
                    f"'{op}=' needs integers, not '{t}' and '{value.type}'",
                    "convert the operands",
                )
            value = promote(value)
            left = promoted_type(t, bit_field_width(target)) if isinstance(t, IntType) else t
            if op in _SHIFTS:
                self._check_shift(op, left, value)
                compute = left
            else:
                compute = common_type(left, value.type)
            value = cast(value, FLOAT if compute == HALF else compute)
            half = as_half(value) if t == compute == HALF else None
            value, compute = (value, value.type) if half is None else (half, HALF)
            if op in ("/", "%"):
                self._check_divisor(op, compute, value)
        else:
            raise self._bad_operands(op + "=", t, value.type, loc)
        return CompoundAssign(
            type=t,
            loc=loc,
            op=op,
            target=target,
            value=value,
            compute_type=compute,
            volatile=volatile,
        )


def _bare(t: CType) -> CType:
    return t.pointee.type if isinstance(t, PointerType) else t


def _has_const_member(t: CType) -> bool:
    if isinstance(t, ArrayType):
        return t.element.const or _has_const_member(t.element.type)
    if not isinstance(t, RecordType):
        return False
    return any(f.type.const or _has_const_member(f.type.type) for f in t.fields or ())
