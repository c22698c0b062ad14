"""
Operations of `accx` for the research extension `loop scan`: a prefix computed in parallel.

`accx.scan_step` marks, in the body of an `acc.loop`, what one iteration of the sequential loop does;
`expand-scans` makes an `accx.scan` of such a loop for GPUs.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects import acc
from xdsl.dialects.builtin import StringAttr, UnitAttr, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.utils.exceptions import VerifyException

from .together import HandsOnOp, TogetherOp

_OPERATORS = frozenset(kind.value for kind in acc.ReductionOpKind)


class _Prefix(IRDLOperation, ABC):
    """
    What the operations on a prefix have in common. `operator` is the name of an `acc.ReductionOpKind`;
    `unsigned`: integers of the target (and `source_unsigned`: of the source) have no sign.
    """

    operator = prop_def(StringAttr)
    target_type = prop_def(TypeAttribute)
    source_type = prop_def(TypeAttribute)
    unsigned = opt_prop_def(UnitAttr)
    source_unsigned = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)

    def verify_(self) -> None:
        if self.operator.data not in _OPERATORS:
            raise VerifyException(f"'{self.operator.data}' is not a reduction operator")


@irdl_op_definition
class ScanStepOp(_Prefix, HandsOnOp):
    """
    Marks an iteration as computing `*target = target[-1] OP *source`. With an `identity` the
    scan is exclusive: element i of the source goes into element i + 1 of the target, the first of
    which becomes `identity`. The iteration's other code is beside this operation.
    """

    name = "accx.scan_step"

    target = operand_def(LLVMPointerType())
    source = operand_def(LLVMPointerType())
    identity = opt_operand_def()

    assembly_format = (
        "$operator $target `,` $source (`,` $identity^ `:` type($identity))? attr-dict "
        "`:` $source_type `to` $target_type"
    )

    def __init__(
        self,
        operator: acc.ReductionOpKind,
        target: SSAValue,
        source: SSAValue,
        identity: SSAValue | None,
        target_type: Attribute,
        source_type: Attribute,
        *,
        unsigned: bool,
        source_unsigned: bool,
    ):
        super().__init__(
            operands=[target, source, identity],
            properties={
                "operator": StringAttr(operator.value),
                "target_type": target_type,
                "source_type": source_type,
                "unsigned": UnitAttr() if unsigned else None,
                "source_unsigned": UnitAttr() if source_unsigned else None,
            },
        )


@irdl_op_definition
class ScanOp(_Prefix, TogetherOp):
    """
    The whole prefix of `steps` steps (i64), computed together by the threads that run the current code,
    with `gangs` by those of all gangs. `target` and `source` are the elements before those of the first
    step:

        inclusive  target[i] = target[i-1] OP source[i],    i = 1 … steps
        exclusive  target[0] = identity; target[i] = target[i-1] OP source[i-1]

    Without steps the operation has no effect.
    """

    name = "accx.scan"
    DONE: ClassVar = "scanned"

    target = operand_def(LLVMPointerType())
    source = operand_def(LLVMPointerType())
    steps = operand_def(i64)
    identity = opt_operand_def()
    gangs = opt_prop_def(UnitAttr)

    assembly_format = (
        "$operator $target `,` $source `for` $steps (`,` $identity^ `:` type($identity))? "
        "attr-dict `:` $source_type `to` $target_type"
    )

    def __init__(
        self,
        step: ScanStepOp,
        target: SSAValue,
        source: SSAValue,
        steps: SSAValue,
        identity: SSAValue | None,
        *,
        gangs: bool,
    ):
        properties = dict(step.properties)
        if gangs:
            properties["gangs"] = UnitAttr()
        super().__init__(operands=[target, source, steps, identity], properties=properties)

    @property
    def read(self) -> tuple[SSAValue, ...]:
        return self.source, self.target

    @property
    def written(self) -> tuple[SSAValue, ...]:
        return (self.target,)


OPERATIONS: tuple[type[Operation], ...] = (ScanStepOp, ScanOp)
