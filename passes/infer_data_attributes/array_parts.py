"""
Arrays of which only a part may be on the device, as in programs that divide static arrays among devices.
What a construct needs of such an array is the section that it accesses (OpenACC 3.4, 2.6.2): its implicit
clause, and `present` without a section, name that section instead of the whole array.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import cast

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i8
from xdsl.ir import SSAValue, TypeAttribute, Use

from ..decisions.polynomials import Polynomial
from ..decisions.ranges import empty_without
from ..ir.data.sections import TouchedSection, pointer_uses, section_of
from ..ir.ops.acc_ops import (
    EXIT_OPS,
    MAPPING_OPS,
    PRIVATIZING_OPS,
    ComputeOp,
    alloca_count,
    callee_of,
    is_implicit,
    live_ins,
    replace_inside,
    set_operand_groups,
)
from ..ir.ops.building import constant_value
from ..ir.ops.layout import size_of
from ..ir.values.addresses import ADDRESS_OPS
from ..ir.values.region_values import HostEmitter, RegionSymbols
from .device_copies import READERS


class ArrayParts:
    """Finds the arrays of a module of which a part may be mapped."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._known: dict[str, bool] = {}

    @cached_property
    def _addresses(self) -> dict[str, list[SSAValue]]:
        found: dict[str, list[SSAValue]] = {}
        for op in self._module.walk():
            if isinstance(op, llvm.AddressOfOp):
                found.setdefault(op.global_name.string_value(), []).append(op.result)
        return found

    def may_be(self, array: SSAValue) -> bool:
        """Whether a part of the array at this address may be mapped without the rest."""
        match array.owner:
            case llvm.AllocaOp():
                return _may_be_divided((array,))
            case llvm.AddressOfOp() as op:
                name = op.global_name.string_value()
                if name not in self._known:
                    self._known[name] = _may_be_divided(self._addresses.get(name, ()))
                return self._known[name]
            case _:
                return True


def _may_be_divided(addresses: Iterable[SSAValue]) -> bool:
    """Whether a clause names a section of the array at `addresses`, or other code may do so."""
    work = list(addresses)
    while work:
        for use in work.pop().uses:
            op = use.operation
            if isinstance(op, ADDRESS_OPS) and use.index == 0:
                work.append(op.results[0])
            elif _hands_part_over(use):
                return True
    return False


def _hands_part_over(use: Use) -> bool:
    op = use.operation
    match op:
        case llvm.LoadOp() | llvm.ICmpOp():
            return False
        case llvm.StoreOp():
            return use.index != 1
        case llvm.CallOp():
            return callee_of(op) not in READERS
        case _ if isinstance(op, PRIVATIZING_OPS):
            return False
        case _ if isinstance(op, MAPPING_OPS + EXIT_OPS) and is_implicit(op):
            return False
        case _ if isinstance(op, MAPPING_OPS):
            return (
                use.index != 0
                or isinstance(op.operands[use.index].owner, ADDRESS_OPS)
                or bool(op.bounds)
            )
        case _:
            return True


def section_values(section: TouchedSection, emit: HostEmitter) -> tuple[SSAValue, SSAValue]:
    """The first element and the number of elements; if the loops do not run, the section is empty."""
    lows, highs = section.bounds.lows, section.bounds.highs
    lower = emit.minimum(lows)
    loops = section.loops
    if len(lows) == len(highs) == 1:
        span = highs[0] - lows[0] + 1
        if span.as_constant is not None:
            return lower, emit.i64(max(0, span.as_constant))
        extent = emit.emit(span)
        loops = tuple(loop for loop in loops if not empty_without(loop, span))
    else:
        greatest = emit.maximum(highs)
        difference = emit.value(arith.SubiOp(greatest, lower))
        extent = emit.value(arith.AddiOp(difference, emit.i64(1)))
    extent = emit.value(arith.MaxSIOp(extent, emit.i64(0)), "extent")
    for loop in loops:
        trips = loop.last - loop.lower + 1
        if trips.as_constant is None or trips.as_constant <= 0:
            runs = emit.value(arith.CmpiOp(emit.i64(0), emit.emit(trips), "slt"))
            extent = emit.value(arith.SelectOp(runs, extent, emit.i64(0)), "extent")
    return lower, extent


def accessed_part(
    array: SSAValue, type_: TypeAttribute, section: TouchedSection, emit: HostEmitter
) -> tuple[SSAValue, SSAValue] | None:
    """
    The first element and the number of elements of `section` within the array, in units of the section; None
    if that is the whole array, or if its length is not known in these units.
    """
    unit, number = size_of(section.unit), 1
    owner = array.owner
    if isinstance(owner, llvm.AllocaOp):
        known = alloca_count(owner)
        if known is None and unit != size_of(type_):
            return None
        number = known if known is not None else 0
    if number and number * size_of(type_) % unit:
        return None
    count = number * size_of(type_) // unit
    lower, extent = section_values(section, emit)
    first, length = constant_value(lower), constant_value(extent)
    if first is not None and length is not None and count:
        begin, end = max(first, 0), min(first + length, count)
        if (begin, end) == (0, count):
            return None
        return emit.i64(begin), emit.i64(max(end - begin, 0))
    all_ = emit.i64(count) if number else emit.symbol(cast(llvm.AllocaOp, owner).size)
    begin = emit.value(arith.MaxSIOp(lower, emit.i64(0)))
    end = emit.value(arith.MinSIOp(emit.value(arith.AddiOp(lower, extent)), all_))
    inside = emit.value(arith.SubiOp(end, begin))
    return begin, emit.value(arith.MaxSIOp(inside, emit.i64(0)), "extent")


def bounds_value(
    name: str, lower: SSAValue, extent: SSAValue, stride: int, emit: HostEmitter
) -> SSAValue:
    """An `acc.bounds`; `stride` is in bytes."""
    bounds = acc.DataBoundsOp(
        lowerbound=lower,
        extent=extent,
        stride=emit.i64(stride),
        start_idx=emit.i64(0),
        stride_in_bytes=IntegerAttr.from_bool(True),
    )
    return emit.value(bounds, f"{name}_bounds")


def _is_whole(entry: acc.PresentOp, symbols: RegionSymbols) -> bool:
    """Whether a clause names a whole array; one of variable length has bounds."""
    if not entry.bounds:
        return isinstance(entry.var_type, llvm.LLVMArrayType)
    array, length = entry.var.owner, Polynomial.constant(1)
    for value in entry.bounds:
        bounds = cast(acc.DataBoundsOp, value.owner)
        if bounds.lowerbound is None or constant_value(bounds.lowerbound) != 0:
            return False
        extent = None if bounds.extent is None else symbols.polynomial(bounds.extent)
        if extent is None:
            return False
        length = length * extent
    return isinstance(array, llvm.AllocaOp) and length == symbols.polynomial(array.size)


def narrow_present_arrays(construct: ComputeOp, parts: ArrayParts, symbols: RegionSymbols) -> None:
    """Gives `present` clauses of the construct that name arrays without sections the sections accessed."""
    for operand in construct.data_clause_operands:
        entry = operand.owner
        if (
            not isinstance(entry, acc.PresentOp)
            or not _is_whole(entry, symbols)
            or not parts.may_be(entry.var)
        ):
            continue
        uses = pointer_uses(operand, construct, symbols)
        section = section_of(uses, symbols)
        emit = HostEmitter(entry)
        if isinstance(section, TouchedSection):
            part, unit = accessed_part(entry.var, entry.var_type, section, emit), section.unit
        elif not uses.accesses and not uses.escapes:  # nothing of it has to be there
            part, unit = (emit.i64(0), emit.i64(0)), i8
        else:
            continue
        if part is not None:
            name = entry.var_name.data if entry.var_name is not None else "array"
            bounds = bounds_value(name, *part, size_of(unit), emit)
            ends = [u.operation for u in operand.uses if isinstance(u.operation, EXIT_OPS)]
            for op in (entry, *ends):
                set_operand_groups(op, bounds=[bounds])


def use_own_clauses(construct: ComputeOp) -> None:
    """
    Lets code of routines that were inlined into the construct use the result of its data clause for a global
    variable, instead of the variable: only what the clause names may be on the device (`declare link`).
    """
    named: dict[str, list[SSAValue]] = {}
    for operand in construct.data_clause_operands:
        entry = operand.owner
        if isinstance(entry, acc.CopyinOp | acc.CreateOp | acc.PresentOp):
            variable = entry.var.owner
            if isinstance(variable, llvm.AddressOfOp):
                named.setdefault(variable.global_name.string_value(), []).append(operand)
    for value in live_ins(construct) if named else ():
        if isinstance(value.owner, llvm.AddressOfOp):
            clauses = named.get(value.owner.global_name.string_value(), ())
            if len(clauses) == 1:
                replace_inside(construct, value, clauses[0])
