"""
The scalars from outside that each loop of a function uses, found in one walk, and the facts by which
`scalar_classes` classifies them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, llvm
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from ..ops.acc_ops import COMPUTE_OPS, is_defined_inside, parent_operation
from ..ops.building import constant_value
from ..ops.loop_bounds import bounds_of
from .reduction_forms import Operator, reduction_operator
from .scalar_classes import ScalarClass, ScalarFacts, classify
from .scalar_flow import LOOPS, ScalarFlow

Guard = tuple[SSAValue, SSAValue]
"""The lower and upper bound of an inner loop that must run at least once for a variable to be written."""

UsesOf = dict[SSAValue, list[Operation]]
"""Address of a scalar → the operations that use it."""


@dataclass(frozen=True)
class Decision:
    """
    The class of a scalar in a loop. `read` and `write` are uses that show the reason; `certain`: an
    iteration certainly reads a value that the one before it has written. `guards`: for a last value, the
    inner loops that must run. `exposed`: pointers may point to it.
    """

    pointer: SSAValue
    kind: ScalarClass
    uses: Sequence[Operation]
    operator: Operator | None = None
    read: Operation | None = None
    write: Operation | None = None
    certain: bool = False
    guards: tuple[Guard, ...] = ()
    exposed: bool = False


def uses_by_loop(flow: ScalarFlow) -> dict[Operation, UsesOf]:
    """Loop or construct → the scalars from outside that it uses, each with the operations that use it."""
    found: dict[Operation, UsesOf] = {}
    for op, pointer in flow.named:
        _add(found, op, pointer)
    return found


def _add(found: dict[Operation, UsesOf], op: Operation, pointer: SSAValue) -> None:
    home = parent_operation(pointer)
    home = home if home is None or pointer.owner is not home else home.parent_op()
    around = op.parent_op()
    while around is not None and around is not home:
        if isinstance(around, (*LOOPS, *COMPUTE_OPS)) and pointer not in around.operands:
            found.setdefault(around, {}).setdefault(pointer, []).append(op)
        around = around.parent_op()


def is_plain_write(op: Operation, pointer: SSAValue) -> bool:
    """Whether a use writes, or may write, the variable other than atomically."""
    match op:
        case llvm.LoadOp() | acc.PrivateOp() | acc.FirstprivateOp():
            return False
        case _ if op.name.startswith("acc.atomic"):
            return op.operands[0] is not pointer
        case acc.LoopOp():
            return False
        case llvm.CallOp():
            return not _is_atomic_call(op, pointer, frozenset())
        case _:
            return True


def _is_atomic_call(call: llvm.CallOp, pointer: SSAValue, around: frozenset[Operation]) -> bool:
    """
    Whether a function of the program that gets the variable's address only reads, and updates atomically,
    what it points to; `around`: the functions that call it, of which it may be one.
    """
    name = call.callee
    function = None if name is None else SymbolTable.lookup_symbol(call, name)
    if not isinstance(function, llvm.FuncOp) or not function.body.blocks:
        return False
    if function in around:
        return True
    arguments = function.body.blocks[0].args
    return all(
        index < len(arguments) and not _writes_plainly(arguments[index], around | {function})
        for index, operand in enumerate(call.args)
        if operand is pointer
    )


def _writes_plainly(argument: SSAValue, around: frozenset[Operation]) -> bool:
    """Whether a function may write what its argument points to otherwise than atomically."""
    for use in argument.uses:
        match use.operation:
            case llvm.CallOp() as call:
                plain = not _is_atomic_call(call, argument, around)
            case llvm.StoreOp() as store if store.value is argument:
                copies = _loads_of_only(store)
                plain = copies is None or any(_writes_plainly(c, around) for c in copies)
            case op:
                plain = is_plain_write(op, argument)
        if plain:
            return True
    return False


def _loads_of_only(store: llvm.StoreOp) -> list[SSAValue] | None:
    """The values that are loaded from a local variable to which only `store` stores; None for others."""
    others = [use.operation for use in store.ptr.uses if use.operation is not store]
    if not isinstance(store.ptr.owner, llvm.AllocaOp):
        return None
    loads = [op.dereferenced_value for op in others if isinstance(op, llvm.LoadOp)]
    return list(loads) if len(loads) == len(others) else None


def decide(
    loop: Operation,
    pointer: SSAValue,
    uses: Sequence[Operation],
    flow: ScalarFlow,
    clauses: Mapping[Operation, Operator],
) -> Decision:
    """Classifies the scalar at `pointer`, which `loop` uses by `uses`."""
    uses = [op for op in uses if not isinstance(op, acc.PrivateOp | acc.LoopOp)]
    writes = [op for op in uses if is_plain_write(op, pointer)]
    stores = [op for op in writes if isinstance(op, llvm.StoreOp)]
    reads_first = flow.reads_first(loop, pointer)
    operator = reduction_operator(uses, clauses) if writes and reads_first else None
    guards = _certain_write(loop, set(stores)) if writes and not reads_first else None
    facts = ScalarFacts(
        written=bool(writes),
        reads_first=reads_first,
        certainly_written=flow.certainly_writes(loop, pointer) or guards is not None,
        live=flow.is_live_after(loop, pointer),
        one_value=len(stores) == len(uses) and _one_value(loop, stores),
        operator=operator,
    )
    others = [op for op in uses if op not in stores]
    return Decision(
        pointer,
        classify(facts),
        uses,
        operator,
        read=others[0] if others else None,
        write=writes[0] if writes else None,
        certain=reads_first and _certainly_read(loop, set(uses)),
        guards=guards or (),
    )


def _one_value(loop: Operation, stores: Sequence[llvm.StoreOp]) -> bool:
    """Whether all stores store one constant, or one value from outside of the loop."""
    if not stores:
        return False
    first = stores[0].value
    return all(
        (store.value is first and not is_defined_inside(first, loop))
        or (
            constant_value(first) is not None
            and constant_value(store.value) == constant_value(first)
        )
        for store in stores
    )


def _body(loop: Operation) -> Block | None:
    blocks = loop.regions[0].blocks
    return blocks[0] if len(blocks) == 1 else None


def _certain_write(loop: Operation, stores: set[llvm.StoreOp]) -> tuple[Guard, ...] | None:
    """
    The inner loops that must run for every iteration to write the variable; whether they run must not
    depend on the iteration. None if an iteration may leave the variable unwritten.
    """
    return _certain_in(loop, _body(loop), stores)


def _certain_in(
    loop: Operation, block: Block | None, stores: set[llvm.StoreOp]
) -> tuple[Guard, ...] | None:
    for op in block.ops if block is not None else ():
        if op in stores:
            return ()
        if not isinstance(op, LOOPS):
            continue
        inner = _certain_in(loop, _body(op), stores)
        if inner is None:
            continue
        bounds = [(lower, upper) for _, lower, upper, _ in bounds_of(op)]
        if any(
            is_defined_inside(value, loop) and constant_value(value) is None
            for b in bounds
            for value in b
        ):
            return None
        return (*bounds, *inner)
    return None


def _certainly_read(loop: Operation, uses: set[Operation]) -> bool:
    """Whether every iteration's first use of a variable is a read."""
    return _first_is_load(_body(loop), uses)


def _first_is_load(block: Block | None, uses: set[Operation]) -> bool:
    for op in block.ops if block is not None else ():
        if op in uses:
            return isinstance(op, llvm.LoadOp)
        if not op.regions or not any(inner in uses for inner in op.walk()):
            continue
        return isinstance(op, LOOPS) and _first_is_load(_body(op), uses)
    return False
