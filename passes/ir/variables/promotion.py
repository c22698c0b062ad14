"""
Scalar variables of an iteration as values, like the front end's for scalars that a body declares.

A variable that is only loaded and stored becomes the value last stored, also through conditionals and
loops (`scf.if`, `scf.for`, `scf.while`), which pass it on as a result. It stays a variable if a loop with
a directive assigns it, or if it may be read before it is assigned.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import llvm, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects.volatility import is_ordered
from ..ops.acc_ops import alloca_count
from ..ops.building import Cursor, erase


class _KeptError(Exception):
    """The variable stays one."""


def promote(variable: llvm.AllocaOp) -> bool:
    """Replaces a scalar variable by the values stored to it; returns whether that was possible."""
    accesses = _accesses(variable)
    home, region = variable.parent_block(), variable.parent_region()
    if accesses is None or home is None or region is None or len(region.blocks) != 1:
        return False
    around: dict[Operation, bool] = {}
    for op in accesses:
        parent = op.parent_op()
        stores = isinstance(op, llvm.StoreOp)
        while parent is not None and parent is not home.parent_op():
            around[parent] = around.get(parent, False) or stores
            parent = parent.parent_op()
    promotion = _Promotion(variable.res, variable.elem_type, around)
    try:
        promotion.check(home, known=False)
    except _KeptError:
        return False
    promotion.rewrite(home, None)
    erase(variable)
    return True


def _accesses(variable: llvm.AllocaOp) -> list[llvm.LoadOp | llvm.StoreOp] | None:
    """All uses of a scalar variable if they are plain loads and stores of its type; otherwise None."""
    type_ = variable.elem_type
    if not isinstance(type_, IntegerType | AnyFloat | llvm.LLVMPointerType):
        return None
    if alloca_count(variable) != 1:
        return None
    found: list[llvm.LoadOp | llvm.StoreOp] = []
    for use in variable.res.uses:
        op = use.operation
        match op:
            case llvm.LoadOp():
                value = op.dereferenced_value
            case llvm.StoreOp() if use.index == 1:
                value = op.value
            case _:
                return None
        if value.type != type_ or is_ordered(op):
            return None
        found.append(op)
    return found


@dataclass(frozen=True)
class _Promotion:
    """A variable: its address and type, and the operations around accesses to it: whether they assign it."""

    address: SSAValue
    type: Attribute
    around: dict[Operation, bool]

    def check(self, block: Block, known: bool) -> bool:
        """
        Whether the variable has a value at the end of a block. `known`: whether it has one before. Raises
        `_KeptError` if it is read where it may have none, or assigned where values cannot be passed on.
        """
        for op in block.ops:
            if self._is(op, llvm.LoadOp) and not known:
                raise _KeptError
            if self._is(op, llvm.StoreOp):
                known = True
            elif op in self.around:
                known = self._check_in(op, known)
        return known

    def _check_in(self, op: Operation, known: bool) -> bool:
        if any(len(region.blocks) > 1 for region in op.regions):
            raise _KeptError
        if not self.around[op]:
            for region in op.regions:
                for block in region.blocks:
                    self.check(block, known)
            return known
        match op:
            case scf.IfOp():
                ends = [self.check(r.block, known) if r.blocks else known for r in op.regions]
                return all(ends)
            case scf.ForOp():
                self.check(op.body.block, known)
                return known
            case scf.WhileOp():
                # A value first assigned in the condition is known to the body, too.
                ended = self.check(op.before_region.block, known)
                self.check(op.after_region.block, ended)
                return ended
            case _:
                raise _KeptError

    def _is(self, op: Operation, kind: type[llvm.LoadOp] | type[llvm.StoreOp]) -> bool:
        return isinstance(op, kind) and op.ptr is self.address

    def rewrite(self, block: Block, value: SSAValue | None) -> SSAValue | None:
        """Removes a block's accesses; `value` is the variable's before it. Returns the one at its end."""
        for op in list(block.ops):
            if isinstance(op, llvm.LoadOp) and op.ptr is self.address:
                assert value is not None
                op.dereferenced_value.replace_all_uses_with(value)
                erase(op)
            elif isinstance(op, llvm.StoreOp) and op.ptr is self.address:
                value = op.value
                if value.name_hint is None:
                    value.name_hint = self.address.name_hint
                erase(op)
            elif op in self.around:
                value = self._rewrite_in(op, value)
        return value

    def _rewrite_in(self, op: Operation, value: SSAValue | None) -> SSAValue | None:
        if not self.around[op]:
            for region in op.regions:
                for block in region.blocks:
                    self.rewrite(block, value)
            return value
        match op:
            case scf.IfOp():
                return self._rewrite_if(op, value)
            case scf.ForOp():
                return self._rewrite_for(op, value)
            case scf.WhileOp():
                return self._rewrite_while(op, value)
            case _:
                raise AssertionError(op.name)

    def _rewrite_if(self, op: scf.IfOp, value: SSAValue | None) -> SSAValue | None:
        ends = [self.rewrite(r.block, value) if r.blocks else value for r in op.regions]
        if any(end is None for end in ends):
            return None
        regions = [op.detach_region(region) for region in list(op.regions)]
        if not regions[1].blocks:
            regions[1].add_block(Block([scf.YieldOp()]))
        for region, end in zip(regions, ends, strict=True):
            _append(region.block, end)
        new = scf.IfOp(op.cond, [*op.result_types, self.type], regions[0], regions[1])
        return self._replace(op, new)

    def _rewrite_for(self, op: scf.ForOp, value: SSAValue | None) -> SSAValue | None:
        body = op.body.block
        if value is None:
            self.rewrite(body, None)
            return None
        carried = self._argument(body)
        _append(body, self.rewrite(body, carried))
        inits = [*op.iter_args, value]
        new = scf.ForOp(op.lb, op.ub, op.step, inits, op.detach_region(op.body))
        return self._replace(op, new)

    def _rewrite_while(self, op: scf.WhileOp, value: SSAValue | None) -> SSAValue | None:
        before, after = op.before_region.block, op.after_region.block
        inits, types = list(op.arguments), list(op.result_types)
        if value is not None:
            inits.append(value)
            value = self._argument(before)
        ended = self.rewrite(before, value)
        passed = None
        if ended is not None:
            _append(before, ended)
            passed = self._argument(after)
            types.append(self.type)
        last = self.rewrite(after, passed)
        if value is not None:
            _append(after, last)
        regions = [op.detach_region(region) for region in list(op.regions)]
        new = scf.WhileOp(inits, types, *regions)
        return self._replace(op, new, results=ended is not None)

    def _argument(self, block: Block) -> SSAValue:
        argument = block.insert_arg(self.type, len(block.args))
        argument.name_hint = self.address.name_hint
        return argument

    def _replace(self, op: Operation, new: Operation, *, results: bool = True) -> SSAValue | None:
        """Puts `new`, with a further result if `results`, in the place of `op`; returns that result."""
        new.attributes |= op.attributes
        new.location = op.location
        Cursor.before(op).insert(new)
        kept = new.results[:-1] if results else new.results
        for old, result in zip(op.results, kept, strict=True):
            result.name_hint = old.name_hint
            old.replace_all_uses_with(result)
        erase(op)
        if not results:
            return None
        new.results[-1].name_hint = self.address.name_hint
        return new.results[-1]


def _append(block: Block, value: SSAValue | None) -> None:
    """Appends an operand to the terminator of a block."""
    end = block.last_op
    assert end is not None and value is not None
    end.operands = [*end.operands, value]
