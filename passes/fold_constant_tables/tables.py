"""The tables of a module: variables whose values are known, and the constant globals that hold them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.accx import CONSTANT
from ..decisions.constant_tables import image
from ..ir.kernels.outline import symbol_table
from ..ir.ops.acc_ops import COMPUTE_OPS, alloca_count, enclosing, is_scalar, variable_name
from ..ir.ops.building import erase, put_first
from ..ir.ops.layout import layout_of
from .constant_bytes import constant_global, holds_numbers, initial_bytes, stored_by
from .object_uses import OWN_DEFINITION, Order, uses_of

Root = llvm.AllocaOp | str
"""A local variable, or a global one by name."""

_COPYIN = (acc.DataClause.ACC_COPYIN, acc.DataClause.ACC_COPYIN_READONLY)


def root_at(address: SSAValue) -> Root | None:
    """The variable that begins at an address; None for other addresses."""
    owner = address.owner
    if isinstance(owner, llvm.AllocaOp):
        return owner
    return owner.global_name.string_value() if isinstance(owner, llvm.AddressOfOp) else None


@dataclass
class Tables:
    """The tables of a module, each found out once. `limit`: the size of the largest, in bytes."""

    module: ModuleOp
    limit: int
    why_not: dict[Root, str] = field(default_factory=dict[Root, str])
    """For remarks: why variables that the program does not change are not tables without `const`."""
    stores: dict[Root, list[Operation]] = field(default_factory=dict[Root, list[Operation]])
    """The operations that initialise local tables."""
    _symbols: dict[str, Operation] = field(init=False)
    _addresses: dict[str, list[SSAValue]] = field(init=False)
    _found: dict[Root, str | None] = field(default_factory=dict["Root", "str | None"])
    _values: dict[str, bytes | None] = field(default_factory=dict[str, "bytes | None"])
    _order: Order = field(default_factory=Order)
    _made: dict[str, llvm.GlobalOp] = field(default_factory=dict[str, llvm.GlobalOp])

    def __post_init__(self) -> None:
        self._symbols = symbol_table(self.module)
        self._addresses = defaultdict(list)
        for op in self.module.walk():
            if isinstance(op, llvm.AddressOfOp):
                self._addresses[op.global_name.string_value()].append(op.result)

    def symbol(self, root: Root) -> str | None:
        """The constant global with the values of a variable; None if the variable is not a table."""
        if root not in self._found:
            is_local = isinstance(root, llvm.AllocaOp)
            self._found[root] = self._local(root) if is_local else self._global(root)
        return self._found[root]

    def values(self, name: str) -> bytes | None:
        """The bytes of a constant global that device code shares; None if they are not known."""
        if name not in self._values:
            op = self._symbols.get(name)
            self._values[name] = None
            if isinstance(op, llvm.GlobalOp) and op.constant is not None:
                shared = "acc.declare" not in op.attributes
                self._values[name] = self._initial(op) if shared else None
        return self._values[name]

    def _initial(self, variable: llvm.GlobalOp) -> bytes | None:
        """The initial bytes of a global variable, if the program has it with this definition."""
        if variable.linkage.linkage.data not in OWN_DEFINITION:
            return None
        return initial_bytes(variable) if self._has_form(variable.global_type) else None

    def _has_form(self, type: Attribute) -> bool:
        """Whether objects of a type consist of numbers, and are not larger than tables may be."""
        try:
            return 0 < layout_of(type).size <= self.limit and holds_numbers(type)
        except TypeError:  # an opaque structure
            return False

    def _local(self, variable: llvm.AllocaOp) -> str | None:
        if alloca_count(variable) != 1 or not self._has_form(variable.elem_type):
            return None
        uses = uses_of([variable.res], self._symbols)
        stores = self._order.sorted(uses.stores)
        if stores is None or enclosing(stores[0], *COMPUTE_OPS) is not enclosing(
            variable, *COMPUTE_OPS
        ):
            return None
        known = [found for op in stores if (found := stored_by(op, variable.res)) is not None]
        if len(known) < len(stores):
            return None
        if uses.changes:
            return None
        if CONSTANT not in variable.attributes:
            if not all(self._order.is_after(op, stores[-1]) for op in uses.others):
                return None
            if uses.let_out is not None:
                self._refuse(variable, variable.elem_type, uses.let_out)
                return None
        self.stores[variable] = stores
        name, type = variable_name(variable.res), variable.elem_type
        return self._add(name, variable, type, image(layout_of(type).size, known))

    def _global(self, name: str) -> str | None:
        variable = self._symbols.get(name)
        data = self._initial(variable) if isinstance(variable, llvm.GlobalOp) else None
        if not isinstance(variable, llvm.GlobalOp) or data is None:
            return None
        declared = variable.attributes.get("acc.declare")
        if isinstance(declared, acc.DeclareAttr) and declared.data_clause.data not in _COPYIN:
            return None
        is_const = variable.constant is not None
        uses = uses_of(self._addresses[name], self._symbols)
        if uses.changes or (uses.stores and not is_const):
            return None
        is_external = variable.linkage.linkage.data == "external"
        why = "other code may assign it" if is_external else uses.let_out
        if why is not None and not is_const:
            self._refuse(name, variable.global_type, why)
            return None
        if is_const and declared is None:
            return name
        return self._add(name, variable, variable.global_type, data)

    def _refuse(self, root: Root, type: Attribute, why: str) -> None:
        """Keeps the reason why an array or structure is not a table; scalars are rarely meant as one."""
        if not is_scalar(type):
            self.why_not[root] = why

    def _add(self, name: str, variable: Operation, type: Attribute, data: bytes) -> str:
        """Adds a constant global with the values of a table; returns its name."""
        symbol, number = f"{name}.table", 0
        while symbol in self._symbols:
            number += 1
            symbol = f"{name}.table.{number}"
        made = constant_global(symbol, type, data, layout_of(type).align)
        made.location = variable.location
        put_first(self.module.body.block, made)
        self._symbols[symbol] = made
        self._values[symbol] = data
        self._made[symbol] = made
        return symbol

    def erase_unused(self) -> None:
        """Removes the constant globals of which all loads became constants."""
        if not self._made:
            return
        ops = self.module.walk()
        named = {op.global_name.string_value() for op in ops if isinstance(op, llvm.AddressOfOp)}
        for name, made in self._made.items():
            if name not in named:
                erase(made)
