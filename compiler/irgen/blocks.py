"""
Statements with jumps → basic blocks. Variables assigned in them are in memory (`facts.py`), so blocks
carry no arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects import arith, cf, llvm
from xdsl.dialects.builtin import DenseIntElementsAttr, VectorType, i64
from xdsl.ir import Block, SSAValue

from ..c import ast as c
from ..c.tree import children
from ..c.types import RecordType
from . import cleanups
from .builder import as_signed
from .function import FunctionState, JumpTargets
from .layout import is_integer_type
from .records_by_value import give_result

_MOST_OWN_LABELS = 24
"""
Up to this number of labels, each `goto *p` has a switch of its own. With more, all share one: Lua's
interpreter, with 83 labels, takes LLVM 10 s with a switch for each, 0.8 s with one, and runs equally fast.
"""


def emit_if(fn: FunctionState, s: c.If) -> None:
    truth = fn.condition(s.condition)
    fn.b.at(s.loc)
    then, end = fn.new_block(), Block()
    otherwise = end if s.otherwise is None else fn.new_block()
    fn.b.cond_branch(truth, then, otherwise)
    _branch_part(fn, then, s.then, end)
    if s.otherwise is not None:
        _branch_part(fn, otherwise, s.otherwise, end)
    fn.append(end)


def _branch_part(fn: FunctionState, block: Block, part: c.Stmt, end: Block) -> None:
    saved = dict(fn.values)
    fn.b.block = block
    fn.statement(part)
    fn.b.branch(end)
    fn.values = saved


def emit_loop(fn: FunctionState, s: c.For | c.While | c.DoWhile) -> None:
    """A loop with jumps out of its body (C11 6.8.5)."""
    fn.loop_level += 1
    if isinstance(s, c.For) and s.init is not None:
        fn.statement(s.init)
    body, step, test, end = Block(), Block(), Block(), Block()
    saved_targets, saved_values = fn.targets, dict(fn.values)
    around = len(fn.exits)
    fn.targets = JumpTargets(end, step, around, around)
    fn.b.at(s.loc)
    fn.b.branch(body if isinstance(s, c.DoWhile) else test)
    if not isinstance(s, c.DoWhile):
        fn.append(test)
        _emit_test(fn, s.condition, body, end)
    fn.append(body)
    fn.statement(s.body)
    fn.b.branch(step)
    fn.append(step)
    if isinstance(s, c.DoWhile):
        _emit_test(fn, s.condition, body, end)
    else:
        if isinstance(s, c.For) and s.step is not None:
            fn.discard(s.step)
        fn.b.branch(test)
    fn.targets, fn.values = saved_targets, saved_values
    fn.append(end)
    fn.loop_level -= 1


def _emit_test(fn: FunctionState, test: c.Expr | None, body: Block, end: Block) -> None:
    if test is None:
        fn.b.branch(body)
        return
    truth = fn.condition(test)
    fn.b.cond_branch(truth, body, end)


def emit_switch(fn: FunctionState, s: c.Switch) -> None:
    """`switch` (C11 6.8.4.2): one block per label, in the order of the body."""
    value = fn.rvalue(s.value)
    fn.b.at(s.loc)
    t = value.type
    assert is_integer_type(t)
    end, default = Block(), None
    cases: dict[int, Block] = {}
    ranges: list[tuple[int, int, Block]] = []
    for label in _labels(s.body):
        block = Block()
        fn.case_blocks[id(label)] = block
        if label.value is None:
            default = block
        elif label.last is not None or t.width.data > 64:
            ranges.append((label.value, label.last or label.value, block))
        else:
            cases[as_signed(label.value, t.width.data)] = block
    values = None
    if cases:
        values = DenseIntElementsAttr.from_list(VectorType(t, [len(cases)]), list(cases))
    targets = list(cases.values())
    other = fn.new_block() if ranges else default or end
    fn.b.add(cf.SwitchOp(value, other, [], values, targets, [[] for _ in targets]))
    for number, (first, last, block) in enumerate(ranges):
        fn.b.block = other
        other = fn.new_block() if number + 1 < len(ranges) else default or end
        distance = fn.b.value(arith.SubiOp(value, fn.b.int(first, t)))
        fn.b.cond_branch(fn.b.cmp("ule", distance, fn.b.int(last - first, t)), block, other)
    saved_targets, saved_values = fn.targets, dict(fn.values)
    fn.targets = replace(fn.targets, on_break=end, outside_break=len(fn.exits))
    fn.b.block = fn.new_block()
    fn.statement(s.body)
    fn.b.branch(end)
    fn.targets, fn.values = saved_targets, saved_values
    fn.append(end)


def _labels(s: c.Stmt) -> Iterator[c.Case]:
    """The labels of a switch with body `s`, not those of switches inside."""
    if isinstance(s, c.Case):
        yield s
    for child in children(s):
        if isinstance(child, c.Stmt) and not isinstance(child, c.Switch):
            yield from _labels(child)


def emit_case(fn: FunctionState, s: c.Case) -> None:
    block = fn.case_blocks.pop(id(s))
    fn.b.branch(block)
    fn.append(block)
    fn.statement(s.body)


def emit_label(fn: FunctionState, s: c.Label) -> None:
    block = fn.labels.setdefault(s.name, Block())
    fn.b.branch(block)
    fn.append(block)
    fn.statement(s.body)


def emit_jump(fn: FunctionState, s: c.Break | c.Continue | c.Goto) -> None:
    """`break`, `continue`, `goto` (C11 6.8.6)."""
    fn.b.at(s.loc)
    if isinstance(s, c.Goto):
        cleanups.refuse(fn, s.loc)
        target = fn.labels.setdefault(s.label, Block())
    elif isinstance(s, c.Break):
        target = fn.targets.on_break
        fn.leave(fn.targets.outside_break)
    else:
        target = fn.targets.on_continue
        fn.leave(fn.targets.outside_continue)
    if target is None:
        raise fn.leaves_construct(f"this '{type(s).__name__.lower()}'", s.loc)
    fn.b.branch(target)


def emit_computed_goto(fn: FunctionState, s: c.ComputedGoto) -> None:
    """
    `goto *p` (GNU C): a switch over the numbers of the labels. In a function with many labels, all jumps
    share one switch: edges from each of hundreds of jumps to each of hundreds of labels would take LLVM
    minutes.
    """
    cleanups.refuse(fn, s.loc)
    value = fn.b.to_int(fn.rvalue(s.target))
    fn.b.at(s.loc)
    targets = [fn.labels.setdefault(name, Block()) for name in s.labels]
    if not targets:
        fn.b.add(llvm.UnreachableOp())
        return
    if len(targets) > _MOST_OWN_LABELS:
        shared = fn.dispatch
        if shared is not None:
            fn.b.add(cf.BranchOp(shared, value))
            return
        fn.dispatch = shared = Block(arg_types=[i64])
        fn.b.add(cf.BranchOp(shared, value))
        fn.append(shared)
        (value,) = shared.args
    numbers = list(s.labels.values())
    values = DenseIntElementsAttr.from_list(VectorType(i64, [len(numbers)]), numbers)
    empty: list[list[SSAValue]] = [[] for _ in targets]
    fn.b.add(cf.SwitchOp(value, targets[0], [], values, targets, empty))


def emit_return(fn: FunctionState, s: c.Return) -> None:
    """`return` (C11 6.8.6.4)."""
    if fn.constructs:
        raise fn.leaves_construct("this 'return'", s.loc)
    value = None
    if s.value is not None:
        if isinstance(s.value.type, RecordType) or fn.returns_value:
            value = fn.rvalue(s.value)
        else:
            fn.discard(s.value)
    fn.b.at(s.loc)
    if value is None and fn.function is not None and fn.returns_value:
        # `return;`: callers must not use the value (C90 3.6.6.4)
        value = fn.b.zero(fn.module.types.convert(fn.function.type.result))
    fn.leave()
    if value is not None and fn.convention is not None:
        assert fn.function is not None
        entry = fn.allocas[0].block
        target = entry.args[0] if entry.args else value
        t = fn.function.type.result
        value = give_result(fn, fn.convention.result, t, value, target)
    fn.b.add(llvm.ReturnOp(value))
