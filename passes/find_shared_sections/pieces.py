"""
Splits a loop over terms into a loop over pieces, with an `acc.cache` for each factor, and one over the
terms of a piece.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import BoolAttr, IntegerType, StringAttr, UnitAttr, i8
from xdsl.ir import Block, Region, SSAValue

from ...dialects.accx import RESTRICT
from ...dialects.accx_element import ElementOp, Index
from ..decisions.polynomials import Polynomial
from ..decisions.shared_sections import PIECE
from ..ir.loops.product_loads import Factor
from ..ir.ops.building import NSW, Cursor, erase
from ..ir.ops.layout import size_of


def emit(at: Cursor, poly: Polynomial, values: dict[SSAValue, SSAValue]) -> SSAValue:
    """The value (i64) of a polynomial over integers; `values` replaces some of its symbols."""
    total: SSAValue | None = None
    for monomial, coefficient in poly.terms.items():
        term: SSAValue | None = None
        for symbol in monomial:
            assert isinstance(symbol, SSAValue)
            factor = at.to_i64(values.get(symbol, symbol))
            term = factor if term is None else _nsw(at, arith.MuliOp, term, factor)
        if term is None:
            term = at.i64(coefficient)
        elif coefficient != 1:
            term = _nsw(at, arith.MuliOp, term, at.i64(coefficient))
        total = term if total is None else _nsw(at, arith.AddiOp, total, term)
    return at.i64(0) if total is None else total


def _nsw(
    at: Cursor, kind: type[arith.MuliOp] | type[arith.AddiOp], left: SSAValue, right: SSAValue
) -> SSAValue:
    return at.value(kind(left, right, overflow=NSW))


def _bounds(at: Cursor, lower: SSAValue, length: int, stride: SSAValue) -> SSAValue:
    made = acc.DataBoundsOp(
        lowerbound=lower,
        extent=at.i64(length),
        stride=stride,
        start_idx=at.i64(0),
        stride_in_bytes=BoolAttr.from_bool(True),
    )
    return at.value(made, "bounds")


def _view(
    at: Cursor, factor: Factor, piece: dict[SSAValue, SSAValue], marks: Sequence[str]
) -> SSAValue:
    """
    Emits the `acc.cache` of a factor for the terms of a piece; `piece` maps the term variable to the term
    with the lowest address. `marks`: attributes of its own.
    """
    place, along = factor.place, factor.place.terms_along
    rows = _bounds(
        at, emit(at, place.row, piece), 1 if along else PIECE, emit(at, place.stride, {})
    )
    element = at.i64(size_of(factor.element))
    columns = _bounds(at, emit(at, place.column, piece), PIECE if along else 1, element)
    view = acc.CacheOp(
        var=factor.base,
        var_type=i8,
        bounds=[rows, columns],
        data_clause=acc.DataClause.ACC_CACHE,
        var_name=StringAttr(factor.name),
    )
    owner = factor.base.owner
    if (
        isinstance(owner, acc.CopyinOp | acc.PresentOp | acc.CreateOp)
        and RESTRICT in owner.attributes
    ):
        view.attributes[RESTRICT] = owner.attributes[RESTRICT]
    for mark in marks:
        view.attributes[mark] = UnitAttr()
    return at.value(view, factor.name)


def _address(
    at: Cursor, view: SSAValue, factor: Factor, values: dict[SSAValue, SSAValue]
) -> SSAValue:
    """The address of a factor's element by row and column, as two subscripts."""
    row, column = (emit(at, poly, values) for poly in (factor.place.row, factor.place.column))
    known = factor.place.stride.as_constant
    if known is not None:
        rows = llvm.LLVMArrayType(known // size_of(factor.element), factor.element)
        return at.value(ElementOp(view, [Index(row), Index(column)], rows))
    start = _nsw(at, arith.MuliOp, row, emit(at, factor.place.stride, {}))
    pointer = at.value(llvm.GEPOp.from_mixed_indices(view, [start], i8, inbounds=True))
    return at.value(llvm.GEPOp.from_mixed_indices(pointer, [column], factor.element, inbounds=True))


def _for(
    at: Cursor, bounds: tuple[SSAValue, SSAValue, SSAValue], start: Sequence[SSAValue], hint: str
) -> tuple[scf.ForOp, Cursor]:
    """An `scf.for` that carries values, without its yield, and a cursor at the end of its body."""
    block = Block(arg_types=[bounds[0].type, *(value.type for value in start)])
    block.args[0].name_hint = hint
    for argument, value in zip(block.args[1:], start, strict=True):
        argument.name_hint = value.name_hint
    loop = at.insert(scf.ForOp(*bounds, list(start), Region(block)))
    return loop, Cursor.at_end(block, at.loc)


def _terms(
    at: Cursor, loop: scf.ForOp, factors: Sequence[Factor], piece: SSAValue, marks: Sequence[str]
) -> scf.ForOp:
    """Emits the loop over the terms of one piece, which reads the factors through views of their arrays."""
    type_ = piece.type
    assert isinstance(type_, IntegerType)
    variable = loop.body.block.args[0]
    lowest: dict[bool, dict[SSAValue, SSAValue]] = {False: {variable: piece}}
    if any(factor.place.backwards for factor in factors):
        last = at.value(arith.AddiOp(piece, at.constant(PIECE - 1, type_), overflow=NSW), "last")
        lowest[True] = {variable: last}
    views: dict[tuple[SSAValue, Polynomial, Polynomial], SSAValue] = {}
    for factor in factors:
        key = factor.base, factor.place.row, factor.place.column
        if key not in views:
            views[key] = _view(at, factor, lowest[factor.place.backwards], marks)
    end = at.value(arith.AddiOp(piece, at.constant(PIECE, type_), overflow=NSW), "piece_end")
    carried = at.point.block.args[1:]
    inside, body = _for(at, (piece, end, loop.step), carried, variable.name_hint or "k")
    values: dict[SSAValue, SSAValue] = dict(
        zip(loop.body.block.args, inside.body.block.args, strict=True)
    )
    found = {factor.load: factor for factor in factors}
    for op in loop.body.block.ops:
        if not isinstance(op, llvm.LoadOp) or op not in found:
            body.clone(op, values)
            continue
        factor = found[op]
        view = views[factor.base, factor.place.row, factor.place.column]
        address = _address(body, view, factor, values)
        copy = body.clone(op, {**values, op.ptr: address})
        values[op.dereferenced_value] = copy.dereferenced_value
    return inside


def in_pieces(
    loop: scf.ForOp, factors: Sequence[Factor], marks: Sequence[str], *, whole: bool
) -> None:
    """
    Puts the loop over whole pieces before `loop`, which keeps the remaining terms; with `whole` there are
    none, and it replaces `loop`. `marks`: attributes of the sections, for example that the nest does not
    write their arrays.
    """
    at = Cursor.before(loop)
    type_ = loop.lb.type
    assert isinstance(type_, IntegerType)
    piece = at.constant(PIECE, type_)
    end = loop.ub
    if not whole:
        trips = at.sub(at.value(arith.MaxSIOp(loop.ub, loop.lb)), loop.lb)
        pieces = at.value(arith.DivSIOp(trips, piece))
        end = at.add(loop.lb, at.value(arith.MuliOp(pieces, piece, overflow=NSW)), "whole")
    outer, body = _for(at, (loop.lb, end, piece), loop.iter_args, "piece")
    inside = _terms(body, loop, factors, outer.body.block.args[0], marks)
    body.insert(scf.YieldOp(*inside.results))
    for old, new in zip(loop.results, outer.results, strict=True):
        new.name_hint = old.name_hint
    if whole:
        for old, new in zip(loop.results, outer.results, strict=True):
            old.replace_all_uses_with(new)
        erase(loop)
        return
    loop.operands[0] = end
    for position, value in enumerate(outer.results):
        loop.operands[3 + position] = value
