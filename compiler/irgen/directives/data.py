"""
Data clauses → entry and exit operations (docs/design.md, "Data clauses"; OpenACC 3.4, 2.7).

`locate` finds what an item names: host address, address of the pointer to attach, type, bounds, and how
code in a construct sees the device copy (`Located.bind`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import acc
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.ir import Operation, SSAValue, TypeAttribute

from ....dialects.accx import POINTERS, RESTRICT
from ....dialects.accx_compress import RangeOp
from ....dialects.data_places import ENTRIES, may_be_between
from ...base.diagnostics import error
from ...c import ast as c
from ...c.tree import assigned_variable, walk
from ...c.types import ArrayType, CType, PointerType, pointer_to
from ...directives.records import Clause, Directive, ExprSlot, Section, VarListClause, VarRefItem
from .. import paths
from ..facts import names_pointee
from ..function import FunctionState

Clauses = acc.DataClause
EntryOp = (
    acc.CopyinOp
    | acc.CreateOp
    | acc.PresentOp
    | acc.NoCreateOp
    | acc.DevicePtrOp
    | acc.AttachOp
    | acc.CacheOp
    | acc.UseDeviceOp
    | acc.GetDevicePtrOp
    | acc.UpdateDeviceOp
    | acc.PrivateOp
    | acc.FirstprivateOp
    | acc.ReductionOp
    | acc.DeclareDeviceResidentOp
    | acc.DeclareLinkOp
)

_ENTRY: dict[str, tuple[Callable[..., EntryOp], str, Clauses]] = {
    "copy": (acc.CopyinOp, "copyout", Clauses.ACC_COPY),
    "copyin": (acc.CopyinOp, "delete", Clauses.ACC_COPYIN),
    "copyout": (acc.CreateOp, "copyout", Clauses.ACC_COPYOUT),
    "create": (acc.CreateOp, "delete", Clauses.ACC_CREATE),
    "present": (acc.PresentOp, "delete", Clauses.ACC_PRESENT),
    "no_create": (acc.NoCreateOp, "delete", Clauses.ACC_NO_CREATE),
    "deviceptr": (acc.DevicePtrOp, "", Clauses.ACC_DEVICEPTR),
    "attach": (acc.AttachOp, "detach", Clauses.ACC_ATTACH),
    "device_resident": (
        acc.DeclareDeviceResidentOp,
        "delete",
        Clauses.ACC_DECLARE_DEVICE_RESIDENT,
    ),
    "link": (acc.DeclareLinkOp, "", Clauses.ACC_DECLARE_LINK),
}

DATA_CLAUSES = frozenset(_ENTRY)

_MAPPING = (*(op for op in ENTRIES if op is not acc.UseDeviceOp), acc.CacheOp)
"""Operations whose result is what code in a region uses as the array."""

_ATTACHING = frozenset({"attach", "detach"})
"""Clauses that name pointers."""

_THROUGH_POINTERS = (DATA_CLAUSES - {"deviceptr", "attach", "link"}) | {"delete", "self", "device"}
"""Clauses that may name a section through an array of pointers (2.7.1)."""


@dataclass
class Located:
    """
    The object that an item of a clause designates. `decl` is set if it is a variable: constructs replace
    its value (a pointer) if `by_value`, otherwise its address; `key` is the path of a member. `restrict`:
    it is the target of a pointer declared `restrict` (C11 6.7.3.1).
    """

    name: str
    var: SSAValue
    var_type: TypeAttribute
    c_type: CType
    pointer: SSAValue | None = None
    bounds: list[SSAValue] = field(default_factory=list[SSAValue])
    decl: c.VarDecl | None = None
    by_value: bool = False
    key: str | None = None
    restrict: bool = False

    def bind(self, fn: FunctionState, device: SSAValue, body: c.Stmt | None) -> None:
        """Makes code generated from now on use `device` where it names this object."""
        if self.decl is None:
            if self.key is not None:
                fn.members[self.key] = device
        elif not self.by_value:
            fn.addresses[self.decl] = device
            fn.values.pop(self.decl, None)
        elif body is not None and self.decl in assigned_in(fn, body):
            # The pointer moves inside the construct: it gets a private variable.
            address = fn.scratch(device.type, 8, self.decl.name)
            fn.b.store(device, address)
            fn.addresses[self.decl] = address
            fn.values.pop(self.decl, None)
        else:
            fn.values[self.decl] = device


def assigned_in(fn: FunctionState, body: c.Stmt) -> set[c.VarDecl]:
    """Every variable that `body` assigns, in memory or not."""
    if body not in fn.assigned:
        fn.assigned[body] = {v for n in walk(body) if (v := assigned_variable(n)) is not None}
    return fn.assigned[body]


def locate(fn: FunctionState, clause: Clause, item: VarRefItem) -> Located:
    """The object that `item` of `clause` names, with its bounds evaluated here."""
    base = item.base.expr
    assert base is not None
    sections = list(item.sections)
    if clause.name in _ATTACHING:
        while sections and sections[0].is_index:
            base = _subscript(base, sections.pop(0))
    while (
        len(sections) > 1 and sections[0].is_index and isinstance(_element(base.type), PointerType)
    ):
        base = _subscript(base, sections.pop(0))
    fn.b.at(item.loc)
    types = fn.module.types
    through = bool(sections) or clause.name in _ATTACHING or names_pointee(clause, item)
    if isinstance(base.type, PointerType) and through:
        located = _pointee(fn, item, base, base.type)
        t: CType = base.type
    else:
        place = fn.place(base)
        if place.decl is not None or place.bits is not None:
            raise error(item.loc, f"'{item.name}' has no address", "name a whole variable")
        located = Located(item.name, place.memory, types.convert(base.type), base.type)
        if isinstance(base, c.VarRef):
            located.decl = base.decl
        else:
            key = paths.path_key(fn, base)
            located.key = None if key is None else f"&{key}"
        t = base.type
        if not sections and isinstance(t, ArrayType) and t.is_vla:
            located.bounds = _whole_vla(fn, t)
    located.bounds += _bounds(fn, clause, item, t, sections)
    fn.b.at(item.loc)
    return located


def _element(t: CType) -> CType | None:
    if isinstance(t, PointerType):
        return t.pointee.type
    return t.element.type if isinstance(t, ArrayType) else None


def _subscript(base: c.Expr, section: Section) -> c.Expr:
    """The lvalue `base[index]`."""
    element = _element(base.type)
    assert element is not None and section.lower is not None and section.lower.expr is not None
    loc = section.loc
    if isinstance(base.type, ArrayType):
        pointer: c.Expr = c.Decay(type=pointer_to(element), loc=loc, operand=base)
    else:
        pointer = c.Load(type=base.type, loc=loc, lvalue=base)
    sum_ = c.PtrAdd(type=pointer_to(element), loc=loc, pointer=pointer, index=section.lower.expr)
    return c.Deref(type=element, loc=loc, pointer=sum_)


def _pointee(fn: FunctionState, item: VarRefItem, base: c.Expr, t: PointerType) -> Located:
    """The object that a pointer used as an array points to: its value, and the pointer's address if it can
    be attached."""
    types = fn.module.types
    var_type = types.pointee(t.pointee.type)
    if isinstance(base, c.VarRef):
        decl = base.decl
        value = fn.rvalue(c.Load(type=t, loc=base.loc, lvalue=base))
        out = Located(item.name, value, var_type, t.pointee.type, decl=decl, by_value=True)
        out.restrict = decl.qual.restrict
        if decl.storage is not c.Storage.AUTO:
            out.pointer = fn.address(decl)
        return out
    address = fn.place(base).memory
    value = fn.b.load(address, types.convert(t), item.name)
    key = paths.path_key(fn, base)
    out = Located(item.name, value, var_type, t.pointee.type, pointer=address, key=key)
    out.restrict = isinstance(base, c.Member) and base.field.type.restrict
    return out


def _slot_i64(fn: FunctionState, slot: ExprSlot) -> SSAValue:
    assert slot.expr is not None
    return fn.integer(slot.expr, i64)


def _bounds(
    fn: FunctionState, clause: Clause, item: VarRefItem, t: CType, sections: Sequence[Section]
) -> list[SSAValue]:
    out: list[SSAValue] = []
    for i, section in enumerate(sections):
        if i and isinstance(t, PointerType) and clause.name in _THROUGH_POINTERS:
            outer = out[-1].owner
            assert isinstance(outer, acc.DataBoundsOp)
            outer.attributes[POINTERS] = UnitAttr()
        elif i and isinstance(t, PointerType):
            raise error(
                section.loc,
                f"the section of '{item.name}' goes through an array of pointers",
                "only data clauses and update take such sections: name one row, a[i][0:n]",
            )
        element = _element(t)
        assert element is not None
        b = fn.b
        b.at(section.loc)
        lower = b.int(0, i64) if section.lower is None else _slot_i64(fn, section.lower)
        if section.is_index:
            extent = b.int(1, i64)
        elif section.length is not None:
            extent = _slot_i64(fn, section.length)
        else:
            assert isinstance(t, ArrayType)
            extent = fn.extent(t)
            if section.lower is not None:
                extent = b.sub_nsw(extent, lower)
        out.append(_bound(fn, lower, extent, element))
        t = element
    return out


def _bound(fn: FunctionState, lower: SSAValue, extent: SSAValue, element: CType) -> SSAValue:
    zero = fn.b.int(0, i64)
    stride = fn.byte_size(element)
    op = acc.DataBoundsOp(
        lowerbound=lower,
        extent=extent,
        stride=stride,
        start_idx=zero,
        stride_in_bytes=IntegerAttr.from_bool(True),
    )
    return fn.b.value(op, "bounds")


def _whole_vla(fn: FunctionState, t: ArrayType) -> list[SSAValue]:
    out: list[SSAValue] = []
    element: CType = t
    while isinstance(element, ArrayType) and element.is_vla:
        inner = element.element.type
        out.append(_bound(fn, fn.b.int(0, i64), fn.extent(element), inner))
        element = inner
    return out


# Operations -----------------------------------------------------------------------------------


def modifiers_of(clause: VarListClause) -> acc.DataClauseModifierAttr | None:
    """The `modifiers` attribute; `always` applies to each direction in which the clause copies."""
    flags: set[acc.DataClauseModifier] = set()
    for word in clause.modifiers:
        if word == "always":
            if clause.name in ("copy", "copyin"):
                flags.add(acc.DataClauseModifier.ALWAYSIN)
            if clause.name in ("copy", "copyout"):
                flags.add(acc.DataClauseModifier.ALWAYSOUT)
        else:
            flags.add(acc.DataClauseModifier(word))
    return acc.DataClauseModifierAttr(frozenset(flags)) if flags else None


def clause_attr(clause: VarListClause) -> Clauses:
    """The `dataClause` that names the user's clause."""
    if clause.name == "copyin" and "readonly" in clause.modifiers:
        return Clauses.ACC_COPYIN_READONLY
    if clause.name == "copyout" and "zero" in clause.modifiers:
        return Clauses.ACC_COPYOUT_ZERO
    if clause.name == "create" and "zero" in clause.modifiers:
        return Clauses.ACC_CREATE_ZERO
    return _ENTRY[clause.name][2]


@dataclass
class Mapping:
    """One mapped item: the result of its entry operation, and its exit operation."""

    located: Located
    device: SSAValue
    exit: str
    clause: Clauses
    modifiers: acc.DataClauseModifierAttr | None
    structured: bool = True


def entry(
    fn: FunctionState,
    op: Callable[..., EntryOp],
    located: Located,
    clause: Clauses | None = None,
    **attributes: object,
) -> SSAValue:
    """Adds an entry operation for `located`; returns the device address."""
    created = op(
        var=located.var,
        var_ptr_ptr=located.pointer,
        bounds=located.bounds,
        var_type=located.var_type,
        data_clause=clause,
        var_name=located.name,
        **attributes,
    )
    if located.restrict and isinstance(created, _MAPPING):
        created.attributes[RESTRICT] = UnitAttr()
    return fn.b.value(created, located.name)


def gather(fn: FunctionState, devices: Iterable[SSAValue]) -> None:
    """
    Moves the entry operations of `devices` here, before their directive, if the evaluation of an item came
    between (a call, a branch): no item is mapped before all are evaluated.
    """
    entries = [d.owner for d in devices if isinstance(d.owner, Operation)]
    if not entries:
        return
    following = entries[0]
    while following is not None and may_be_between(following):
        following = following.next_op
    if following is None and all(op.parent is fn.b.block for op in entries):
        return
    for op in entries:
        ranges = [use.operation for use in op.results[0].uses if isinstance(use.operation, RangeOp)]
        for each in (op, *ranges):
            each.detach()
            fn.b.block.add_op(each)


def enter_clauses(
    fn: FunctionState, directive: Directive, *, structured: bool = True
) -> list[Mapping]:
    """Adds the entry operations of all data clauses of `directive`, in the order of the clauses."""
    out: list[Mapping] = []
    for clause in directive.clauses:
        if clause.name in DATA_CLAUSES and isinstance(clause, VarListClause):
            for item in clause.items:
                out.append(enter_item(fn, clause, item, structured=structured))
    fn.b.at(directive.loc)
    return out


def enter_item(
    fn: FunctionState, clause: VarListClause, item: VarRefItem, *, structured: bool
) -> Mapping:
    op, exit_, _ = _ENTRY[clause.name]
    located = locate(fn, clause, item)
    data_clause, modifiers = clause_attr(clause), modifiers_of(clause)
    device = entry(
        fn,
        op,
        located,
        data_clause,
        modifiers=modifiers,
        structured=None if structured else False,
    )
    return Mapping(located, device, exit_, data_clause, modifiers, structured)


def leave(fn: FunctionState, mappings: Sequence[Mapping]) -> None:
    """Adds the exit operations, in reverse order of entry."""
    for m in reversed(mappings):
        exit_mapping(fn, m)


def exit_mapping(fn: FunctionState, m: Mapping) -> None:
    """Emits the exit operation of a data clause, if it has one: `copyout`, `delete` or `detach`."""
    structured = None if m.structured else False
    if m.exit == "copyout":
        fn.b.add(
            acc.CopyoutOp(
                acc_var=m.device,
                var=m.located.var,
                bounds=m.located.bounds,
                var_type=m.located.var_type,
                data_clause=m.clause,
                structured=structured,
                modifiers=m.modifiers,
                var_name=m.located.name,
            )
        )
    elif m.exit:
        op = acc.DetachOp if m.exit == "detach" else acc.DeleteOp
        fn.b.add(
            op(
                acc_var=m.device,
                bounds=m.located.bounds,
                data_clause=m.clause,
                structured=structured,
                modifiers=m.modifiers,
                var_name=m.located.name,
            )
        )
