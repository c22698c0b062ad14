"""
The scalars of one function's loops: the role of each in a loop (`scalar_uses.py`), and the clauses
written for it. Made before the function's loops change; it takes account of its own changes only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import SymbolTable

from ....dialects.volatility import is_volatile
from ..data.visible_data import visible_entry
from ..ops.acc_ops import (
    COMPUTE_OPS,
    MAPPING_OPS,
    PRIVATIZING_OPS,
    enclosing,
    is_defined_inside,
    is_inside,
    is_scalar,
)
from ..values.accesses import address_escapes, root_of
from .recipe_reading import Recipes
from .reduction_forms import Kind, Operator
from .scalar_classes import ORDERED, ScalarClass
from .scalar_clauses import (
    add_private,
    add_reduction,
    can_keep_last,
    keep_flag,
    keep_last,
    replace_in,
    store_flag,
    store_last,
)
from .scalar_flow import ScalarFlow
from .scalar_uses import Decision, decide, uses_by_loop


def global_scalars(module: ModuleOp) -> frozenset[str]:
    """The names of global scalar variables."""
    return frozenset(
        op.sym_name.data
        for op in module.body.block.ops
        if isinstance(op, llvm.GlobalOp) and op.constant is None and is_scalar(op.global_type)
    )


def exposed_globals(module: ModuleOp) -> frozenset[str]:
    """
    The names of global variables whose address is used other than to access them: pointers may point to
    them.
    """
    return frozenset(
        op.global_name.string_value()
        for op in module.walk()
        if isinstance(op, llvm.AddressOfOp) and address_escapes(op.result)
    )


def clause_operators(function: Operation, module: ModuleOp) -> dict[Operation, Operator]:
    """
    The OpenACC operators of the scalar reductions in a function; reductions with other combiners are left
    out.
    """
    recipes, found = Recipes(module), dict[Operation, Operator]()
    for op in function.walk():
        if isinstance(op, acc.ReductionOp) and is_scalar(op.var_type) and not op.bounds:
            operator = recipes.operator(op)
            if operator is not None:
                found[op] = Operator(operator.kind, not operator.unsigned)
    return found


def is_shared(pointer: SSAValue, construct: Operation | None) -> bool:
    """Whether a scalar is one place in memory for all gangs of a construct (None: in a routine)."""
    owner = pointer.owner
    if isinstance(owner, PRIVATIZING_OPS):
        return False
    if isinstance(owner, MAPPING_OPS):
        return True
    if construct is None:
        return isinstance(owner, llvm.AddressOfOp)
    if is_defined_inside(pointer, construct):
        return False
    if isinstance(construct, acc.KernelsOp) or visible_entry(construct, pointer) is not None:
        return True
    return isinstance(owner, llvm.AddressOfOp) and _is_declared(owner, construct)


def _is_declared(address: llvm.AddressOfOp, construct: Operation) -> bool:
    found = SymbolTable.lookup_symbol(construct, address.global_name)
    return isinstance(found, llvm.GlobalOp) and "acc.declare" in found.attributes


class FunctionScalars:
    """See the module's description."""

    def __init__(
        self,
        function: llvm.FuncOp,
        module: ModuleOp,
        global_names: frozenset[str],
        exposed: frozenset[str] = frozenset(),
    ):
        self.module = module
        self.exposed = exposed
        """The result of `exposed_globals` for the module."""
        self.flow = ScalarFlow(function, global_names)
        self.uses = uses_by_loop(self.flow)
        self.clauses = clause_operators(function, module)

    def of(self, loop: Operation) -> list[Decision]:
        """The roles in `loop` of the scalars from outside it."""
        return [
            self._settled(decide(loop, pointer, uses, self.flow, self.clauses))
            for pointer, uses in self.uses.get(loop, {}).items()
            if not _is_volatile(uses)
        ]

    def _settled(self, decision: Decision) -> Decision:
        """
        `decision`, with a last value that cannot be stored back turned into one that needs sequential
        iterations.
        """
        if self._is_exposed(decision.pointer):
            decision = replace(decision, exposed=True)
        variable = self.variable(decision)
        kept = decision.kind is not ScalarClass.LAST or can_keep_last(variable)
        if kept or is_shared(variable, enclosing(decision.uses[0], *COMPUTE_OPS)):
            return decision
        return replace(decision, kind=ScalarClass.SOME_LAST)

    def _is_exposed(self, pointer: SSAValue) -> bool:
        root = root_of(pointer)
        if isinstance(root.owner, llvm.AddressOfOp):
            return root.owner.global_name.string_value() in self.exposed
        return isinstance(root.owner, llvm.AllocaOp) and address_escapes(root)

    def variable(self, decision: Decision) -> SSAValue:
        """
        The value that uses of the variable in the loop name now: the variable, or an enclosing loop's copy
        of it.
        """
        wanted = self.flow.bit(decision.pointer)
        for use in decision.uses:
            for operand in use.operands:
                if isinstance(operand.type, llvm.LLVMPointerType) and (
                    self.flow.bit(operand) == wanted
                ):
                    return operand
        return decision.pointer

    def write(self, loop: acc.LoopOp, decision: Decision) -> None:
        """Writes the clauses of a decision that lets the loop's iterations run concurrently."""
        if decision.kind in (ScalarClass.SHARED, *ORDERED):
            return
        variable = self.variable(decision)
        shared = is_shared(variable, enclosing(loop, *COMPUTE_OPS))
        match decision.kind:
            case ScalarClass.REDUCTION:
                assert decision.operator is not None
                self.reduce(loop, decision, decision.operator)
            case ScalarClass.FLAG:
                self._flag(loop, decision, variable, shared)
            case _:
                copy = add_private(loop, variable, self.module)
                self._use(decision, variable, copy)
                if decision.kind is ScalarClass.LAST and shared:
                    store_last(loop, variable, copy, decision.guards)
                elif decision.kind is ScalarClass.LAST:
                    keep_last(loop, variable, copy, decision.guards, self.module)

    def reduce(self, loop: acc.LoopOp, decision: Decision, operator: Operator) -> None:
        """Gives the loop a reduction clause for a variable."""
        variable = self.variable(decision)
        copy = add_reduction(loop, variable, operator, self.module)
        assert isinstance(copy.owner, acc.ReductionOp)
        self.clauses[copy.owner] = operator
        self._use(decision, variable, copy)

    def _use(self, decision: Decision, variable: SSAValue, copy: SSAValue) -> None:
        self.flow.follow(copy, decision.pointer)
        replace_in(decision.uses, variable, copy)

    def _flag(self, loop: acc.LoopOp, decision: Decision, variable: SSAValue, shared: bool) -> None:
        stores = [op for op in decision.uses if isinstance(op, llvm.StoreOp)]
        inner = {
            other: uses.pop(decision.pointer)
            for other, uses in self.uses.items()
            if decision.pointer in uses and is_inside(other, loop)
        }
        if shared:
            store_flag(stores)
            return
        total, uses = keep_flag(loop, variable, stores)
        for other in inner:
            self.uses[other][total] = [op for op in uses if is_inside(op, other)]
            self.flow.read_in(other, total)
        whole = decide(loop, total, uses, self.flow, self.clauses)
        self.reduce(loop, whole, Operator(Kind.IOR))


def _is_volatile(uses: Sequence[Operation]) -> bool:
    return any(is_volatile(op) for op in uses)
