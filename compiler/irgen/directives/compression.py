"""
Compression clauses → attributes of data operations (docs/compression.md).

`compression_copy(a[0:n])` is `copy(a[0:n])` whose entry operation says how the array is packed on the
device; a range `a[0:n:min:max]` becomes an `accx.range`. `compression(a)` on a compute construct marks the
construct's data operation of `a`, which is `present(a)` where no other clause names it: compressed data
must be on the device already, and the runtime checks that it has the same format. A compression data clause
on the compute construct itself has both effects.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import UnitAttr, f32, f64
from xdsl.ir import Operation, SSAValue

from ....dialects.accx_compress import DECODES, PACKED, PackedType, RangeOp
from ...base.diagnostics import error
from ...base.packed import MAX_BITS, MAX_MEMBERS
from ...c.sema.constants import constant_value
from ...c.types import (
    DOUBLE,
    CType,
    FloatType,
    RecordType,
    innermost,
)
from ...directives.records import Directive, ExprSlot, Section, VarListClause, VarRefItem
from .. import arithmetic
from ..facts import names_pointee
from ..function import FunctionState
from . import data

_PREFIX = "compression_"


def enter_clauses(
    fn: FunctionState, directive: Directive, *, structured: bool = True
) -> list[data.Mapping]:
    """Entry operations of all data clauses of `directive`, plain and compressed."""
    out = data.enter_clauses(fn, directive, structured=structured)
    for clause in directive.clauses:
        if isinstance(clause, VarListClause) and clause.name.startswith(_PREFIX):
            for item in clause.items:
                mapping = _enter(fn, clause, item, structured=structured)
                if directive.is_compute:
                    _owner(mapping).attributes[DECODES] = UnitAttr()
                out.append(mapping)
    for clause in directive.all("compression", VarListClause):
        for item in clause.items:
            _select(fn, clause, item, out)
    fn.b.at(directive.loc)
    return out


def plain_name(clause: VarListClause) -> str:
    """The data clause that a compression data clause extends."""
    return clause.name.removeprefix(_PREFIX)


def _owner(mapping: data.Mapping) -> Operation:
    assert isinstance(mapping.device.owner, Operation)
    return mapping.device.owner


def _enter(
    fn: FunctionState, clause: VarListClause, item: VarRefItem, *, structured: bool
) -> data.Mapping:
    """The entry operation of one item of a compression data clause."""
    plain = replace(clause, name=plain_name(clause), modifiers=())
    mapping = data.enter_item(fn, plain, item, structured=structured)
    packed = packed_type(clause, item, mapping.located.c_type)
    _owner(mapping).attributes[PACKED] = packed
    bounds = [s for s in item.sections if s.minimum is not None]
    if bounds:
        _range(fn, mapping, bounds[-1])
    elif plain.name in ("copyout", "create") and packed.format.needs_range:
        section = item.sections[-1].loc if item.sections else item.loc
        raise error(
            section,
            f"'{item.name}' in '{clause.spelling}' has no range, and the clause copies no data"
            " from which it could be computed",
            f"write {item.name}[start:length:min:max] with the smallest and largest value that "
            "the device will store",
        )
    return mapping


def _select(
    fn: FunctionState, clause: VarListClause, item: VarRefItem, known: list[data.Mapping]
) -> None:
    """`compression(item)`: the construct's data operation of the item, which its kernel decodes."""
    mapping = next((m for m in known if _names(m, item)), None)
    if mapping is None:
        # An address inside present data finds the whole array: a pointer is looked up by its value.
        present = replace(clause, name="present", modifiers=())
        mapping = data.enter_item(fn, present, item, structured=True)
        known.append(mapping)
    owner = _owner(mapping)
    packed = packed_type(clause, item, mapping.located.c_type)
    earlier = owner.attributes.get(PACKED)
    if isinstance(earlier, PackedType) and clause.modifiers and earlier != packed:
        raise error(
            item.loc,
            f"'{item.name}' is compressed in two ways on one construct",
            "give the format in one of the clauses",
        )
    owner.attributes.setdefault(PACKED, packed)
    owner.attributes[DECODES] = UnitAttr()


def _names(mapping: data.Mapping, item: VarRefItem) -> bool:
    return mapping.located.name == item.name


def packed_type(clause: VarListClause, item: VarRefItem, t: CType) -> PackedType:
    """
    The packed form of the item's numbers. `t` is the type of an element (of a pointer's target) or of the
    whole variable. Raises `CompileError` for types that do not consist of one floating type.
    """
    if isinstance(t, FloatType) and not names_pointee(clause, item):
        raise error(
            item.loc,
            f"'{item.name}' in '{clause.spelling}' is not an array",
            "leave the clause out",
        )
    base = _number_type(t, clause, item)
    words = [word for word in clause.modifiers if word not in ("soa", "centred")]
    centred = "centred" in clause.modifiers
    if len(words) > 1:
        raise error(
            item.loc, f"'{clause.spelling}' has two formats: {' and '.join(words)}", "give one"
        )
    element = f32 if base.bits == 32 else f64
    members = _members(t, clause, item) if "soa" in clause.modifiers else 1
    word = words[0] if words else "bits0"
    if word == "plain" and members == 1:
        raise error(
            item.loc,
            f"'{item.name}' in '{clause.spelling}' has the format 'plain'",
            "use the clause without compression, or add 'soa' for a structure of arrays",
        )
    if not word.startswith("bits"):
        if centred:
            raise error(
                item.loc,
                f"'{item.name}' in '{clause.spelling}' has the format '{word}', which has no range that"
                " could be centred",
                f"leave out 'centred', or write bits16 for '{word}'",
            )
        return PackedType.of(element, base.bits if word == "plain" else 16, word, members)
    bits = int(word.removeprefix("bits"))
    most = MAX_BITS[base.bits]
    if bits > most:
        raise error(
            item.loc,
            f"'{item.name}' cannot keep {bits} bits: for {base} the most is {most}",
            f"write bits{most} or less",
        )
    return PackedType.of(element, bits, "centred" if centred else "range", members)


def _members(t: CType, clause: VarListClause, item: VarRefItem) -> int:
    """The number of arrays that `soa` makes: one for each member of the structure."""
    t = innermost(t)
    fields = t.fields if isinstance(t, RecordType) and t.fields else ()
    if not 2 <= len(fields) <= MAX_MEMBERS or any(
        not isinstance(f.type.type, FloatType) for f in fields
    ):
        raise error(
            item.loc,
            f"'{item.name}' in '{clause.spelling}' is not an array of structures of numbers",
            f"'soa' needs structures of 2 to {MAX_MEMBERS} numbers",
        )
    return len(fields)


def _number_type(t: CType, clause: VarListClause, item: VarRefItem) -> FloatType:
    t = innermost(t)
    if isinstance(t, RecordType) and not t.is_union and t.fields:
        types = {_number_type(f.type.type, clause, item) for f in t.fields}
        if len(types) == 1:
            return types.pop()
        raise error(
            item.loc,
            f"'{item.name}' in '{clause.spelling}' has members of float and of double",
            "only structures of one floating type can be compressed",
        )
    if isinstance(t, FloatType) and t.bits in (32, 64):
        return t
    what = (
        "members" if isinstance(item.base.expr and item.base.expr.type, RecordType) else "elements"
    )
    raise error(
        item.loc,
        f"'{item.name}' in '{clause.spelling}' has {what} of type '{t}'",
        "only float and double, and structures of nothing else, can be compressed",
    )


def _range(fn: FunctionState, mapping: data.Mapping, section: Section) -> None:
    assert section.minimum is not None and section.maximum is not None
    low, high = _constant(section.minimum), _constant(section.maximum)
    if low is not None and high is not None and low > high:
        raise error(
            section.minimum.loc,
            f"the range's minimum {low:g} is greater than its maximum {high:g}",
            "write [start:length:min:max]",
        )
    values = [_double(fn, slot) for slot in (section.minimum, section.maximum)]
    fn.b.at(section.loc)
    fn.b.add(RangeOp(mapping.device, values[0], values[1]))


def _constant(slot: ExprSlot) -> float | None:
    assert slot.expr is not None
    value = constant_value(slot.expr)
    return float(value) if isinstance(value, int | float) else None


def _double(fn: FunctionState, slot: ExprSlot) -> SSAValue:
    assert slot.expr is not None
    value = fn.rvalue(slot.expr)
    return arithmetic.convert(fn.b, value, slot.expr.type, DOUBLE)
