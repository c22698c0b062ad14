"""
Turns a loop whose lanes share sums into the sequential loop that carries the sums, and back.

A pass with its own distribution of sums analyses sequential loops. A `loop reduction(+:sum)` becomes one
here, and is restored if the pass declines it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType
from xdsl.ir import Block, Operation, Region, SSAValue

from ..decisions.declined import Declined
from ..ir.loops.jamming import body_of
from ..ir.ops.acc_ops import has_level, is_defined_inside
from ..ir.ops.building import Cursor, erase
from ..ir.variables.combiners import Kind
from ..ir.variables.recipe_reading import Recipes


def _sums(loop: acc.LoopOp) -> list[acc.ReductionOp]:
    """
    The loop's reductions. Raises `Declined` if one is not a sum of scalars, or if the loop has other
    private variables.
    """
    if loop.private_operands or loop.firstprivate_operands or not loop.reduction_operands:
        raise Declined("an inner loop has variables of its own")
    if len(body_of(loop).args) != 1 or has_level(loop.gang) or not has_level(loop.vector):
        raise Declined("an inner loop is not shared by lanes")
    recipes = Recipes.around(loop)
    found: list[acc.ReductionOp] = []
    for operand in loop.reduction_operands:
        op = operand.owner
        assert isinstance(op, acc.ReductionOp)
        scalar = isinstance(op.var_type, Float32Type | Float64Type | IntegerType)
        operator = recipes.operator(op)
        is_sum = operator is not None and operator.kind is Kind.ADD
        if op.bounds or not scalar or not is_sum:
            raise Declined("an inner loop's reduction is not a sum")
        around = loop.parent_op()
        assert around is not None
        if not isinstance(op.var.owner, llvm.AllocaOp) or not is_defined_inside(op.var, around):
            raise Declined("an inner loop adds to a variable from outside")
        found.append(op)
    return found


class SumLoop:
    """
    A vector loop that reduces sums, replaced by a sequential one that carries them. Raises `Declined`,
    without a change, for other loops, and if the body stores to other memory. `undo` restores the vector
    loop, `settle` discards it.
    """

    def __init__(self, loop: acc.LoopOp):
        self._loop, self._reductions = loop, _sums(loop)
        body = body_of(loop)
        for op in body.ops:
            self._check(op)
        at = Cursor.before(loop)
        inits: list[SSAValue] = []
        for reduction in self._reductions:
            inits.append(at.load(reduction.var, reduction.var_type, reduction.var.name_hint))
        block = Block(arg_types=[body.args[0].type, *(v.type for v in inits)])
        block.args[0].name_hint = body.args[0].name_hint
        lower, upper, step = loop.lowerbound[0], loop.upperbound[0], loop.step[0]
        self.sequential = at.insert(scf.ForOp(lower, upper, step, inits, Region(block)))
        self._fill(body, block)
        results = self.sequential.results
        for reduction, old, new in zip(self._reductions, inits, results, strict=True):
            new.name_hint = old.name_hint
            at.store(new, reduction.var)
        count = len(inits)
        self._made: Sequence[Operation] = self._around(count)
        for op in (loop, *self._reductions):
            op.detach()

    def _check(self, op: Operation) -> None:
        results = set(self._loop.reduction_operands)
        if isinstance(op, llvm.StoreOp):
            if op.ptr not in results:
                raise Declined("an inner loop stores")
        elif not isinstance(op, llvm.LoadOp) and any(
            value in results for inner in op.walk() for value in inner.operands
        ):
            raise Declined("an inner loop uses the address of a sum other than to load and store")

    def _fill(self, body: Block, block: Block) -> None:
        at = Cursor.at_end(block, self._loop.location)
        values: dict[SSAValue, SSAValue] = {body.args[0]: block.args[0]}
        sums: dict[SSAValue, SSAValue] = dict(
            zip(self._loop.reduction_operands, block.args[1:], strict=True)
        )
        for reduction, argument in zip(self._reductions, block.args[1:], strict=True):
            argument.name_hint = reduction.var.name_hint
        for op in body.ops:
            match op:
                case acc.YieldOp():
                    pass
                case llvm.LoadOp() if op.ptr in sums:
                    values[op.dereferenced_value] = sums[op.ptr]
                case llvm.StoreOp():
                    sums[op.ptr] = values.get(op.value, op.value)
                case _:
                    at.clone(op, values)
        at.insert(scf.YieldOp(*sums.values()))

    def _around(self, count: int) -> list[Operation]:
        """The new operations: `count` loads before the loop, the loop, and the stores after it."""
        found: list[Operation] = [self.sequential]
        for _ in range(count):
            before, after = found[0].prev_op, found[-1].next_op
            assert before is not None and after is not None
            found = [before, *found, after]
        return found

    def undo(self) -> None:
        """Restores the vector loop."""
        block = self.sequential.parent_block()
        assert block is not None
        for op in (*self._reductions, self._loop):
            block.insert_op_before(op, self._made[0])
        for op in reversed(self._made):
            erase(op)

    def settle(self) -> None:
        """Discards the vector loop."""
        self._loop.erase()
        for reduction in self._reductions:
            reduction.erase()
