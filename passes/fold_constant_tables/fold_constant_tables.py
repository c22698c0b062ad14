"""
Give kernels the values of tables that never change, instead of copying them to the device.

A table is an object of at most `limit` bytes whose values are all known when the program is compiled: the
weights of a filter, the directions of a lattice, a scalar such as `const float w = 1 / 16.f`. Loops over its
elements that are unrolled then multiply by constants, and nothing is copied. Tables are `const` objects
with a constant initialiser, which no conforming program changes (C11 6.7.3, 6); and other local and static
ones that are only initialised, whose address no other code gets, and whose device copies have the same values
(`object_uses.py`). Variables with external linkage must be `const`, as code of other compilers may write to
them.

Takes:  the acc level.
Leaves: in compute constructs and `acc routine` functions, tables are addresses of constant globals, and loads
        of constant elements are constants. `copyin`, `copy` and `firstprivate` of a table at a compute
        construct are removed; data constructs and `present` keep theirs. Tables whose device copy a visible
        `create`, `no_create`, `deviceptr` or `private` clause makes are left as they are.
Fails:  never; remarks name the tables, and why an array with constant initial values is not one.

Before:
  %w = llvm.alloca %one x !llvm.array<2 x f32> {accx.constant}
  llvm.store %c3, %w ...
  %w_dev = acc.copyin varPtr(%w : !llvm.ptr) varType(!llvm.array<2 x f32>) -> !llvm.ptr {name = "w"}
  acc.parallel dataOperands(%w_dev : !llvm.ptr) {
    %p = accx.element %w_dev[%i] of f32 : i32
After:
  llvm.mlir.global internal constant @w.table(dense<[3.0, 0.0]> : tensor<2xf32>)
  ...
  acc.parallel {
    %w_1 = llvm.mlir.addressof @w.table : !llvm.ptr
    %p = accx.element %w_1[%i] of f32 : i32
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.accx_compress import PACKED
from ...dialects.volatility import is_ordered
from ..decisions.constant_tables import MOST_BYTES
from ..ir.data.cached_sections import drop
from ..ir.data.visible_data import visible_entry
from ..ir.ops.acc_ops import (
    COMPUTE_OPS,
    ComputeOp,
    constructs_of,
    drop_operands,
    enclosing_function,
    exits_of,
    is_scalar,
    live_ins,
    source_loc,
    uses_inside,
    variable_name,
)
from ..ir.ops.building import PTR, Cursor, erase
from ..ir.ops.notes import note
from ..ir.values.addresses import ADDRESS_OPS, base_of
from .constant_bytes import number_of, offset_of
from .tables import Tables, root_at

_NAMING = (acc.PrivateOp, acc.ReductionOp)
"""Operations of loops that name a variable and make copies without its values."""
_GIVES_VALUES = (acc.CopyinOp, acc.PresentOp)
"""Data operations after which the device copy of a table has the table's values."""


class _Region:
    """
    Replaces the tables that device code uses: the region of a compute construct, or a routine's body. `said`:
    remarks on it.
    """

    def __init__(self, code: ComputeOp | llvm.FuncOp, tables: Tables):
        self.code = code
        self.tables = tables
        self.said: dict[str, None] = {}

    def fold(self) -> None:
        """Replaces the addresses of tables by those of constant globals, and loads of their elements."""
        if not isinstance(self.code, llvm.FuncOp):
            for operand in [*self.code.data_clause_operands, *self.code.firstprivate_operands]:
                self._fold_clause(self.code, operand)
            for value in live_ins(self.code):
                self._fold_outer(value)
        for op in list(self.code.walk()):
            if isinstance(op, llvm.AddressOfOp):
                self._fold_outer(op.result)
            elif isinstance(op, llvm.AllocaOp) and not is_scalar(op.elem_type):
                self._fold_own(op)
        for op in list(self.code.walk()):
            if isinstance(op, llvm.LoadOp) and not is_ordered(op):
                self._fold_load(op)

    def _fold_clause(self, construct: ComputeOp, operand: SSAValue) -> None:
        """Replaces the copy of a table that a clause of the construct makes, and removes the clause."""
        entry = operand.owner
        if (
            not isinstance(entry, (*_GIVES_VALUES, acc.FirstprivateOp))
            or PACKED in entry.attributes
        ):
            return
        if not self._replace(operand, entry.var) or isinstance(entry, acc.PresentOp):
            return
        for last in exits_of(entry):
            erase(last)
        bounds = [bound.owner for bound in entry.bounds]
        is_mapped = isinstance(entry, acc.CopyinOp)
        group = "data_clause_operands" if is_mapped else "firstprivate_operands"
        drop_operands(construct, group, [operand])
        for owner in bounds:
            if isinstance(owner, Operation) and not any(result.uses for result in owner.results):
                erase(owner)

    def _fold_outer(self, address: SSAValue) -> None:
        """Replaces a table that the code uses without a clause of the construct."""
        if root_at(address) is None:
            return
        visible = None
        if not isinstance(self.code, llvm.FuncOp):
            visible = visible_entry(self.code, address)
        if visible is None or isinstance(visible, _GIVES_VALUES):
            self._replace(address, address)

    def _fold_own(self, variable: llvm.AllocaOp) -> None:
        """Replaces a table that the code itself declares, and removes its initialisation."""
        if self.tables.symbol(variable) is not None:
            for store in self.tables.stores[variable]:
                _erase_access(store, store.operands[1 if isinstance(store, llvm.StoreOp) else 0])
            self._replace(variable.res, variable.res)
            if not variable.res.uses:
                erase(variable)

    def _replace(self, used: SSAValue, variable: SSAValue) -> bool:
        """Replaces `used`, the address of a variable or of a copy of it, if the variable is a table."""
        root = root_at(variable)
        symbol = None if root is None else self.tables.symbol(root)
        name = variable_name(variable)
        if root is None or symbol is None:
            why = None if root is None else self.tables.why_not.get(root)
            if why is not None:
                self._say(f"'{name}' is not known to be constant, as {why}: declare it 'const'")
            return False
        if symbol == root and used is variable:
            return True  # device code has constants of the program already
        self._say(f"'{name}' is constant: device code contains its values")
        block = self.code.regions[0].blocks[0]
        made = Cursor.at_start(block, self.code.location).value(llvm.AddressOfOp(symbol, PTR), name)
        for use in uses_inside(used, self.code):
            user = use.operation
            if isinstance(user, acc.CacheOp):
                drop(user)
        for use in uses_inside(used, self.code):
            if not isinstance(use.operation, _NAMING):
                use.operation.operands[use.index] = made
        return True

    def _fold_load(self, load: llvm.LoadOp) -> None:
        """Replaces the load of a constant element by its value."""
        base = base_of(load.ptr)
        root = root_at(base)
        values = self.tables.values(root) if isinstance(root, str) else None
        type = load.dereferenced_value.type
        form, offset = number_of(type), offset_of(load.ptr, base)
        if values is None or form is None or offset is None:
            return
        value = form.read(values, offset)
        if value is None:
            return
        made = Cursor.before(load).constant(value, type)
        load.dereferenced_value.replace_all_uses_with(made)
        _erase_access(load, load.ptr)

    def _say(self, text: str) -> None:
        self.said.setdefault(text)


def _erase_access(access: Operation, address: SSAValue) -> None:
    """Removes a load or store, and the computation of its address if nothing else uses it."""
    erase(access)
    op = address.owner
    while isinstance(op, (*ADDRESS_OPS, llvm.AddressOfOp)) and not op.results[0].uses:
        outer = op.operands[0].owner if op.operands else None
        erase(op)
        op = outer


@dataclass(frozen=True)
class FoldConstantTablesPass(ModulePass):
    """See the contract at the top of this file. `limit`: the size of the largest table, in bytes."""

    name = "fold-constant-tables"

    limit: int = MOST_BYTES

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        tables = Tables(op, self.limit)
        routines = {
            inner.func_name.string_value()
            for inner in op.body.block.ops
            if isinstance(inner, acc.RoutineOp)
        }
        for top in list(op.body.block.ops):
            if not isinstance(top, llvm.FuncOp) or not top.body.blocks:
                continue
            if top.sym_name.data in routines:
                _fold(top, tables)
            for inner in constructs_of(top):
                assert isinstance(inner, COMPUTE_OPS)
                _fold(inner, tables)
        tables.erase_unused()


def _fold(code: ComputeOp | llvm.FuncOp, tables: Tables) -> None:
    region = _Region(code, tables)
    region.fold()
    function = code if isinstance(code, llvm.FuncOp) else enclosing_function(code)
    note(function, [(source_loc(code), text) for text in region.said])
