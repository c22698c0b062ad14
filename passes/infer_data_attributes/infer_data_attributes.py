"""
Make every data attribute of compute constructs explicit (OpenACC 3.4, 2.6.2 and 2.6.3).

Takes:  acc level with parallel (or serial, kernels) constructs.
Leaves: every value from outside that a region uses is a constant, a non-pointer SSA value
        (firstprivate by value), or the result of a data, private, firstprivate or reduction
        operation of that construct; scalars that are firstprivate and only read are such values
        (`firstprivate_values.py`). New operations carry `implicit = true`. Only the operand of an
        `acc.private` in a region may still be a host address: it is a name, never read.
        Pointers used as arrays get the section their loops touch, computed before the construct,
        or an `acc.present`; arrays of pointers get the sections of their rows, too, unless host and device
        share memory (`implicit_rows.py`). Functions wait before they return for results in their own
        variables that come from a queue for which nothing in them waits (`late_results.py`).
Warns:  of such results, and where rows or sections are not what the region uses.
Fails:  if a data construct maps several sections of a variable and it is not known which one the region
        uses. `default(none)` is checked on the typed tree (`compiler/irgen/default_none.py`).

Before:
  acc.parallel {
    %p = accx.element %x[%i] ...
    %v = llvm.load %p ...
  }
After:
  %b = acc.bounds lowerbound(%c0 : i64) extent(%n : i64) stride(%c4 : i64) startIdx(%c0 : i64) ...
  %x_dev = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr
      {implicit = true, name = "x"}
  acc.parallel dataOperands(%x_dev : !llvm.ptr) {
    %p = accx.element %x_dev[%i] ...
    %v = llvm.load %p ...
  }
  acc.delete accPtr(%x_dev : !llvm.ptr) bounds(%b) {implicit = true, name = "x"}
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import ModuleOp, UnitAttr, i8
from xdsl.ir import Operation, OpResult, SSAValue, TypeAttribute
from xdsl.passes import ModulePass

from ...compiler.base.diagnostics import error
from ...compiler.base.names import c_name, value_name
from ...dialects.accx import CELL, FROM_KERNELS, POINTERS
from ...dialects.accx_compress import DECODES, PACKED
from ..ir.data.data_spans import has_rows
from ..ir.data.sections import STORED, PointerUses, TouchedSection, pointer_uses, section_of
from ..ir.data.visible_data import has_other_section, is_conditional, visible_default, visible_entry
from ..ir.ops.acc_ops import (
    COMPUTE_OPS,
    MAPPING_OPS,
    PRIVATIZING_OPS,
    ComputeOp,
    EntryOp,
    alloca_count,
    constructs_of,
    enclosing,
    enclosing_module,
    exits_of,
    is_defined_inside,
    is_inside,
    is_scalar,
    live_ins,
    parallel_construct_operands,
    replace_inside,
    set_operand_groups,
    source_loc,
    variable_name,
)
from ..ir.ops.building import constant_value, erase
from ..ir.ops.layout import size_of
from ..ir.ops.machine import machine_of
from ..ir.ops.messages import Messages
from ..ir.values.addresses import ADDRESS_OPS
from ..ir.values.region_values import HostEmitter, RegionSymbols, variable_key
from ..ir.variables.recipe_reading import Recipes
from ..ir.variables.recipes import firstprivate_recipe
from .array_parts import (
    ArrayParts,
    accessed_part,
    bounds_value,
    narrow_present_arrays,
    section_values,
    use_own_clauses,
)
from .data_attributes import DataAction, VariableFacts, VariableKind, decide
from .device_copies import may_have_device_copy, shared_globals
from .firstprivate_values import read_before
from .implicit_rows import has_pointers, may_attach, row_uses, warn_of_rows
from .late_results import QUEUED_OPS, wait_for_late_results
from .short_sections import warn_of_short_section

Globals = dict[str, llvm.GlobalOp]
MappingOp = acc.CopyinOp | acc.PresentOp | acc.NoCreateOp | acc.DevicePtrOp


def _first_op(construct: ComputeOp) -> Operation:
    block = construct.region.blocks.first
    assert block is not None and block.first_op is not None
    return block.first_op


def _clone_into(construct: ComputeOp, value: OpResult) -> SSAValue:
    """A copy, at the start of the region, of the pure operation that makes `value`."""
    clone = value.op.clone()
    first = _first_op(construct)
    block = first.parent_block()
    assert block is not None
    block.insert_op_before(clone, first)
    result = clone.results[value.index]
    replace_inside(construct, value, result)
    return result


# Step 1: bring what the region uses into a form where every live-in value is a variable.


def _hoist_addresses(construct: ComputeOp, globals_: Globals) -> None:
    """Moves addresses of global variables, and loads of pointer variables, to before the construct."""
    symbols = RegionSymbols(construct)
    hoisted: dict[str, SSAValue] = {}
    loads: dict[object, SSAValue] = {}
    block = construct.parent_block()
    assert block is not None
    for op in list(construct.walk()):
        if isinstance(op, llvm.AddressOfOp):
            name = op.global_name.string_value()
            variable = globals_.get(name)
            if variable is None or variable.constant is not None:
                continue
            if name not in hoisted:
                clone = op.clone()
                block.insert_op_before(clone, construct)
                clone.result.name_hint = value_name(c_name(name))
                hoisted[name] = clone.result
            op.result.replace_all_uses_with(hoisted[name])
            hoisted[name].name_hint = value_name(c_name(name))
            erase(op)
        elif isinstance(op, llvm.LoadOp) and isinstance(
            op.dereferenced_value.type, llvm.LLVMPointerType
        ):
            key = variable_key(op.ptr)
            owner = op.ptr.owner
            if (
                not isinstance(owner, llvm.AllocaOp | llvm.AddressOfOp)
                or is_defined_inside(op.ptr, construct)
                or key in symbols.written
            ):
                continue
            if key not in loads:
                clone = op.clone()
                block.insert_op_before(clone, construct)
                clone.dereferenced_value.name_hint = value_name(variable_name(op.ptr))
                loads[key] = clone.dereferenced_value
            op.dereferenced_value.replace_all_uses_with(loads[key])
            erase(op)


def _settle_live_ins(construct: ComputeOp) -> list[SSAValue]:
    """
    Copies constants and address computations into the region, moves privatising operations of inner loops
    there, and replaces results of outer data operations by the host values they map. Returns the remaining
    live-in values.
    """
    own = set(parallel_construct_operands(construct))
    while True:
        changed = False
        found = live_ins(construct)
        for value in found:
            if value in own or not isinstance(value, OpResult):
                continue
            op = value.op
            if isinstance(op, PRIVATIZING_OPS):
                op.detach()
                first = _first_op(construct)
                block = first.parent_block()
                assert block is not None
                block.insert_op_before(op, first)
            elif isinstance(op, MAPPING_OPS):
                replace_inside(construct, value, op.var)
            elif (
                constant_value(value) is not None
                or isinstance(op, arith.ConstantOp | llvm.ConstantOp | llvm.ZeroOp | llvm.UndefOp)
                or (isinstance(op, llvm.AddressOfOp) and _is_constant_address(op))
                or (isinstance(op, ADDRESS_OPS) and visible_entry(construct, value) is None)
            ):
                _clone_into(construct, value)
            else:
                continue
            changed = True
        if not changed:
            return [value for value in found if value not in own]


def _is_constant_address(op: llvm.AddressOfOp) -> bool:
    """Whether the address is of a function or a constant global, which are part of the device code."""
    module = enclosing(op, ModuleOp)
    if module is None:
        return False
    name = op.global_name.string_value()
    for candidate in module.body.block.ops:
        if isinstance(candidate, llvm.GlobalOp) and candidate.sym_name.data == name:
            return candidate.constant is not None
        if isinstance(candidate, llvm.FuncOp) and candidate.sym_name.data == name:
            return True
    return False


# Step 2: facts about each variable.


def _declared(value: SSAValue, globals_: Globals) -> acc.DataClause | None:
    """
    The clause of a declare directive for a global variable, or for the global pointer of which `value` is
    the value: `deviceptr` is about what it points to, the others are about the variable.
    """
    owner, pointed = value.owner, False
    if isinstance(owner, llvm.LoadOp):
        owner, pointed = owner.ptr.owner, True
    if not isinstance(owner, llvm.AddressOfOp):
        return None
    variable = globals_.get(owner.global_name.string_value())
    declared = variable.attributes.get("acc.declare") if variable is not None else None
    if not isinstance(declared, acc.DeclareAttr):
        return None
    clause = declared.data_clause.data
    if pointed != (clause is acc.DataClause.ACC_DEVICEPTR):
        return None
    # link: the device has only a pointer
    return None if clause is acc.DataClause.ACC_DECLARE_LINK else clause


def _kind(value: SSAValue, globals_: Globals) -> VariableKind:
    owner = value.owner
    if isinstance(owner, llvm.AllocaOp):
        single = alloca_count(owner) == 1 and is_scalar(owner.elem_type)
        return VariableKind.SCALAR if single else VariableKind.AGGREGATE
    if isinstance(owner, llvm.AddressOfOp):
        variable = globals_.get(owner.global_name.string_value())
        if variable is not None:
            scalar = is_scalar(variable.global_type)
            return VariableKind.SCALAR if scalar else VariableKind.AGGREGATE
    return VariableKind.POINTER


def _may_be_shared(value: SSAValue, shared: frozenset[str]) -> bool:
    """Whether a variable may have a device copy; `shared`: the globals that may."""
    if isinstance(value.owner, llvm.AddressOfOp):
        return value.owner.global_name.string_value() in shared
    return not isinstance(value.owner, llvm.AllocaOp) or may_have_device_copy((value,))


# Step 3: operations for what was decided.


@dataclass(frozen=True)
class _Variable:
    value: SSAValue
    name: str
    kind: VariableKind
    uses: PointerUses
    section: TouchedSection | str
    visible: EntryOp | None
    """The operation of a data construct or declare around the construct."""
    one_of_several: bool = False
    """
    The visible clauses map several sections of the variable; the construct uses the one that it accesses.
    """
    partly: bool = False
    """Whether it is an array of which a part may be on the device (`array_parts.py`)."""
    rows: tuple[TouchedSection, ...] = ()
    """The sections of the rows that the pointers in `section` point to, one for each level of pointers."""


def _variable_type(variable: _Variable, globals_: Globals) -> TypeAttribute:
    if variable.one_of_several and isinstance(variable.section, TouchedSection):
        return cast(TypeAttribute, variable.section.unit)
    if variable.visible is not None:
        return variable.visible.var_type
    owner = variable.value.owner
    if isinstance(owner, llvm.AllocaOp):
        return cast(TypeAttribute, owner.elem_type)
    if variable.kind is not VariableKind.POINTER:
        assert isinstance(owner, llvm.AddressOfOp)
        return cast(TypeAttribute, globals_[owner.global_name.string_value()].global_type)
    if isinstance(variable.section, TouchedSection):
        return cast(TypeAttribute, variable.section.unit)
    units = [access.unit for access in variable.uses.accesses]
    return cast(TypeAttribute, units[0] if units else i8)


def _bounds(
    variable: _Variable, action: DataAction, type_: TypeAttribute, emit: HostEmitter
) -> list[SSAValue]:
    """
    The `acc.bounds` of a pointer's section or of an array of run-time size. A present variable has
    the bounds of the clause around the construct: its first elements need not be present.
    """
    owner = variable.value.owner
    if variable.rows:
        assert isinstance(variable.section, TouchedSection)
        found = [_section_bounds(variable, s, emit) for s in (variable.section, *variable.rows)]
        for bound in found[:-1]:
            cast(Operation, bound.owner).attributes[POINTERS] = UnitAttr()
        return found
    visible = variable.visible
    if (
        visible is not None
        and not variable.one_of_several
        and (visible.bounds or not variable.partly)
    ):
        return list(visible.bounds)
    if (
        variable.partly
        and action in (DataAction.COPY, DataAction.COPYIN, DataAction.PRESENT)
        and isinstance(variable.section, TouchedSection)
    ):
        part = accessed_part(variable.value, type_, variable.section, emit)
        if part is not None:
            return [bounds_value(variable.name, *part, size_of(variable.section.unit), emit)]
    if not variable.one_of_several and isinstance(owner, llvm.AllocaOp):
        count = alloca_count(owner)
        if count == 1:
            return []
        lower = emit.i64(0)
        extent = emit.symbol(owner.size) if count is None else emit.i64(count)
    elif (
        (variable.kind is VariableKind.POINTER or variable.one_of_several)
        and action in (DataAction.COPY, DataAction.COPYIN, DataAction.PRESENT)
        and isinstance(variable.section, TouchedSection)
    ):
        lower, extent = section_values(variable.section, emit)
    else:
        return []
    return [bounds_value(variable.name, lower, extent, size_of(type_), emit)]


def _section_bounds(variable: _Variable, section: TouchedSection, emit: HostEmitter) -> SSAValue:
    lower, extent = section_values(section, emit)
    return bounds_value(variable.name, lower, extent, size_of(section.unit), emit)


_ENTRY: dict[DataAction, tuple[type[MappingOp], acc.DataClause]] = {
    DataAction.COPY: (acc.CopyinOp, acc.DataClause.ACC_COPY),
    DataAction.COPYIN: (acc.CopyinOp, acc.DataClause.ACC_COPYIN),
    DataAction.PRESENT: (acc.PresentOp, acc.DataClause.ACC_PRESENT),
    DataAction.NO_CREATE: (acc.NoCreateOp, acc.DataClause.ACC_NO_CREATE),
    DataAction.DEVICEPTR: (acc.DevicePtrOp, acc.DataClause.ACC_DEVICEPTR),
}


def _map_variable(
    construct: ComputeOp,
    variable: _Variable,
    action: DataAction,
    emit: HostEmitter,
    globals_: Globals,
) -> None:
    """Writes the operations of one implicit attribute and uses their result in the region."""
    type_ = _variable_type(variable, globals_)
    if action is DataAction.FIRSTPRIVATE:
        entry: Operation = acc.FirstprivateOp(
            var=variable.value,
            var_type=type_,
            implicit=True,
            var_name=variable.name,
            recipe=firstprivate_recipe(enclosing_module(construct), type_, construct.location),
        )
        group, bounds = "firstprivate_operands", []
    else:
        bounds = _bounds(variable, action, type_, emit)
        cls, clause = _ENTRY[action]
        entry = cls(
            var=variable.value,
            var_type=type_,
            bounds=bounds,
            data_clause=clause,
            implicit=True,
            var_name=variable.name,
        )
        group = "data_clause_operands"
    if variable.visible is not None and DECODES in variable.visible.attributes:
        # A part of a kernels construct: the construct's clauses hold for every part.
        for name in (PACKED, DECODES):
            entry.attributes[name] = variable.visible.attributes[name]
    result = emit.value(entry, f"{variable.name}_dev")
    operands = getattr(construct, group)
    set_operand_groups(construct, **{group: [*operands, result]})
    replace_inside(construct, variable.value, result)
    if action not in (DataAction.FIRSTPRIVATE, DataAction.DEVICEPTR):
        _insert_exit(construct, variable, action, type_, result, bounds)


def _insert_exit(
    construct: ComputeOp,
    variable: _Variable,
    action: DataAction,
    type_: TypeAttribute,
    result: SSAValue,
    bounds: list[SSAValue],
) -> None:
    clause = _ENTRY[action][1]
    if action is DataAction.COPY:
        leave: Operation = acc.CopyoutOp(
            acc_var=result,
            var=variable.value,
            var_type=type_,
            bounds=bounds,
            data_clause=clause,
            implicit=True,
            var_name=variable.name,
        )
    else:
        leave = acc.DeleteOp(
            acc_var=result,
            bounds=bounds,
            data_clause=clause,
            implicit=True,
            var_name=variable.name,
        )
    leave.location = construct.location
    block = construct.parent_block()
    assert block is not None
    block.insert_op_after(leave, construct)


def _only_named(uses: PointerUses) -> bool:
    """Whether the variable is used only as the operand of `acc.private` operations."""
    return (
        bool(uses.as_variable)
        and not uses.accesses
        and not uses.escapes
        and all(isinstance(op, acc.PrivateOp) for op in uses.as_variable)
    )


def infer_construct(construct: ComputeOp, module: ModuleOp, messages: Messages) -> None:
    """Makes the data attributes of one construct explicit. Raises `CompileError` as the pass does."""
    _infer(construct, _Facts.of(module), messages)


@dataclass(frozen=True)
class _Facts:
    """
    What the pass reads of the module: its globals, those that may have a device copy, and whether host
    addresses mean nothing to the device.
    """

    module: ModuleOp
    globals: Globals
    shared: frozenset[str]
    parts: ArrayParts
    recipes: Recipes
    apart: bool

    @staticmethod
    def of(module: ModuleOp) -> _Facts:
        machine = machine_of(module)
        apart = machine.target != "host" and not machine.managed
        shared, parts = shared_globals(module), ArrayParts(module)
        return _Facts(module, _globals(module), shared, parts, Recipes(module), apart)

    @cached_property
    def attaches(self) -> bool:
        """Whether anything of the module may attach pointers."""
        return may_attach(self.module)


def _globals(module: ModuleOp) -> Globals:
    return {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, llvm.GlobalOp)}


def _infer(construct: ComputeOp, module: _Facts, messages: Messages) -> None:
    globals_ = module.globals
    _hoist_addresses(construct, globals_)
    use_own_clauses(construct)
    values = _settle_live_ins(construct)
    default = visible_default(construct)
    symbols = RegionSymbols(construct)
    decided: list[tuple[_Variable, DataAction]] = []
    for value in values:
        if not isinstance(value.type, llvm.LLVMPointerType):
            continue
        uses = pointer_uses(value, construct, symbols)
        if _only_named(uses):
            continue
        visible = visible_entry(construct, value)
        clause = _declared(value, globals_)
        if clause is None and visible is not None:
            clause = visible.data_clause.data
        if isinstance(value.owner, acc.UseDeviceOp):
            clause = acc.DataClause.ACC_DEVICEPTR
        name = variable_name(value)
        kind = _kind(value, globals_)
        section = section_of(uses, symbols)
        several = visible is not None and has_other_section(visible)
        if visible is not None and not several:
            warn_of_short_section(visible, name, uses, symbols, messages)
        conditional = visible is not None and is_conditional(visible)
        rows, known = None, False
        if visible is None and module.apart:
            rows = row_uses(uses, symbols)
            known = (
                rows is not None and not isinstance(rows.sections, str) and has_pointers(section)
            )
        elif visible is not None and conditional and has_rows(visible):
            rows = row_uses(uses, symbols)
        partly = kind is VariableKind.AGGREGATE and not several and module.parts.may_be(value)
        variable = _Variable(value, name, kind, uses, section, visible, several, partly)
        if several and not isinstance(section, TouchedSection):
            raise error(
                source_loc(construct),
                f"two sections of '{name}' are visible, and which one is used is not known: {section}",
                f"add present({name}[start:length]) to the construct",
            )
        is_value = not uses.accesses and set(uses.escapes) <= {STORED}
        if kind is VariableKind.POINTER and is_value:
            clause = clause or acc.DataClause.ACC_NO_CREATE
        reduced = any(isinstance(op, acc.ReductionOp) for op in uses.as_variable)
        writes_rows = rows is not None and rows.writes and (known or visible is not None)
        facts = VariableFacts(
            kind=kind,
            from_kernels=FROM_KERNELS in construct.attributes
            or isinstance(construct, acc.KernelsOp),
            default_present=default is acc.ClauseDefaultValue.PRESENT,
            reads=uses.reads,
            writes=uses.writes or reduced or writes_rows,
            reduction=reduced,
            visible_clause=clause,
            conditional=conditional,
            section_known=isinstance(variable.section, TouchedSection),
            shared=_may_be_shared(value, module.shared),
        )
        action = decide(facts)
        if visible is None and rows is not None and action in (DataAction.COPY, DataAction.COPYIN):
            if known:
                variable = replace(variable, rows=cast(tuple[TouchedSection, ...], rows.sections))
            elif not module.attaches:
                warn_of_rows(name, rows, section, messages)
        decided.append((variable, action))
    emit = HostEmitter(construct)
    narrow_present_arrays(construct, module.parts, symbols)
    for variable, action in decided:
        _map_variable(construct, variable, action, emit, globals_)
    read_before(construct, module.recipes)


def _mark_cells(construct: ComputeOp) -> None:
    """
    Marks copies of scalars that the construct uses only for its reductions (`accx.cell`): each is read and
    written once per launch, so the runtime may keep it in the cheapest memory, whose value it gives back.
    """
    for operand in construct.data_clause_operands:
        entry = operand.owner
        if not isinstance(entry, acc.CopyinOp) or not is_scalar(entry.var_type):
            continue
        if not any(isinstance(leave, acc.CopyoutOp) for leave in exits_of(entry)):
            continue
        inside = [u.operation for u in operand.uses if is_inside(u.operation, construct)]
        inside = [op for op in inside if op is not construct]
        if inside and all(isinstance(op, acc.ReductionOp) for op in inside):
            entry.attributes[CELL] = UnitAttr()


@dataclass(frozen=True)
class InferDataAttributesPass(ModulePass):
    """See the module's description."""

    name = "infer-data-attributes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        facts, messages = _Facts.of(op), Messages(op)
        directives = list(constructs_of(op, QUEUED_OPS))
        for directive in directives:
            if isinstance(directive, COMPUTE_OPS):
                _infer(directive, facts, messages)
                _mark_cells(directive)
        wait_for_late_results(directives, messages)
        messages.save()
