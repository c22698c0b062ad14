"""Intrinsics on numbers."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import (
    I1,
    I32,
    AnyFloatConstr,
    IntegerAttr,
    IntegerType,
    SignlessIntegerConstraint,
    VectorType,
    i1,
    i32,
)
from xdsl.dialects.llvm import (
    FastMathAttr,
)
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException


class _IntrinsicOp(IRDLOperation, ABC):
    """Base of intrinsics with `ARITY` operands `args` of the type of their result `res`."""

    ARITY: ClassVar[int] = 1

    traits = traits_def(Pure())
    assembly_format = "`(` $args `)` attr-dict `:` functional-type($args, $res)"

    def verify_(self) -> None:
        if len(self.operands) != self.ARITY:
            raise VerifyException(f"expected {self.ARITY} operands, got {len(self.operands)}")


class FloatIntrinsicOp(_IntrinsicOp, ABC):
    """Base of intrinsics on floating-point values of one type, with fast-math flags."""

    T: ClassVar = VarConstraint("T", AnyFloatConstr | VectorType.constr(AnyFloatConstr))

    args = var_operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    irdl_options = (ParsePropInAttrDict(),)

    def __init__(self, *args: SSAValue | Operation, fast_math: FastMathAttr | None = None):
        super().__init__(
            operands=[list(args)],
            result_types=[SSAValue.get(args[0]).type],
            properties={"fastmathFlags": fast_math or FastMathAttr(None)},
        )


class IntegerIntrinsicOp(_IntrinsicOp, ABC):
    """Base of intrinsics on integers of one type."""

    T: ClassVar = VarConstraint(
        "T", SignlessIntegerConstraint | VectorType.constr(SignlessIntegerConstraint)
    )

    args = var_operand_def(T)
    res = result_def(T)

    def __init__(self, *args: SSAValue | Operation):
        super().__init__(operands=[list(args)], result_types=[SSAValue.get(args[0]).type])


class ZeroPoisonIntrinsicOp(IRDLOperation, ABC):
    """Base of bit counts that may be undefined for zero (`is_zero_poison`)."""

    T: ClassVar = VarConstraint("T", SignlessIntegerConstraint)

    arg = operand_def(T)
    res = result_def(T)
    is_zero_poison = prop_def(IntegerAttr[I1])

    traits = traits_def(Pure())

    def __init__(self, arg: SSAValue | Operation, *, is_zero_poison: bool = False):
        super().__init__(
            operands=[arg],
            result_types=[SSAValue.get(arg).type],
            properties={"is_zero_poison": IntegerAttr.from_bool(is_zero_poison)},
        )


@irdl_op_definition
class CtlzOp(ZeroPoisonIntrinsicOp):
    """Number of leading zero bits."""

    name = "llvm.intr.ctlz"


@irdl_op_definition
class CttzOp(ZeroPoisonIntrinsicOp):
    """Number of trailing zero bits."""

    name = "llvm.intr.cttz"


@irdl_op_definition
class AbsOp(IRDLOperation):
    """Absolute value of a signed integer."""

    name = "llvm.intr.abs"

    T: ClassVar = VarConstraint("T", SignlessIntegerConstraint)

    arg = operand_def(T)
    res = result_def(T)
    is_int_min_poison = prop_def(IntegerAttr[I1])

    traits = traits_def(Pure())

    def __init__(self, arg: SSAValue | Operation, *, is_int_min_poison: bool = False):
        super().__init__(
            operands=[arg],
            result_types=[SSAValue.get(arg).type],
            properties={"is_int_min_poison": IntegerAttr.from_bool(is_int_min_poison)},
        )


@irdl_op_definition
class IsFPClassOp(IRDLOperation):
    """Whether `arg` is in one of the classes of the mask `bit` (LLVM LangRef, `llvm.is.fpclass`)."""

    name = "llvm.intr.is.fpclass"

    arg = operand_def(AnyFloatConstr)
    res = result_def(I1)
    bit = prop_def(IntegerAttr[I32])

    traits = traits_def(Pure())

    NAN: ClassVar[int] = 0b11
    INFINITE: ClassVar[int] = 0b1000000100
    FINITE: ClassVar[int] = 0b0111111000
    NORMAL: ClassVar[int] = 0b0100001000

    def __init__(self, arg: SSAValue | Operation, bit: int):
        super().__init__(
            operands=[arg], result_types=[i1], properties={"bit": IntegerAttr(bit, i32)}
        )


@irdl_op_definition
class PowIOp(IRDLOperation):
    """`val` to an integer power."""

    name = "llvm.intr.powi"

    T: ClassVar = VarConstraint("T", AnyFloatConstr)

    val = operand_def(T)
    power = operand_def(IntegerType)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        val: SSAValue | Operation,
        power: SSAValue | Operation,
        fast_math: FastMathAttr | None = None,
    ):
        super().__init__(
            operands=[val, power],
            result_types=[SSAValue.get(val).type],
            properties={"fastmathFlags": fast_math or FastMathAttr(None)},
        )


@irdl_op_definition
class RintOp(FloatIntrinsicOp):
    """Rounds to an integer in the current rounding mode, may raise inexact."""

    name = "llvm.intr.rint"


@irdl_op_definition
class NearbyintOp(FloatIntrinsicOp):
    """Rounds to an integer in the current rounding mode."""

    name = "llvm.intr.nearbyint"


@irdl_op_definition
class RoundOp(FloatIntrinsicOp):
    """Rounds half away from zero."""

    name = "llvm.intr.round"


@irdl_op_definition
class RoundEvenOp(FloatIntrinsicOp):
    """Rounds half to even."""

    name = "llvm.intr.roundeven"


@irdl_op_definition
class FTruncOp(FloatIntrinsicOp):
    """Rounds towards zero."""

    name = "llvm.intr.trunc"


@irdl_op_definition
class Log10Op(FloatIntrinsicOp):
    """Logarithm to base 10."""

    name = "llvm.intr.log10"


@irdl_op_definition
class Exp10Op(FloatIntrinsicOp):
    """Power of 10."""

    name = "llvm.intr.exp10"


@irdl_op_definition
class TanOp(FloatIntrinsicOp):
    """Tangent."""

    name = "llvm.intr.tan"


@irdl_op_definition
class ASinOp(FloatIntrinsicOp):
    """Arc sine."""

    name = "llvm.intr.asin"


@irdl_op_definition
class ACosOp(FloatIntrinsicOp):
    """Arc cosine."""

    name = "llvm.intr.acos"


@irdl_op_definition
class ATanOp(FloatIntrinsicOp):
    """Arc tangent."""

    name = "llvm.intr.atan"


@irdl_op_definition
class SinhOp(FloatIntrinsicOp):
    """Hyperbolic sine."""

    name = "llvm.intr.sinh"


@irdl_op_definition
class CoshOp(FloatIntrinsicOp):
    """Hyperbolic cosine."""

    name = "llvm.intr.cosh"


@irdl_op_definition
class TanhOp(FloatIntrinsicOp):
    """Hyperbolic tangent."""

    name = "llvm.intr.tanh"


@irdl_op_definition
class ATan2Op(FloatIntrinsicOp):
    """Arc tangent of a quotient in the right quadrant."""

    name = "llvm.intr.atan2"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class MaximumOp(FloatIntrinsicOp):
    """Maximum that propagates NaN (IEEE 754-2019 `maximum`)."""

    name = "llvm.intr.maximum"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class MinimumOp(FloatIntrinsicOp):
    """Minimum that propagates NaN (IEEE 754-2019 `minimum`)."""

    name = "llvm.intr.minimum"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class FMulAddOp(FloatIntrinsicOp):
    """`a * b + c`, fused where that is faster."""

    name = "llvm.intr.fmuladd"
    ARITY: ClassVar[int] = 3


@irdl_op_definition
class CtPopOp(IntegerIntrinsicOp):
    """Number of set bits."""

    name = "llvm.intr.ctpop"


@irdl_op_definition
class BSwapOp(IntegerIntrinsicOp):
    """Reverses the bytes."""

    name = "llvm.intr.bswap"


@irdl_op_definition
class BitReverseOp(IntegerIntrinsicOp):
    """Reverses the bits."""

    name = "llvm.intr.bitreverse"


@irdl_op_definition
class SMaxOp(IntegerIntrinsicOp):
    """Signed maximum."""

    name = "llvm.intr.smax"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class SMinOp(IntegerIntrinsicOp):
    """Signed minimum."""

    name = "llvm.intr.smin"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class UMaxOp(IntegerIntrinsicOp):
    """Unsigned maximum."""

    name = "llvm.intr.umax"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class UMinOp(IntegerIntrinsicOp):
    """Unsigned minimum."""

    name = "llvm.intr.umin"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class FshlOp(IntegerIntrinsicOp):
    """Funnel shift left (a rotation when both values are equal)."""

    name = "llvm.intr.fshl"
    ARITY: ClassVar[int] = 3


@irdl_op_definition
class FshrOp(IntegerIntrinsicOp):
    """Funnel shift right."""

    name = "llvm.intr.fshr"
    ARITY: ClassVar[int] = 3
