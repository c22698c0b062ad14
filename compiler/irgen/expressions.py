"""
Expressions → SSA values. `rvalue` for a value, `condition` for a truth value (i1), `discard` for
effects only. Records and initialisers are in `objects.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from ..base.diagnostics import error
from ..base.names import value_name
from ..c import ast as c
from ..c.sema.constants import integer_value
from ..c.tree import describe, int_constant, walk
from ..c.types import (
    FloatType,
    IntType,
    PointerType,
    RecordType,
    VoidType,
    is_scalar,
)
from . import (
    arithmetic,
    atomics,
    calls,
    complex_numbers,
    inline_asm,
    lvalues,
    mismatched_calls,
    objects,
    statements,
    variable_arguments,
)
from .function import FunctionState
from .layout import PTR
from .unused_results import without_result

_CHEAP_LIMIT = 8
_INVERSE = (1, 0, 5, 4, 3, 2, 9, 8, 7, 6)
"""The `arith.cmpi` predicate that holds when another does not, by number."""


def rvalue(fn: FunctionState, e: c.Expr) -> SSAValue:
    """The value of `e`, which is not void. A record is a first-class aggregate."""
    value = _rvalue(fn, e)
    if value is None:
        if isinstance(e, c.Call):
            mismatched_calls.refuse_result(fn, e)
        raise error(e.loc, "this expression has no value", "use an expression that has one")
    return value


def _rvalue(fn: FunctionState, e: c.Expr) -> SSAValue | None:
    b = fn.b
    b.at(e.loc)
    match e:
        case c.IntConst():
            if isinstance(e.type, PointerType):
                if e.value == 0:
                    return b.zero(PTR)
                return b.value(llvm.IntToPtrOp(b.int(e.value, i64)))
            return b.int(e.value, fn.module.types.convert(e.type))
        case c.FloatConst():
            return b.float(e.value, fn.module.types.convert(e.type), e.low)
        case c.Load():
            return _load(fn, e)
        case c.Decay():
            if isinstance(e.operand, c.FunctionRef):
                return calls.function_address(fn, e.operand.decl)
            return lvalues.array_pointer(fn, e.operand)
        case c.FunctionRef():
            return calls.function_address(fn, e.decl)
        case c.AddressOf():
            if isinstance(e.operand, c.FunctionRef):
                return calls.function_address(fn, e.operand.decl)
            return lvalues.place(fn, e.operand).memory
        case c.Cast():
            return _cast(fn, e)
        case c.AtomicOp():
            return atomics.rvalue(fn, e)
        case c.ComplexOp():
            return complex_numbers.rvalue(fn, e)
        case c.UnaryOp():
            return _unary(fn, e)
        case c.BinaryOp():
            return _binary(fn, e)
        case c.PtrAdd():
            return _pointer_add(fn, e)
        case c.PtrDiff():
            return _pointer_difference(fn, e)
        case c.Assign():
            return _assign(fn, e)
        case c.CompoundAssign():
            return _compound_assign(fn, e)
        case c.IncDec():
            return _increment(fn, e)
        case c.Conditional():
            return _conditional(fn, e)
        case c.Comma():
            discard(fn, e.lhs)
            return _rvalue(fn, e.rhs)
        case c.StatementExpr():
            return statement_expression(fn, e, _rvalue)
        case c.Call():
            return calls.call(fn, e)
        case c.Asm():
            inline_asm.statement(fn, e)
            return None
        case c.SizeofVla():
            return fn.byte_size(e.of)
        case c.VaArg():
            return variable_arguments.va_arg(fn, e)
        case c.VaOp():
            variable_arguments.va_op(fn, e)
            return None
        case c.VarRef() | c.Deref() | c.Member() | c.CompoundLiteral() | c.StringLiteral():
            # A member of an rvalue record, or an lvalue used for its value without a Load.
            return lvalues.load(fn, lvalues.place(fn, e))
        case _:
            raise error(
                e.loc, f"unsupported expression '{type(e).__name__}'", "rewrite the expression"
            )


_Out = TypeVar("_Out")


def statement_expression(
    fn: FunctionState, e: c.StatementExpr, evaluate: Callable[[FunctionState, c.Expr], _Out]
) -> _Out | None:
    """Runs the statements of `({ … })`, and gives what `evaluate` makes of its value."""
    pending = len(fn.exits)
    for s in e.body:
        statements.emit(fn, s)
    if fn.flat:
        fn.ensure_open()
    value = None if e.value is None else evaluate(fn, e.value)
    if len(fn.exits) > pending:
        fn.leave(pending)
        del fn.exits[pending:]
    return value


def discard(fn: FunctionState, e: c.Expr) -> None:
    """Evaluates `e` for its effects."""
    match e:
        case c.Cast() if isinstance(e.type, VoidType):
            discard(fn, e.operand)
        case c.Load(volatile=False) if not isinstance(e.lvalue, c.CompoundLiteral):
            if any(isinstance(n, c.Call | c.Assign | c.CompoundAssign | c.IncDec) for n in walk(e)):
                lvalues.place(fn, e.lvalue)
        case c.Assign() if isinstance(e.type, RecordType):
            assign_record(fn, e)
        case c.IntConst() | c.FloatConst():
            return
        case c.Call():
            calls.call(fn, without_result(fn, e))
        case _:
            _rvalue(fn, e)


def _load(fn: FunctionState, e: c.Load) -> SSAValue:
    lvalue = e.lvalue
    if isinstance(lvalue, c.VarRef) and lvalue.decl in fn.values:
        return fn.values[lvalue.decl]
    if fn.members:
        replaced = fn.members.get(lvalues.path_key(fn, lvalue) or "")
        if replaced is not None:
            return replaced
    return lvalues.load(fn, lvalues.place(fn, lvalue), volatile=e.volatile)


def _cast(fn: FunctionState, e: c.Cast) -> SSAValue | None:
    if isinstance(e.type, VoidType):
        discard(fn, e.operand)
        return None
    source = e.operand.type
    if isinstance(e.type, IntType) and is_comparison(e.operand):
        truth = condition(fn, e.operand)
        fn.b.at(e.loc)
        return arithmetic.from_truth(fn.b, truth, e.type)
    value = rvalue(fn, e.operand)
    fn.b.at(e.loc)
    return arithmetic.convert(fn.b, value, source, e.type)


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
            x, y = rvalue(fn, e.lhs), rvalue(fn, e.rhs)
            fn.b.at(e.loc)
            return arithmetic.compare(fn.b, e.op, x, y, e.lhs.type)
        case c.Cast() if isinstance(e.type, IntType) and is_comparison(e.operand):
            return condition(fn, e.operand)
        case c.IntConst():
            fn.b.at(e.loc)
            return fn.b.int(int(e.value != 0), i1)
        case _:
            value = rvalue(fn, e)
            fn.b.at(e.loc)
            return arithmetic.truth(fn.b, value, e.type)


def _negated(fn: FunctionState, e: c.UnaryOp) -> SSAValue:
    operand = e.operand
    while isinstance(operand, c.Cast) and is_comparison(operand.operand):
        operand = operand.operand
    inner = condition(fn, operand)
    fn.b.at(e.loc)
    owner = inner.owner
    if isinstance(owner, arith.CmpiOp) and inner.first_use is None:
        owner.predicate = IntegerAttr(_INVERSE[owner.predicate.value.data], i64)
        return inner
    return fn.b.value(arith.XOrIOp(inner, fn.b.int(1, i1)))


def _unary(fn: FunctionState, e: c.UnaryOp) -> SSAValue:
    if e.op == "!":
        truth = condition(fn, e)
        return arithmetic.from_truth(fn.b, truth, e.type)
    value = rvalue(fn, e.operand)
    fn.b.at(e.loc)
    if e.op == "-":
        if isinstance(e.operand, c.IntConst):
            return fn.b.int(-e.operand.value, value.type)
        return arithmetic.negate(fn.b, value, e.type)
    if e.op == "+":
        return value
    return fn.b.value(arith.XOrIOp(value, fn.b.int(-1, value.type)))


def _binary(fn: FunctionState, e: c.BinaryOp) -> SSAValue:
    if is_comparison(e):
        truth = condition(fn, e)
        fn.b.at(e.loc)
        return arithmetic.from_truth(fn.b, truth, e.type)
    x, y = rvalue(fn, e.lhs), rvalue(fn, e.rhs)
    fn.b.at(e.loc)
    return arithmetic.binary(fn.b, e.op, x, y, e.type)


def _pointer_add(fn: FunctionState, e: c.PtrAdd) -> SSAValue:
    pointer = rvalue(fn, e.pointer)
    constant = int_constant(e.index)
    if constant is not None:
        fn.b.at(e.loc)
        index = fn.b.int(-constant if e.subtract else constant, i64)
        assert isinstance(e.type, PointerType)
        return lvalues.element_address(fn, pointer, index, e.type.pointee.type, describe(e))
    index = rvalue(fn, e.index)
    fn.b.at(e.loc)
    return offset_pointer(fn, pointer, index, e, subtract=e.subtract)


def offset_pointer(
    fn: FunctionState, pointer: SSAValue, index: SSAValue, e: c.PtrAdd, *, subtract: bool
) -> SSAValue:
    """`pointer ± index` elements, for the types that `e` says."""
    assert isinstance(e.type, PointerType) and isinstance(e.index.type, IntType)
    index = fn.b.resize(index, i64, signed=e.index.type.signed)
    if subtract:
        index = fn.b.sub_nsw(fn.b.int(0, i64), index)
    return lvalues.element_address(fn, pointer, index, e.type.pointee.type, describe(e))


def _pointer_difference(fn: FunctionState, e: c.PtrDiff) -> SSAValue:
    assert isinstance(e.lhs.type, PointerType)
    x, y = fn.b.to_int(rvalue(fn, e.lhs)), fn.b.to_int(rvalue(fn, e.rhs))
    fn.b.at(e.loc)
    size = lvalues.pointee_size(fn, e.lhs.type.pointee.type)
    return fn.b.value(arith.DivSIOp(fn.b.value(arith.SubiOp(x, y)), size))


# Assignment -----------------------------------------------------------------------------------


def _assign(fn: FunctionState, e: c.Assign) -> SSAValue:
    if isinstance(e.type, RecordType):
        return fn.b.load(assign_record(fn, e), fn.module.types.convert(e.type))
    if isinstance(e.target, c.VarRef):
        value = rvalue(fn, e.value)
        target = lvalues.place(fn, e.target)
    else:
        target = lvalues.place(fn, e.target)
        value = rvalue(fn, e.value)
    fn.b.at(e.loc)
    return lvalues.store(fn, target, value, volatile=e.volatile)


def assign_record(fn: FunctionState, e: c.Assign) -> SSAValue:
    """Assigns a record; returns the address of the target."""
    target = lvalues.place(fn, e.target).memory
    objects.record_into(fn, target, e.value)
    return target


def _compound_assign(fn: FunctionState, e: c.CompoundAssign) -> SSAValue:
    op = e.op[:-1] if e.op.endswith("=") else e.op
    if isinstance(e.target, c.VarRef):
        value = rvalue(fn, e.value)
        target = lvalues.place(fn, e.target)
    else:
        target = lvalues.place(fn, e.target)
        value = rvalue(fn, e.value)
    fn.b.at(e.loc)
    old = lvalues.load(fn, target, volatile=e.volatile)
    t = e.compute_type
    if isinstance(t, PointerType):
        assert isinstance(e.value.type, IntType)
        index = fn.b.resize(value, i64, signed=e.value.type.signed)
        if op == "-":
            index = fn.b.sub_nsw(fn.b.int(0, i64), index)
        new = lvalues.element_address(fn, old, index, t.pointee.type, target.hint)
    else:
        wide = arithmetic.convert(fn.b, old, e.target.type, t)
        new = arithmetic.binary(fn.b, op, wide, value, t)
        new = arithmetic.convert(fn.b, new, t, e.target.type)
    return lvalues.store(fn, target, new, volatile=e.volatile)


def _increment(fn: FunctionState, e: c.IncDec) -> SSAValue:
    target = lvalues.place(fn, e.target)
    fn.b.at(e.loc)
    old = lvalues.load(fn, target, volatile=e.volatile)
    new = stepped(fn, old, e)
    stored = lvalues.store(fn, target, new, volatile=e.volatile)
    return stored if e.is_prefix else old


def stepped(fn: FunctionState, old: SSAValue, e: c.IncDec) -> SSAValue:
    """`old` plus or minus one, in the type of `e`'s target (C11 6.5.2.4)."""
    t = e.target.type
    op = "+" if e.is_increment else "-"
    if isinstance(t, PointerType):
        one = fn.b.int(1 if e.is_increment else -1, i64)
        return lvalues.element_address(fn, old, one, t.pointee.type, describe(e.target))
    if isinstance(t, IntType):
        if t.rank == 0:  # _Bool: ++ gives 1, -- toggles
            one = fn.b.int(1, old.type)
            return one if e.is_increment else fn.b.value(arith.XOrIOp(old, one))
        one = fn.b.int(1, old.type)
        if t.bits < 32:
            # Narrow types are computed in int, so they wrap rather than overflow.
            return fn.b.value((arith.AddiOp if e.is_increment else arith.SubiOp)(old, one))
        return arithmetic.binary(fn.b, op, old, one, t)
    return arithmetic.binary(fn.b, op, old, fn.b.float(1.0, old.type), t)


# Conditional evaluation -----------------------------------------------------------------------


def is_cheap(fn: FunctionState, e: c.Expr) -> bool:
    """Whether `e` may as well be evaluated always: no effects, traps, calls or memory, and small."""
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
    shift by the width or more, a real number beyond the integer type. `and` and `or` pass poison on
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
    """The same of parts that jump (in statement expressions): their value goes through memory."""
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
    region = fn.b.block.parent
    assert region is not None
    region.add_block(end)
    fn.b.block = end
    return None if slot is None else fn.b.load(slot, kind)


def _short_circuit(fn: FunctionState, e: c.BinaryOp) -> SSAValue:
    """`a && b`, `a || b` (C11 6.5.13, 6.5.14)."""
    known = integer_value(e.lhs)
    if known is not None:
        decided = (known != 0) != (e.op == "&&")
        return fn.b.int(known != 0, i1) if decided else condition(fn, e.rhs)
    left = condition(fn, e.lhs)
    fn.b.at(e.loc)
    is_and = e.op == "&&"
    if is_cheap(fn, e.rhs):
        right = condition(fn, e.rhs)
        fn.b.at(e.loc)
        if not may_be_poison(e.rhs):
            return fn.b.value(arith.AndIOp(left, right) if is_and else arith.OrIOp(left, right))
        decided = fn.b.int(0 if is_and else 1, i1)
        yes, no = (right, decided) if is_and else (decided, right)
        return fn.b.value(arith.SelectOp(left, yes, no))
    evaluate, skip = (lambda: condition(fn, e.rhs)), (lambda: fn.b.int(0 if is_and else 1, i1))
    then, otherwise = (evaluate, skip) if is_and else (skip, evaluate)
    value = branch_values(fn, left, [e.rhs], then, otherwise)
    assert value is not None
    return value


def _conditional(fn: FunctionState, e: c.Conditional) -> SSAValue | None:
    """`a ? b : c` (C11 6.5.15). Of a constant choice only one part exists, as in `isnan`."""
    chosen = integer_value(e.condition)
    if chosen is not None and is_scalar(e.type):
        return rvalue(fn, e.then if chosen else e.otherwise)
    truth = condition(fn, e.condition)
    fn.b.at(e.loc)
    if is_scalar(e.type) and is_cheap(fn, e.then) and is_cheap(fn, e.otherwise):
        x, y = rvalue(fn, e.then), rvalue(fn, e.otherwise)
        fn.b.at(e.loc)
        return fn.b.value(arith.SelectOp(truth, x, y))

    def value_of(part: c.Expr) -> SSAValue | None:
        if isinstance(e.type, VoidType):
            discard(fn, part)
            return None
        return rvalue(fn, part)

    return branch_values(
        fn,
        truth,
        [e.then, e.otherwise],
        lambda: value_of(e.then),
        lambda: value_of(e.otherwise),
    )
