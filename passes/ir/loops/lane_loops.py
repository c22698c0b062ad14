"""
Which partitioned loops around sequential loops run one iteration per SIMD lane on a CPU
(`interchange-lanes`), and how many at a time.

A value *varies* if it depends on the loop's variable. Lanes pay where the inner loops have the same trip
count for all iterations, or may run masked, and access the same or neighbouring elements in all of them.
Where lanes access rows that are apart, they pay if the inner loops wait for themselves (`waiting_loops.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from xdsl.dialects import arith, llvm, math, scf
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....compiler.base.host_mathematics import FAST_PREFIX, PREFIX
from ....dialects.volatility import is_ordered
from ...decisions.ordered_rows import ROWS, rows_side_by_side
from ...decisions.polynomials import Polynomial
from ..data.cached_accesses import Symbols
from ..ops.acc_ops import callee_of
from ..ops.building import constant_trips, constant_value
from ..ops.layout import size_of
from ..ops.purity import may_trap
from ..values.addresses import base_of
from .loop_flow import loop_flow
from .product_loads import offset_of
from .waiting_loops import waiting_cycles

REGISTER_BYTES = 32
"""The bytes of a vector register, as in AVX2; on other machines LLVM splits or pairs registers."""
REGISTERS = 8
"""The vector registers for values carried by an inner loop: half of those there are."""
MOST_SIDE_BY_SIDE = 4
UNROLLED_TRIPS = 8
"""Iterations of a loop that LLVM unrolls also if its body has some 30 operations."""

_VECTOR_OPERATIONS = (
    *arith.Arith.operations,
    *math.Math.operations,
    llvm.GEPOp,
    llvm.AddressOfOp,
    llvm.ConstantOp,
    llvm.ZeroOp,
)
"""Arithmetic that exists for scalars and for vectors."""
_INSTRUCTIONS = frozenset(
    name + suffix
    for name in (
        "fabs",
        "fmin",
        "fmax",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "nearbyint",
        "copysign",
        "fma",
    )
    for suffix in ("", "f")
)
"""Functions of C's library that are single instructions, also on vectors, without side effects."""
_SCALARS = (IntegerType, Float32Type, Float64Type, llvm.LLVMPointerType)


@dataclass(frozen=True)
class Lanes:
    """`width` iterations in a register, `count` registers side by side."""

    width: int
    count: int

    @property
    def element(self) -> int:
        """The bytes of a register that one iteration takes."""
        return REGISTER_BYTES // self.width

    @property
    def iterations(self) -> int:
        return self.width * self.count


def is_lane_wise(op: Operation) -> bool:
    """Whether `op` only computes, also on vectors, and may run for lanes that do not need its result."""
    if isinstance(op, llvm.CallOp):
        name = callee_of(op)
        known = name is not None and name.startswith((PREFIX, FAST_PREFIX))
        return known or name in _INSTRUCTIONS
    return isinstance(op, _VECTOR_OPERATIONS) and not may_trap(op)


def _private_scalars(loop: scf.ForOp) -> dict[SSAValue, Attribute]:
    """The local variables that only the loop's body uses, with their types: each iteration has its own."""
    found: dict[SSAValue, Attribute | None] = {}
    inside = set(loop.body.walk())
    for op in inside:
        if not isinstance(op, llvm.LoadOp | llvm.StoreOp) or op.ptr in found:
            continue
        if isinstance(op.ptr.owner, llvm.AllocaOp):
            types = {_scalar_access(use.operation, op.ptr, inside) for use in op.ptr.uses}
            found[op.ptr] = types.pop() if len(types) == 1 else None
    return {pointer: type_ for pointer, type_ in found.items() if type_ is not None}


def _scalar_access(op: Operation, pointer: SSAValue, inside: set[Operation]) -> Attribute | None:
    """The type of `op` if it is a plain access to `pointer` and in `inside`; None for any other use."""
    match op:
        case llvm.LoadOp() if op in inside and not is_ordered(op):
            type_ = op.dereferenced_value.type
        case llvm.StoreOp() if op in inside and not is_ordered(op) and op.value is not pointer:
            type_ = op.value.type
        case _:
            return None
    return type_ if isinstance(type_, _SCALARS) else None


class LaneValues:
    """
    The values in a loop's body that depend on its variable. `privates`: the iteration's own variables that
    do, with their types.
    """

    def __init__(self, loop: scf.ForOp):
        self.loop = loop
        self.privates = _private_scalars(loop)
        self._values: set[SSAValue] = {loop.body.block.args[0], *self.privates}
        size = 0
        while size != len(self._values):
            size = len(self._values)
            self._visit(loop.body.block)

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._values

    def holds(self, op: Operation) -> bool:
        """Whether `op`, or something in it, depends on the loop's variable."""
        return any(operand in self for inner in op.walk() for operand in inner.operands)

    def _visit(self, block: Block) -> None:
        for op in block.ops:
            match op:
                case scf.ForOp():
                    self._visit_loop(op)
                case scf.IfOp():
                    for region in op.regions:
                        for inner in region.blocks:
                            self._visit(inner)
                    varies = op.cond in self or self.holds(op)
                    self._values.update(op.results if varies else ())
                case scf.WhileOp() | scf.ExecuteRegionOp():
                    self._visit_masked(op)
                case _ if any(operand in self for operand in op.operands):
                    self._values.update(op.results)
                case _:
                    pass

    def _visit_masked(self, op: Operation) -> None:
        """In a loop that lanes leave one by one, all carried values vary."""
        blocks = [block for region in op.regions for block in region.blocks]
        if self.holds(op):
            self._values.update(op.results)
            self._values.update(argument for block in blocks for argument in block.args)
        for block in blocks:
            self._visit(block)

    def _visit_loop(self, loop: scf.ForOp) -> None:
        block = loop.body.block
        end = block.last_op
        assert end is not None
        for carried, start, last, result in zip(
            block.args[1:], loop.iter_args, end.operands, loop.results, strict=True
        ):
            if start in self or last in self:
                self._values.update((carried, result))
        self._visit(block)


def stride(value: SSAValue, varying: LaneValues) -> int | None:
    """
    By how much a number or (in bytes) an address grows from one iteration to the next; None if that is
    not constant.
    """
    if value is varying.loop.body.block.args[0]:
        return 1
    if value not in varying:
        return 0
    match value.owner:
        case arith.AddiOp() as op:
            left, right = stride(op.lhs, varying), stride(op.rhs, varying)
            return None if left is None or right is None else left + right
        case arith.SubiOp() as op:
            left, right = stride(op.lhs, varying), stride(op.rhs, varying)
            return None if left is None or right is None else left - right
        case arith.MuliOp() as op:
            for factor, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
                known, step = constant_value(factor), stride(other, varying)
                if known is not None and step is not None:
                    return known * step
            return None
        case arith.ExtSIOp() | arith.ExtUIOp() | arith.IndexCastOp() as op:
            return stride(op.input, varying)
        case llvm.GEPOp() as op:
            return _address_stride(op, varying)
        case _:
            return None


def _address_stride(gep: llvm.GEPOp, varying: LaneValues) -> int | None:
    base = stride(gep.ptr, varying)
    indices = list(gep.ssa_indices)
    if base is None or any(index in varying for index in indices[1:]):
        return None
    if not indices or indices[0] not in varying:
        return base
    if len(list(gep.rawConstantIndices.iter_values())) != 1:
        return None
    step = stride(indices[0], varying)
    return None if step is None else base + step * size_of(gep.elem_type)


def _accesses(op: Operation) -> Iterator[tuple[SSAValue, Attribute]]:
    for inner in op.walk():
        if isinstance(inner, llvm.LoadOp):
            yield inner.ptr, inner.dereferenced_value.type
        elif isinstance(inner, llvm.StoreOp):
            yield inner.ptr, inner.value.type


def _can_interchange(block: Block, varying: LaneValues) -> bool:
    """Whether the body is made of what `interchange-lanes` can take apart."""
    return all(_is_known(op, varying) for op in block.ops)


def is_masked_loop(op: scf.WhileOp | scf.ExecuteRegionOp, varying: LaneValues) -> bool:
    """
    Whether lanes can leave the loop one by one while those that have left stay inactive: a `while` loop
    without inner loops, or a loop with jumps whose state is in private variables.
    """
    if isinstance(op, scf.ExecuteRegionOp):
        flow = None if op.results else loop_flow(op.region)
        if flow is None:
            return False
        ops = [inner for block in flow.blocks for inner in list(block.ops)[:-1]]
        rest = [inner for block in flow.outside for inner in list(block.ops)[:-1]]
        inner_results = {result for inner in ops for result in inner.results}
        if any(operand in inner_results for inner in rest for operand in inner.operands):
            return False
        return all(_is_maskable(inner, varying) for inner in ops) and all(
            _is_known(inner, varying) for inner in rest
        )
    end = op.before_region.block.last_op
    assert isinstance(end, scf.ConditionOp)
    blocks = (op.before_region.block, op.after_region.block)
    return all(_is_maskable(inner, varying) for block in blocks for inner in list(block.ops)[:-1])


def _is_maskable(op: Operation, varying: LaneValues) -> bool:
    """Whether `op` may be masked off for lanes that have left a loop."""
    match op:
        case scf.ForOp() | scf.WhileOp() | scf.ExecuteRegionOp():
            return False
        case scf.IfOp():
            scalars = all(isinstance(result.type, _SCALARS) for result in op.results)
            return scalars and all(
                _is_maskable(inner, varying)
                for region in op.regions
                for block in region.blocks
                for inner in block.ops
            )
        case llvm.CallOp():
            # All lanes make the call, so it must have a vector form.
            name = callee_of(op) or ""
            fast = name.startswith(FAST_PREFIX) or name in _INSTRUCTIONS
            return fast or (name.startswith(PREFIX) and op.results[0].type == f32)
        case _:
            return _is_known(op, varying)


def _is_known(op: Operation, varying: LaneValues) -> bool:
    if not all(isinstance(result.type, _SCALARS) for result in op.results):
        return False
    match op:
        case scf.ForOp():
            bounds = (op.lb, op.ub, op.step)
            alike = not any(bound in varying for bound in bounds)
            return alike and _can_interchange(op.body.block, varying)
        case scf.WhileOp() | scf.ExecuteRegionOp():
            return is_masked_loop(op, varying)
        case scf.IfOp():
            loops = (scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp)
            if any(isinstance(inner, loops) for inner in op.walk()):
                return False
            return all(
                _can_interchange(inner, varying) for region in op.regions for inner in region.blocks
            )
        case llvm.LoadOp():
            return not is_ordered(op)
        case llvm.StoreOp():
            # Other local memory, and variables that several iterations write, exist once for all lanes.
            if op.ptr in varying.privates:
                return True
            private = isinstance(base_of(op.ptr).owner, llvm.AllocaOp)
            return not is_ordered(op) and not private and op.ptr in varying
        case scf.YieldOp():
            return True
        case _:
            return is_lane_wise(op) and not op.regions


def is_evidently_independent(loop: scf.ForOp) -> bool:
    """
    Whether no iteration of a loop without a directive depends on another, as far as memory shows:
    iterations read only variables that they have written before, and store once, each to an element of its
    own.
    """
    varying = LaneValues(loop)
    stores: list[llvm.StoreOp] = []
    written: set[SSAValue] = set()
    for op in loop.body.walk():
        match op:
            case llvm.LoadOp() if op.ptr not in written:
                return False
            case llvm.StoreOp() if op.ptr not in varying.privates:
                stores.append(op)
            case llvm.StoreOp() if _runs_always(op, loop):
                written.add(op.ptr)
            case _:
                pass
    return (
        not loop.iter_args
        and all(stride(store.ptr, varying) == size_of(store.value.type) for store in stores)
        and len(stores) == 1
    )


def _runs_always(op: Operation, loop: scf.ForOp) -> bool:
    """
    Whether `op` runs in every iteration: it is directly in the body, or in the entry block of a region with
    jumps.
    """
    block = op.parent_block()
    around = op.parent_op()
    while isinstance(around, scf.ExecuteRegionOp) and block is around.region.blocks[0]:
        block, around = around.parent_block(), around.parent_op()
    return around is loop


def _carried_values(loop: Operation, varying: LaneValues) -> int:
    """
    The registers that an inner loop's carried values take for each register of lanes; a mask counts as one.
    """
    if isinstance(loop, scf.ForOp):
        return sum(result in varying for result in loop.results)
    private = {pointer for pointer, _ in _accesses(loop) if pointer in varying.privates}
    return len(loop.results) + len(private) + 1


def _may_take_rows(loop: scf.ForOp, varying: LaneValues, *, in_order: bool) -> bool:
    """
    Whether lanes with rows of their own shorten all loops in `loop`, which must be straight-line code that is
    not unrolled. Unless `in_order`, LLVM vectorises sums along the rows, but not recurrences.
    """
    if any(isinstance(op, scf.IfOp | scf.WhileOp | scf.ExecuteRegionOp) for op in loop.body.walk()):
        return False
    inner = [op for op in loop.body.walk() if isinstance(op, scf.ForOp)]
    trips = [constant_trips(op.lb, op.ub, op.step) for op in inner]
    if any(n is not None and n <= UNROLLED_TRIPS for n in trips):
        return False
    innermost = [op for op in inner if not any(i.parent_op() is op for i in inner)]
    return all(
        rows_side_by_side(waiting_cycles(op, in_order=in_order), len(_apart(op, varying)))
        for op in innermost
    )


def _apart(op: Operation, varying: LaneValues) -> set[tuple[SSAValue, Polynomial]]:
    """The elements that `op` accesses apart from those of the neighbouring lane."""
    symbols = Symbols(op)
    return {
        offset_of(pointer, symbols)
        for pointer, type_ in _accesses(op)
        if pointer in varying
        and pointer not in varying.privates
        and stride(pointer, varying) != size_of(type_)
    }


def lanes_of(loop: scf.ForOp, *, in_order: bool = True) -> Lanes | None:
    """
    The width and count of lanes for the loop's iterations; None if the loop stays as it is. `in_order`: sums
    of floats are computed in the order of the program.
    """
    if loop.iter_args or constant_value(loop.step) != 1:
        return None
    varying = LaneValues(loop)
    loops = (scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp)
    inside = [op for op in loop.body.block.ops if isinstance(op, loops) and varying.holds(op)]
    if not inside or not _can_interchange(loop.body.block, varying):
        return None
    rows = any(_apart(inner, varying) for inner in inside)
    if rows and not _may_take_rows(loop, varying, in_order=in_order):
        return None
    sizes: set[int] = set()
    for inner in inside:
        accessed = [type_ for pointer, type_ in _accesses(inner) if pointer in varying]
        sizes.update(map(size_of, accessed))
    carried = [result for inner in inside for result in inner.results if result in varying]
    sizes |= {size_of(value.type) for value in carried}
    if not sizes or max(sizes) > 8:
        return None
    widest = max(max(sizes), 4)
    most = max(map(partial(_carried_values, varying=varying), inside))
    count = min(MOST_SIDE_BY_SIDE, max(1, REGISTERS // max(most, 1)))
    while count & (count - 1):
        count -= 1
    width = REGISTER_BYTES // widest
    return Lanes(width, min(count, ROWS // width) if rows else count)
