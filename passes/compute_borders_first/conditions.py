"""
What constructs qualify for `compute-borders-first`: nests whose iterations may be repeated without effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, arith, llvm, math, scf
from xdsl.ir import Operation

from ...dialects.volatility import is_ordered
from ..ir.data.sections import SectionAccess
from ..ir.ops.acc_ops import child_loops, is_inside
from ..ir.ops.building import constant_value
from ..ir.ops.levels import is_parallel
from ..ir.ops.machine import Machine
from ..ir.ops.purity import is_pure
from ..ir.ops.versions import can_have_versions
from ..ir.values.addresses import base_of

_EXACT = (math.SqrtOp, math.AbsFOp, math.CopySignOp, math.FmaOp)
"""Mathematical operations with one correctly rounded result."""
_STRUCTURE = (acc.YieldOp, scf.YieldOp, scf.IfOp, acc.FirstprivateOp, llvm.AllocaOp)


class Unfit(Exception):
    """A construct does not qualify; the message is the reason."""


def only_nest(construct: acc.ParallelOp) -> acc.LoopOp:
    """The outermost loop of a construct that is one nest. Raises `Unfit` for others, and for clauses by which
    its repetition could be observed."""
    loops = child_loops(construct)
    if len(loops) != 1:
        raise Unfit("it is not a single nest of loops")
    if construct.private_operands or construct.reduction_operands:
        raise Unfit("it has private or reduction variables")
    if not can_have_versions(construct):
        raise Unfit("it has a wait clause")
    (loop,) = loops
    if not is_parallel(loop) or constant_value(loop.step[0]) != 1:
        raise Unfit("its outermost loop is not parallel with step 1")
    return loop


def check_operations(construct: acc.ParallelOp, machine: Machine) -> None:
    """Raises `Unfit` for an operation with effects other than on data, or whose result may differ."""
    if machine.fast_math:
        raise Unfit("with fast mathematics its results might differ from kernel to kernel")
    for op in construct.region.walk():
        match op:
            case llvm.LoadOp() | llvm.StoreOp():
                _check_access(op, construct)
            case acc.LoopOp():
                if op.reduction_operands or op.private_operands:
                    raise Unfit("it has private or reduction variables")
            case arith.MulfOp() if not machine.no_fma and _may_be_added(op, construct):
                raise Unfit("a product may be added, and fused in one kernel only (see --no-fma)")
            case _ if op.name.startswith("math.") and not isinstance(op, _EXACT):
                raise Unfit(f"the results of '{op.name}' might differ from kernel to kernel")
            case _ if isinstance(op, _STRUCTURE) or is_pure(op):
                pass
            case _:
                raise Unfit(f"it contains '{op.name}'")


def _may_be_added(product: arith.MulfOp, construct: acc.ParallelOp) -> bool:
    """Whether a product may become an operand of a sum, perhaps by way of variables and conditions."""
    return any(
        not isinstance(use.operation, arith.MulfOp | arith.DivfOp | arith.CmpfOp)
        and not (
            isinstance(use.operation, llvm.StoreOp)
            and base_of(use.operation.ptr) in construct.data_clause_operands
        )
        for use in product.result.uses
    )


def _check_access(op: llvm.LoadOp | llvm.StoreOp, construct: acc.ParallelOp) -> None:
    if is_ordered(op):
        raise Unfit("an access is volatile or atomic")
    base = base_of(op.ptr)
    mapped = base in construct.data_clause_operands
    owner = base.owner
    if isinstance(owner, llvm.AllocaOp) and is_inside(owner, construct):
        if not isinstance(owner.parent_op(), acc.LoopOp):
            raise Unfit("a gang has a variable of its own")
    elif isinstance(op, llvm.StoreOp) and not mapped:
        raise Unfit("it writes memory that no data clause names")
    elif not mapped and not isinstance(owner, acc.FirstprivateOp):
        raise Unfit("it reads memory that no data clause names")


def _exclusive(a: Operation, b: Operation) -> bool:
    """Whether two operations are in different branches of one `if`."""
    branch: Operation | None = a
    while branch is not None:
        parent = branch.parent_op()
        if isinstance(parent, scf.IfOp) and is_inside(b, parent):
            other: Operation | None = b
            while other is not None and other.parent_op() is not parent:
                other = other.parent_op()
            return other is not None and other.parent_region() is not branch.parent_region()
        branch = parent
    return False


def check_once(stores: Sequence[SectionAccess], name: str, construct: acc.ParallelOp) -> None:
    """Raises `Unfit` unless an element is stored once: a copy might otherwise see what is stored first."""
    for index, access in enumerate(stores):
        if not all(_exclusive(access.op, other.op) for other in stores[:index]):
            raise Unfit(f"elements of '{name}' may be written several times")
        around = access.op.parent_op()
        while around is not None and around is not construct:
            if not isinstance(around, scf.IfOp) and not (
                isinstance(around, acc.LoopOp) and is_parallel(around)
            ):
                raise Unfit(f"'{name}' is written in a sequential loop")
            around = around.parent_op()
