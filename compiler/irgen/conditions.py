"""
Truth values and conditional evaluation: `!`, `&&`, `||`, `a ? b : c` (C11 6.5.3.3, 6.5.13 to 6.5.15).
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from ..base.names import value_name
from ..c import ast as c
from ..c.sema.constants import integer_value
from ..c.tree import int_constant, walk
from ..c.types import FloatType, IntType, VoidType, is_scalar
from . import arithmetic
from .function import FunctionState

_CHEAP_LIMIT = 8
_INVERSE = (1, 0, 5, 4, 3, 2, 9, 8, 7, 6)
"""Predicate of `arith.cmpi` → its negation, by number."""


def is_comparison(e: c.Expr) -> bool:
    """Whether `e` yields 0 or 1 from an i1."""
    return (
        isinstance(e, c.BinaryOp) and (e.op in arithmetic.COMPARISONS or e.op in ("&&", "||"))
    ) or (isinstance(e, c.UnaryOp) and e.op == "!")


def condition(fn: FunctionState, e: c.Expr) -> SSAValue:
    """Whether `e` is nonzero, as i1."""
    match e:
        case c.UnaryOp(op="!"):
            return _negated(fn, e)
        case c.BinaryOp(op="&&" | "||"):
            return _short_circuit(fn, e)
        case c.BinaryOp() if e.op in arithmetic.COMPARISONS:
            x, y = fn.rvalue(e.lhs), fn.rvalue(e.rhs)
            fn.b.at(e.loc)
            return arithmetic.compare(fn.b, e.op, x, y, e.lhs.type)
        case c.Cast() if isinstance(e.type, IntType) and is_comparison(e.operand):
            return condition(fn, e.operand)
        case c.IntConst():
            fn.b.at(e.loc)
            return fn.b.int(int(e.value != 0), i1)
        case _:
            value = fn.rvalue(e)
            fn.b.at(e.loc)
            return arithmetic.truth(fn.b, value, e.type)


def _negated(fn: FunctionState, e: c.UnaryOp) -> SSAValue:
    operand = e.operand
    while isinstance(operand, c.Cast) and is_comparison(operand.operand):
        operand = operand.operand
    inner = fn.condition(operand)
    fn.b.at(e.loc)
    owner = inner.owner
    if isinstance(owner, arith.CmpiOp) and inner.first_use is None:
        owner.predicate = IntegerAttr(_INVERSE[owner.predicate.value.data], i64)
        return inner
    return fn.b.value(arith.XOrIOp(inner, fn.b.int(1, i1)))


def _short_circuit(fn: FunctionState, e: c.BinaryOp) -> SSAValue:
    """`a && b`, `a || b` (C11 6.5.13, 6.5.14)."""
    known = integer_value(e.lhs)
    if known is not None:
        decided = (known != 0) != (e.op == "&&")
        return fn.b.int(known != 0, i1) if decided else fn.condition(e.rhs)
    left = fn.condition(e.lhs)
    fn.b.at(e.loc)
    is_and = e.op == "&&"
    if is_cheap(fn, e.rhs):
        right = fn.condition(e.rhs)
        fn.b.at(e.loc)
        if not may_be_poison(e.rhs):
            return fn.b.value(arith.AndIOp(left, right) if is_and else arith.OrIOp(left, right))
        decided = fn.b.int(0 if is_and else 1, i1)
        yes, no = (right, decided) if is_and else (decided, right)
        return fn.b.value(arith.SelectOp(left, yes, no))
    evaluate, skip = (lambda: fn.condition(e.rhs)), (lambda: fn.b.int(0 if is_and else 1, i1))
    then, otherwise = (evaluate, skip) if is_and else (skip, evaluate)
    value = branch_values(fn, left, [e.rhs], then, otherwise)
    assert value is not None
    return value


def conditional(fn: FunctionState, e: c.Conditional) -> SSAValue | None:
    """`a ? b : c` (C11 6.5.15). If `a` is constant, only the chosen part is emitted, as for `isnan`."""
    chosen = integer_value(e.condition)
    if chosen is not None and is_scalar(e.type):
        return fn.rvalue(e.then if chosen else e.otherwise)
    truth = fn.condition(e.condition)
    fn.b.at(e.loc)
    if is_scalar(e.type) and is_cheap(fn, e.then) and is_cheap(fn, e.otherwise):
        x, y = fn.rvalue(e.then), fn.rvalue(e.otherwise)
        fn.b.at(e.loc)
        return fn.b.value(arith.SelectOp(truth, x, y))

    def value_of(part: c.Expr) -> SSAValue | None:
        if isinstance(e.type, VoidType):
            fn.discard(part)
            return None
        return fn.rvalue(part)

    return branch_values(
        fn,
        truth,
        [e.then, e.otherwise],
        lambda: value_of(e.then),
        lambda: value_of(e.otherwise),
    )


def is_cheap(fn: FunctionState, e: c.Expr) -> bool:
    """Whether `e` may be evaluated unconditionally: it is small and has no effects, traps, calls or memory
    accesses."""
    for count, node in enumerate(walk(e)):
        if count == _CHEAP_LIMIT:
            return False
        match node:
            case c.IntConst() | c.FloatConst() | c.Cast() | c.UnaryOp():
                pass
            case c.BinaryOp():
                if node.op in ("/", "%") and isinstance(node.type, IntType):
                    return False
            case c.Load():
                lvalue = node.lvalue
                if not isinstance(lvalue, c.VarRef) or fn.in_memory(lvalue.decl):
                    return False
            case c.VarRef():
                pass
            case _:
                return False
    return True


def may_be_poison(e: c.Expr) -> bool:
    """
    Whether evaluating the cheap `e` where C would not may give LLVM's poison value: signed overflow, a
    shift by the width or more, a real number beyond the integer type. `and` and `or` propagate poison
    whatever the other operand is; a `select` that takes the other value does not.
    """
    return any(_gives_poison(node) for node in walk(e) if isinstance(node, c.Expr))


def _gives_poison(node: c.Expr) -> bool:
    match node:
        case c.BinaryOp(op="<<" | ">>", type=IntType() as t):
            return int_constant(node.rhs) not in range(t.bits)
        case c.BinaryOp(op="+" | "-" | "*", type=IntType(signed=True)):
            return True
        case c.UnaryOp(op="-", type=IntType(signed=True)):
            return not isinstance(node.operand, c.IntConst)
        case c.Cast(type=IntType()):
            return isinstance(node.operand.type, FloatType)
        case _:
            return False


def branch_values(
    fn: FunctionState,
    truth: SSAValue,
    nodes: list[c.Expr],
    then: Callable[[], SSAValue | None],
    otherwise: Callable[[], SSAValue | None],
) -> SSAValue | None:
    """
    `scf.if` on `truth` whose result is what `then` or `otherwise` yields; SSA variables assigned in
    `nodes` become further results.
    """
    if fn.flat and any(fn.facts.jumps(n) for n in nodes):
        return _branch_in_blocks(fn, truth, then, otherwise)
    changed = sorted(
        {v for n in nodes for v in fn.facts.assigned(n)}, key=lambda v: (v.loc.line, v.name)
    )
    before = {v: fn.read(v) for v in changed}
    loc = fn.b.loc
    regions: list[Region] = []
    result_type = None
    has_value = False
    for generate in (then, otherwise):
        with fn.region(Block(), flat=False) as region:
            value = generate()
            has_value = value is not None
            out = [] if value is None else [value]
            out += [fn.values.get(v, before[v]) for v in changed]
            fn.b.add(scf.YieldOp(*out))
            result_type = [o.type for o in out]
        regions.append(region)
    fn.b.loc = loc
    op = fn.b.add(scf.IfOp(truth, result_type or [], regions[0], regions[1]))
    results = list(op.results)
    first = results.pop(0) if has_value else None
    for v, result in zip(changed, results, strict=True):
        result.name_hint = value_name(v.name)
        fn.values[v] = result
    return first


def _branch_in_blocks(
    fn: FunctionState,
    truth: SSAValue,
    then: Callable[[], SSAValue | None],
    otherwise: Callable[[], SSAValue | None],
) -> SSAValue | None:
    """`branch_values` for parts with jumps (in statement expressions), whose value is passed through
    memory."""
    first, second, end = fn.new_block(), fn.new_block(), Block()
    fn.b.cond_branch(truth, first, second)
    slot: SSAValue | None = None
    kind: Attribute = i1
    for block, generate in ((first, then), (second, otherwise)):
        saved = dict(fn.values)
        fn.b.block = block
        value = generate()
        fn.ensure_open()
        if value is not None:
            slot = fn.scratch(value.type, 16, "value") if slot is None else slot
            fn.b.store(value, slot)
            kind = value.type
        fn.b.branch(end)
        fn.values = saved
    fn.append(end)
    return None if slot is None else fn.b.load(slot, kind)
