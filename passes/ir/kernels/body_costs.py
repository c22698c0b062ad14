"""What the bodies of sequential loops consist of, for decisions about unrolling."""

from __future__ import annotations

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from ....dialects.accx_element import ElementOp
from ...decisions.device_functions import PURE_FUNCTIONS
from ...decisions.unrolling import LoopBody, function_operations
from ..ops.acc_ops import PRIVATIZING_OPS, callee_of
from ..ops.building import constant_trips
from ..values.addresses import ADDRESS_OPS

_REGISTERS = (*PRIVATIZING_OPS, llvm.AllocaOp)
"""Operations that make scalars which LLVM keeps in registers."""


def _index_arithmetic(loop: scf.ForOp) -> set[Operation]:
    """The integer operations in the body that only subscripts use, directly or through others."""
    found: set[Operation] = set()
    for op in reversed(list(loop.body.walk())):
        if not op.results or not isinstance(op.results[0].type, IntegerType):
            continue
        if op.name.startswith("arith.") and all(
            isinstance(use.operation, ADDRESS_OPS) or use.operation in found
            for use in op.results[0].uses
        ):
            found.add(op)
    return found


def costs(loop: scf.ForOp) -> dict[Operation, int] | None:
    """
    The operations in a loop that cost something, and how many each counts as: no constants, no subscripts, no
    scalars in registers. None if the loop calls functions of unknown length, or has control flow that must
    not be copied.
    """
    found: dict[Operation, int] = {}
    subscripts = _index_arithmetic(loop)
    for op in loop.body.walk():
        match op:
            case llvm.LoadOp() | llvm.StoreOp() if isinstance(op.ptr.owner, _REGISTERS):
                pass
            case llvm.CallOp():
                name = callee_of(op)
                if name not in PURE_FUNCTIONS:
                    return None
                found[op] = function_operations(name)
            case scf.ExecuteRegionOp() | scf.IndexSwitchOp():
                return None
            case (
                arith.ConstantOp() | llvm.AddressOfOp() | llvm.GEPOp() | ElementOp() | scf.YieldOp()
            ):
                pass
            case _ if op.name.startswith("acc."):
                return None
            case _ if op not in subscripts:
                found[op] = 1
            case _:
                pass
    return found


def read_body(loop: scf.ForOp) -> LoopBody:
    """The properties of an innermost loop by which the unroll factor is decided."""
    found = costs(loop)
    if found is None:
        return LoopBody(0, 0, opaque=True)
    loads = sum(isinstance(op, llvm.LoadOp) for op in found)
    return LoopBody(loads, sum(found.values()), constant_trips(loop.lb, loop.ub, loop.step))
