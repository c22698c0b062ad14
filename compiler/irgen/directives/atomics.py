"""
`atomic` (OpenACC 3.4, 2.12): the statement's form selects one of the operations `acc.atomic.*`. The other
operand and the addresses are evaluated once, before it; a captured value is stored through a temporary if
the receiving variable has another type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import acc
from xdsl.ir import Block, Region, SSAValue

from ...base.diagnostics import CompileError, SourceLoc, error
from ...c import ast as c
from ...c.tree import strip_casts, walk
from ...c.types import CType, PointerType, is_scalar
from ...directives.records import AtomicKind
from .. import arithmetic, assignments, places
from ..function import FunctionState
from ..same_object import same_object
from .common import condition_of

_UPDATE_OPS = frozenset(["+", "-", "*", "/", "&", "^", "|", "<<", ">>"])
_FORMS = {
    AtomicKind.READ: "v = x;",
    AtomicKind.WRITE: "x = expression;",
    AtomicKind.UPDATE: "x++; x op= e; x = x op e; or x = e op x;",
    AtomicKind.CAPTURE: "v = x++; v = x op= e; { v = x; x op= e; } { x op= e; v = x; } or { v = x; x = e; }",
}

NewValue = Callable[[SSAValue], SSAValue]


@dataclass
class AtomicUpdate:
    """An update of `x` to `new(old x)`; `prefix` if the value of the expression is the new one."""

    target: c.Expr
    prepare: Callable[[], NewValue]
    prefix: bool = True


def emit(fn: FunctionState, s: c.AccStmt) -> None:
    """An `atomic` directive with its statement."""
    directive = s.directive
    assert s.body is not None
    kind = directive.atomic or AtomicKind.UPDATE
    if_cond = condition_of(fn, directive, "if")
    parts = _expressions(s.body)
    if kind is AtomicKind.CAPTURE:
        _capture(fn, s.body.loc, parts, if_cond)
        return
    if len(parts) != 1:
        raise _wrong_form(s.body.loc, kind)
    e = parts[0]
    if kind is AtomicKind.READ:
        if not isinstance(e, c.Assign) or not isinstance(strip_casts(e.value), c.Load):
            raise _wrong_form(e.loc, kind)
        x = strip_casts(e.value)
        assert isinstance(x, c.Load)
        source = _address(fn, x.lvalue)
        copy = fn.scratch(fn.module.types.convert(x.type), x.type.align, "read")
        fn.b.at(directive.loc)
        fn.b.add(_read(fn, source, copy, x.type, if_cond))
        _deliver(fn, e, x.type, copy)
    elif kind is AtomicKind.WRITE:
        if not isinstance(e, c.Assign):
            raise _wrong_form(e.loc, kind)
        _check_written(e)
        value = fn.rvalue(e.value)
        target = _address(fn, e.target)
        fn.b.at(directive.loc)
        fn.b.add(acc.AtomicWriteOp(x=target, expr=value, if_cond=if_cond))
    else:
        update = _update_of(fn, e)
        if update is None:
            raise _wrong_form(e.loc, kind)
        new = update.prepare()
        target = _address(fn, update.target)
        fn.b.at(directive.loc)
        fn.b.add(_update(fn, target, update.target.type, new, if_cond))


def _check_written(e: c.Assign) -> None:
    """Raises `CompileError` for an atomic write whose expression reads the variable, as that read would not
    be a part of the atomic operation (2.12)."""
    parts = (part for part in walk(e.value) if isinstance(part, c.Load))
    if any(same_object(e.target, part.lvalue) for part in parts):
        raise error(
            e.value.loc,
            "the value written reads the variable itself, which is not part of the atomic write",
            f"update it in one of the forms {_FORMS[AtomicKind.UPDATE]}",
        )


def _wrong_form(loc: SourceLoc, kind: AtomicKind) -> CompileError:
    return error(
        loc, f"this statement is not an 'atomic {kind.value}'", f"write it as {_FORMS[kind]}"
    )


def _expressions(s: c.Stmt) -> list[c.Expr]:
    """The expression statements of an atomic's statement or block, conversions to void removed."""
    if isinstance(s, c.ExprStmt):
        return [strip_casts(s.expr)]
    if isinstance(s, c.Compound):
        return [e for b in s.body if not isinstance(b, c.Null) for e in _expressions(b)]
    raise error(s.loc, "'atomic' applies to assignments only", "move the statement out")


def _address(fn: FunctionState, e: c.Expr) -> SSAValue:
    if not is_scalar(e.type):
        raise error(e.loc, f"'atomic' on an object of type '{e.type}'", "use a scalar variable")
    place = fn.place(e)
    if place.bits is not None:
        raise error(e.loc, "'atomic' on a bit-field", "use a whole integer member")
    return place.memory


def _read(
    fn: FunctionState, source: SSAValue, copy: SSAValue, t: CType, if_cond: SSAValue | None
) -> acc.AtomicReadOp:
    return acc.AtomicReadOp(
        x=source, v=copy, element_type=fn.module.types.convert(t), if_cond=if_cond
    )


def _deliver(fn: FunctionState, assign: c.Assign, t: CType, copy: SSAValue) -> None:
    """Stores the captured value to the left side of `assign`."""
    types = fn.module.types
    value = fn.b.load(copy, types.convert(t), "captured")
    value = _converted(fn, value, t, _conversions(assign.value), assign.target.type)
    places.store(fn, fn.place(assign.target), value)


def _update(
    fn: FunctionState, target: SSAValue, t: CType, new: NewValue, if_cond: SSAValue | None
) -> acc.AtomicUpdateOp:
    block = Block(arg_types=[fn.module.types.convert(t)])
    block.args[0].name_hint = "old"
    with fn.region(block, flat=False) as region:
        fn.b.add(acc.YieldOp(new(block.args[0])))
    return acc.AtomicUpdateOp(x=target, region=region, if_cond=if_cond)


def _update_of(fn: FunctionState, e: c.Expr) -> AtomicUpdate | None:
    """`e` as an update of one object; None if it has none of the forms of 2.12."""
    if isinstance(e, c.IncDec):
        return AtomicUpdate(
            e.target, lambda: lambda old: assignments.stepped(fn, old, e), e.is_prefix
        )
    if isinstance(e, c.CompoundAssign):
        op = e.op[:-1] if e.op.endswith("=") else e.op
        if op not in _UPDATE_OPS or isinstance(e.compute_type, PointerType):
            return None
        return AtomicUpdate(
            e.target,
            lambda: _binary(fn, op, e.target.type, e.compute_type, e.value, left=True),
        )
    if not isinstance(e, c.Assign):
        return None
    value = strip_casts(e.value)
    if not isinstance(value, c.BinaryOp) or value.op not in _UPDATE_OPS:
        return None
    left = _reads(e.target, value.lhs)
    if not left and not _reads(e.target, value.rhs):
        return None
    own, other = (value.lhs, value.rhs) if left else (value.rhs, value.lhs)
    t, casts = value.type, (_conversions(own), _conversions(e.value))
    return AtomicUpdate(
        e.target,
        lambda: _binary(fn, value.op, e.target.type, t, other, left=left, casts=casts),
    )


def _binary(
    fn: FunctionState,
    op: str,
    t: CType,
    compute: CType,
    other: c.Expr,
    *,
    left: bool,
    casts: tuple[list[c.Cast], list[c.Cast]] = ([], []),
) -> NewValue:
    """
    Evaluates `other` now; the result computes `old op other` (or `other op old`) in `compute`. `casts`:
    the conversions of the old value, and of the result.
    """
    operand = fn.rvalue(other)
    own, whole = casts

    def new(old: SSAValue) -> SSAValue:
        wide = _converted(fn, old, t, own, compute)
        x, y = (wide, operand) if left else (operand, wide)
        return _converted(fn, arithmetic.binary(fn.b, op, x, y, compute), compute, whole, t)

    return new


def _reads(target: c.Expr, e: c.Expr) -> bool:
    """Whether `e` is the value of lvalue `target`, through conversions."""
    e = strip_casts(e)
    return isinstance(e, c.Load) and same_object(target, e.lvalue)


def _conversions(e: c.Expr) -> list[c.Cast]:
    """The conversions around `strip_casts(e)`, the innermost first."""
    found: list[c.Cast] = []
    while isinstance(e, c.Cast):
        found.insert(0, e)
        e = e.operand
    return found


def _converted(
    fn: FunctionState, value: SSAValue, t: CType, casts: list[c.Cast], target: CType
) -> SSAValue:
    """`value` of type `t` after `casts`, as type `target`."""
    for cast in casts:
        value, t = arithmetic.convert(fn.b, value, t, cast.type), cast.type
    return arithmetic.convert(fn.b, value, t, target)


# Capture ------------------------------------------------------------------------------------------


def _capture(
    fn: FunctionState, loc: SourceLoc, parts: list[c.Expr], if_cond: SSAValue | None
) -> None:
    """`v = update;` or a block of a read and an update or write, in either order."""
    if len(parts) == 1 and isinstance(parts[0], c.Assign):
        update = _update_of(fn, strip_casts(parts[0].value))
        if update is not None:
            _emit_capture(fn, parts[0], update, None, read_first=not update.prefix, if_cond=if_cond)
            return
    if len(parts) == 2:
        first, second = parts
        read = _read_of(first)
        if read is not None:
            update = _update_of(fn, second)
            if update is not None and same_object(update.target, read[1]):
                _emit_capture(fn, read[0], update, None, read_first=True, if_cond=if_cond)
                return
            if isinstance(second, c.Assign) and same_object(second.target, read[1]):
                _emit_capture(fn, read[0], None, second, read_first=True, if_cond=if_cond)
                return
        read, update = _read_of(second), _update_of(fn, first)
        if read is not None and update is not None and same_object(update.target, read[1]):
            _emit_capture(fn, read[0], update, None, read_first=False, if_cond=if_cond)
            return
    raise _wrong_form(loc, AtomicKind.CAPTURE)


def _read_of(e: c.Expr) -> tuple[c.Assign, c.Expr] | None:
    """`v = x;` as the assignment and the lvalue x."""
    if isinstance(e, c.Assign):
        value = strip_casts(e.value)
        if isinstance(value, c.Load):
            return e, value.lvalue
    return None


def _emit_capture(
    fn: FunctionState,
    assign: c.Assign,
    update: AtomicUpdate | None,
    write: c.Assign | None,
    *,
    read_first: bool,
    if_cond: SSAValue | None,
) -> None:
    target = update.target if update is not None else None
    new = update.prepare() if update is not None else None
    value = None
    if write is not None:
        _check_written(write)
        value, target = fn.rvalue(write.value), write.target
    assert target is not None
    address = _address(fn, target)
    t = target.type
    copy = fn.scratch(fn.module.types.convert(t), t.align, "captured")
    fn.b.at(assign.loc)
    block = Block()
    with fn.region(block, flat=False) as region:
        read = _read(fn, address, copy, t, None)
        if read_first:
            fn.b.add(read)
        if new is not None:
            fn.b.add(_update(fn, address, t, new, None))
        else:
            assert value is not None
            fn.b.add(acc.AtomicWriteOp(x=address, expr=value))
        if not read_first:
            fn.b.add(read)
        fn.b.add(acc.TerminatorOp())
    _add_capture(fn, region, if_cond)
    _deliver(fn, assign, t, copy)


def _add_capture(fn: FunctionState, region: Region, if_cond: SSAValue | None) -> None:
    fn.b.add(acc.AtomicCaptureOp(region=region, if_cond=if_cond))
