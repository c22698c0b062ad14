"""
Structured statements → `scf.if`, `scf.for`, `scf.while`; their results are the SSA variables that
they assign.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Region, SSAValue

from ..base.names import value_name
from ..c import ast as c
from . import bodies
from .counted import CountedLoop
from .counters import Counter, make_counter
from .function import FunctionState


def in_order(variables: Iterable[c.VarDecl]) -> list[c.VarDecl]:
    """Variables in the order of their declarations, so that output is reproducible."""
    return sorted(variables, key=lambda v: (v.loc.file, v.loc.line, v.loc.column, v.name))


def _bind(fn: FunctionState, carried: list[c.VarDecl], values: Iterable[SSAValue]) -> None:
    for v, value in zip(carried, values, strict=True):
        value.name_hint = value_name(v.name)
        fn.values[v] = value


def _values(fn: FunctionState, carried: list[c.VarDecl]) -> list[SSAValue]:
    return [fn.read(v) for v in carried]


def emit_if(fn: FunctionState, s: c.If) -> None:
    """`if` (C11 6.8.4.1)."""
    truth = fn.condition(s.condition)
    parts = [s.then] if s.otherwise is None else [s.then, s.otherwise]
    changed = in_order({v for p in parts for v in fn.facts.assigned(p)})
    before = _values(fn, changed)
    fn.b.at(s.loc)
    regions: list[Region] = []
    for part in (s.then, s.otherwise):
        if part is None and not changed:
            continue
        with fn.region(Block(), flat=False) as region:
            if part is not None:
                bodies.emit_body(fn, part)
            fn.b.at(s.loc)
            fn.b.add(scf.YieldOp(*_values(fn, changed)))
        regions.append(region)
    otherwise = regions[1] if len(regions) > 1 else None
    fn.b.at(s.loc)
    op = fn.b.add(scf.IfOp(truth, [v.type for v in before], regions[0], otherwise))
    _bind(fn, changed, op.results)


def emit_loop(fn: FunctionState, s: c.For | c.While | c.DoWhile) -> None:
    """A loop without jumps out of its body (C11 6.8.5)."""
    fn.loop_level += 1
    if isinstance(s, c.For):
        counted = fn.facts.counted.get(id(s))
        if isinstance(counted, CountedLoop):
            _emit_counted(fn, s, counted)
        else:
            if s.init is not None:
                fn.statement(s.init)
            _emit_while(fn, s, s.condition, s.body, s.step)
    elif isinstance(s, c.While):
        _emit_while(fn, s, s.condition, s.body, None)
    else:
        _emit_do(fn, s)
    fn.loop_level -= 1


def finish_counted(fn: FunctionState, loop: CountedLoop, counter: Counter) -> None:
    """Assigns the final value to a loop variable that is used after its loop."""
    if loop.declared or loop.var in fn.facts.loop_only:
        return
    final = counter.final()
    if fn.in_memory(loop.var) or loop.var in fn.addresses:
        fn.b.store(final, fn.address(loop.var))
    else:
        fn.values[loop.var] = final


def enter_iteration(
    fn: FunctionState, loop: CountedLoop, counter: Counter, count: SSAValue
) -> None:
    """Assigns the loop variable its value in the iteration with counter `count`."""
    value = counter.variable(count)
    fn.values[loop.var] = value
    if loop.lent:  # each iteration has an object of its own
        fn.addresses.pop(loop.var, None)
        fn.b.store(value, fn.allocate(loop.var))
    elif loop.var in fn.facts.exposed:
        fn.b.store(value, fn.address(loop.var))


def _emit_counted(fn: FunctionState, s: c.For, loop: CountedLoop) -> None:
    counter = make_counter(fn, loop)
    carried = in_order(fn.facts.assigned(s.body))
    initial = _values(fn, carried)
    block = Block(arg_types=[counter.lower.type, *(v.type for v in initial)])
    block.args[0].name_hint = value_name(loop.var.name)
    fn.b.at(s.loc)
    with fn.region(block, flat=False) as region, fn.loop_body(block):
        _bind(fn, carried, block.args[1:])
        enter_iteration(fn, loop, counter, block.args[0])
        bodies.emit_body(fn, s.body)
        fn.b.at(s.loc)
        fn.b.add(scf.YieldOp(*_values(fn, carried)))
    op = fn.b.add(scf.ForOp(counter.lower, counter.upper, counter.step, initial, region))
    _bind(fn, carried, op.results)
    finish_counted(fn, loop, counter)


def _emit_while(
    fn: FunctionState,
    s: c.Stmt,
    test: c.Expr | None,
    body: c.Stmt,
    step: c.Expr | None,
) -> None:
    nodes = [n for n in (test, body, step) if n is not None]
    carried = in_order({v for n in nodes for v in fn.facts.assigned(n)})
    initial = _values(fn, carried)
    types = [v.type for v in initial]
    before, after = Block(arg_types=types), Block(arg_types=types)
    fn.b.at(s.loc)
    with fn.region(before, flat=False) as before_region:
        _bind(fn, carried, before.args)
        truth = fn.b.int(1, i1) if test is None else fn.condition(test)
        fn.b.add(scf.ConditionOp(truth, *_values(fn, carried)))
    with fn.region(after, flat=False) as after_region:
        _bind(fn, carried, after.args)
        bodies.emit_body(fn, body)
        if step is not None:
            fn.discard(step)
        fn.b.add(scf.YieldOp(*_values(fn, carried)))
    fn.b.at(s.loc)
    op = fn.b.add(scf.WhileOp(initial, types, before_region, after_region))
    _bind(fn, carried, op.results)


def _emit_do(fn: FunctionState, s: c.DoWhile) -> None:
    carried = in_order(fn.facts.assigned(s.body) | fn.facts.assigned(s.condition))
    initial = _values(fn, carried)
    types = [v.type for v in initial]
    before, after = Block(arg_types=types), Block(arg_types=types)
    fn.b.at(s.loc)
    with fn.region(before, flat=False) as before_region:
        _bind(fn, carried, before.args)
        bodies.emit_body(fn, s.body)
        truth = fn.condition(s.condition)
        fn.b.add(scf.ConditionOp(truth, *_values(fn, carried)))
    with fn.region(after, flat=False) as after_region:
        fn.b.add(scf.YieldOp(*after.args))
    fn.b.at(s.loc)
    op = fn.b.add(scf.WhileOp(initial, types, before_region, after_region))
    _bind(fn, carried, op.results)
