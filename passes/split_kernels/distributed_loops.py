"""
Loop distribution: a loop becomes several, each with a part of the statements of its body, where every element
still gets its values in the order in which the program computes them.

Statements that must stay in one loop are found from their accesses: of two in different loops, the later one
stores nothing that the earlier one accesses, and what the earlier one stores and the later one loads is, in
each iteration, what that iteration has stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from xdsl.dialects import llvm, scf
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.volatility import is_ordered
from ..decisions.fusion import MOST_OPERATIONS
from ..ir.dependence.loop_dependence import is_independent
from ..ir.ops.building import Cursor, erase
from ..ir.ops.purity import is_pure
from ..ir.values.accesses import may_alias, root_of, told_apart
from ..ir.values.region_values import variable_key

MOST_STATEMENTS = 8
"""The most statements of a body that is distributed: all pairs are compared."""


@dataclass(frozen=True)
class _Access:
    root: SSAValue
    type: Attribute
    writes: bool
    place: int
    """The position in the body, of the statement or of a load between statements."""


def distribute(loop: scf.ForOp, kernels: Operation) -> list[scf.ForOp]:
    """
    Loops, before `loop`, that together do the same, each with as few statements as possible; empty if it
    cannot be divided. Loops in its body are divided first.
    """
    whole = _part(loop, range(len(loop.body.block.ops)))
    for inner in [op for op in whole.body.block.ops if isinstance(op, scf.ForOp)]:
        if _divided(inner, kernels):
            erase(inner)
    parts = _divided(whole, kernels)
    erase(whole)
    return parts


def _divided(loop: scf.ForOp, kernels: Operation) -> list[scf.ForOp]:
    statements = _statements(loop)
    if not 2 <= len(statements) <= MOST_STATEMENTS:
        return []
    groups = _groups(loop, statements, kernels)
    return [_part(loop, group) for group in groups] if len(groups) > 1 else []


def _statements(loop: scf.ForOp) -> list[int]:
    """The positions, in the body, of what stores; empty if something can be neither moved nor copied."""
    found: list[int] = []
    if next(islice(loop.walk(), MOST_OPERATIONS, None), None) is not None:
        return []
    for position, op in enumerate(loop.body.block.ops):
        match op:
            case scf.ForOp() | scf.IfOp() if not op.results and _is_plain(op):
                found.append(position)
            case llvm.StoreOp() if not is_ordered(op):
                found.append(position)
            case llvm.LoadOp() if not is_ordered(op):
                pass
            case llvm.AllocaOp():
                return []
            case _ if is_pure(op) or op.has_trait(IsTerminator):
                pass
            case _:
                return []
    return found


def _is_plain(statement: Operation) -> bool:
    """Whether a statement consists of computations, loads, stores, loops and conditions."""
    return not any(isinstance(op, llvm.AllocaOp) for op in statement.walk()) and all(
        is_pure(op)
        or op.has_trait(IsTerminator)
        or isinstance(op, scf.ForOp | scf.IfOp)
        or (isinstance(op, llvm.LoadOp | llvm.StoreOp) and not is_ordered(op))
        for op in statement.walk()
    )


def _part(loop: scf.ForOp, kept: Sequence[int]) -> scf.ForOp:
    """A copy of `loop`, before it, with the statements at the positions `kept` and what they use."""
    made = Cursor.before(loop).clone(loop, {})
    for position, op in reversed(list(enumerate(made.body.block.ops))):
        if position in kept or op.has_trait(IsTerminator):
            continue
        if all(result.first_use is None for result in op.results):
            erase(op)
    return made


def _accesses(loop: scf.ForOp, statement: int) -> list[_Access]:
    """What a statement accesses, with the loads before it of which it uses the values."""
    block = loop.body.block
    operations = list(block.ops)
    places = {op: position for position, op in enumerate(operations)}
    needed: dict[Operation, None] = {operations[statement]: None}
    work = [operations[statement]]
    while work:
        for op in work.pop().walk():
            for operand in op.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and owner in places and owner not in needed:
                    needed[owner] = None
                    work.append(owner)
    found: list[_Access] = []
    for top in needed:
        for op in top.walk():
            if isinstance(op, llvm.LoadOp):
                type_ = op.dereferenced_value.type
                found.append(_Access(root_of(op.ptr), type_, False, places[top]))
            elif isinstance(op, llvm.StoreOp):
                found.append(_Access(root_of(op.ptr), op.value.type, True, places[top]))
    return found


def _meet(one: _Access, other: _Access, loop: scf.ForOp) -> bool:
    """Whether two accesses in `loop`, of which one writes, may be of one element."""
    if not (one.writes or other.writes):
        return False
    if variable_key(one.root) == variable_key(other.root):
        return True
    if told_apart(one.root, other.root, loop):
        return False
    loaded = any(isinstance(each.root.owner, llvm.LoadOp) for each in (one, other))
    return loaded or may_alias(one.root, other.root, (one.type, other.type))


def _groups(loop: scf.ForOp, statements: Sequence[int], kernels: Operation) -> list[list[int]]:
    """The statements that stay in one loop, in an order in which the loops may run."""
    accesses = {statement: _accesses(loop, statement) for statement in statements}
    after: dict[int, set[int]] = {statement: {statement} for statement in statements}
    for index, first in enumerate(statements):
        for second in statements[index + 1 :]:
            pairs = [(a, b) for a in accesses[first] for b in accesses[second] if _meet(a, b, loop)]
            if not pairs:
                continue
            after[first].add(second)
            returns = any(b.writes or b.place < first for _, b in pairs)
            if returns or not _is_own(loop, first, second, kernels):
                after[second].add(first)
    for through in statements:
        for begin in statements:
            if through in after[begin]:
                after[begin] |= after[through]
    groups: list[list[int]] = []
    for statement in statements:
        if not any(statement in group for group in groups):
            same = [other for other in after[statement] if statement in after[other]]
            groups.append(sorted(same))
    # A group that others come after reaches more statements than they do.
    return sorted(groups, key=lambda group: -len(after[group[0]]))


def _is_own(loop: scf.ForOp, first: int, second: int, kernels: Operation) -> bool:
    """Whether what the statement `second` loads is nothing that other iterations of `first` store."""
    trial = _part(loop, (first, second))
    end = trial.body.block.last_op
    last = end.prev_op if end is not None else None
    assert last is not None
    # What fed the stores is loaded still: it is what the question is about.
    for store in [op for op in last.walk() if isinstance(op, llvm.StoreOp)]:
        erase(store)
    found = is_independent(trial, kernels)
    erase(trial)
    return found
