"""
Device versions of functions and global variables for the host target.

Device code has its own address space, also when the device is the CPU: it must not see host
variables. So every function that kernels reach (by call or by address) is copied as
`@f.acc_device`, with its own loops run sequentially, and every global variable in a `declare` clause
has a device version `@g.acc_device`, which the runtime finds through a `declare` site (OpenACC 3.4,
2.13 and 2.15). Constants are shared. `link` variables are pointers on the device. `bind` replaces
the function called in device code.

Functions with orphaned gang loops, or that call one that has, take six more arguments: index and
number of gangs in the three gang dimensions, as i64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr, i64
from xdsl.ir import Block, Operation, SSAValue

from ....compiler.base.abi import DataKind
from ....compiler.base.diagnostics import SourceLoc, error
from ....compiler.base.names import c_name
from ....dialects.accx import ENTRY, KERNEL
from ..ops.acc_ops import callee_of
from ..ops.building import PTR, Cursor, erase
from ..ops.layout import size_of, type_name
from ..ops.levels import bound_symbol
from ..variables.recipe_reading import Recipes
from .host_loops import HostLoopLowering
from .loop_nests import GangRange
from .outline import select_device_type
from .sites import DeclaredVariable, SiteTable, SiteVariable

SUFFIX = ".acc_device"
_DIMENSIONS = (1, 2, 3)

Gangs = dict[int, GangRange]

_DECLARE_KINDS = {
    acc.DataClause.ACC_COPYIN: DataKind.COPYIN,
    acc.DataClause.ACC_COPYIN_READONLY: DataKind.COPYIN,
    acc.DataClause.ACC_DECLARE_DEVICE_RESIDENT: DataKind.DEVICE_RESIDENT,
    acc.DataClause.ACC_DECLARE_LINK: DataKind.LINK,
    acc.DataClause.ACC_DEVICEPTR: DataKind.DEVICEPTR,
}


def is_device_code(function: llvm.FuncOp) -> bool:
    """Whether `function`, at the host level, is a kernel or a device version."""
    return KERNEL in function.attributes or function.sym_name.data.endswith(SUFFIX)


def declare_kind(attr: acc.DeclareAttr) -> DataKind:
    """The data action that a global variable's `declare` clause asks of the runtime; `create` by default."""
    return _DECLARE_KINDS.get(attr.data_clause.data, DataKind.CREATE)


def bound_names(routines: Iterator[acc.RoutineOp]) -> dict[str, str]:
    """Function → the symbol that `bind` names for device code on the host target."""
    bound = ((r.func_name.string_value(), bound_symbol(r)) for r in routines)
    return {name: symbol for name, symbol in bound if symbol is not None}


@dataclass
class DeviceVersions:
    """Makes the device versions that the kernels of one module need."""

    module: ModuleOp
    symbols: dict[str, Operation]
    recipes: Recipes
    sites: SiteTable
    groups: Iterator[int]
    bound: dict[str, str] = field(default_factory=dict[str, str])
    _gang_routines: dict[str, bool] = field(default_factory=dict[str, bool])
    _done: dict[str, str] = field(default_factory=dict[str, str])
    _pending: list[tuple[llvm.FuncOp, Gangs]] = field(
        default_factory=list[tuple[llvm.FuncOp, "Gangs"]]
    )

    def provide(self, kernels: list[tuple[llvm.FuncOp, Gangs]]) -> None:
        """
        Retargets every symbol that `kernels` (each with the gang it runs, where known) refer to,
        transitively.

        Raises `CompileError` for a variable in device code without `declare`.
        """
        top = list(self.module.body.block.ops)
        self.bound = bound_names(op for op in top if isinstance(op, acc.RoutineOp))
        for op in top:
            if isinstance(op, llvm.GlobalOp) and isinstance(
                op.attributes.get("acc.declare"), acc.DeclareAttr
            ):
                self._declare(op)
        self._pending += kernels
        while self._pending:
            function, gangs = self._pending.pop()
            for op in list(function.walk()):
                if isinstance(op, llvm.CallOp):
                    self._retarget_call(op, gangs)
                elif isinstance(op, llvm.AddressOfOp):
                    self._retarget_address(op)

    def _declare(self, variable: llvm.GlobalOp) -> None:
        """Adds the device version of a global variable and its site."""
        attr = variable.attributes["acc.declare"]
        assert isinstance(attr, acc.DeclareAttr)
        name = variable.sym_name.data
        is_link = attr.data_clause.data is acc.DataClause.ACC_DECLARE_LINK
        type = PTR if is_link else variable.global_type
        twin = llvm.GlobalOp(
            type,
            name + SUFFIX,
            "external",
            constant=False,
            value=None if is_link else variable.value,
            alignment=None if variable.alignment is None else variable.alignment.value.data,
        )
        if not is_link and variable.body.blocks:
            variable.body.clone_into(twin.body)
        twin.location = variable.location
        if is_link or (twin.value is None and not twin.body.blocks):
            _zero_initialise(twin)
        self.module.body.block.insert_op_after(twin, variable)
        self.symbols[name + SUFFIX] = twin
        self._done[name] = name + SUFFIX
        declared = DeclaredVariable(
            name, name + SUFFIX, size_of(variable.global_type), declare_kind(attr)
        )
        self.sites.add(
            "declare",
            SourceLoc.from_attr(variable.location),
            "",
            [SiteVariable(c_name(name), type_name(variable.global_type))],
            declared=[declared],
        )

    def _retarget_address(self, op: llvm.AddressOfOp) -> None:
        name = op.global_name.string_value()
        target = self.symbols.get(self.bound.get(name, name))
        if isinstance(target, llvm.FuncOp):
            op.properties["global_name"] = SymbolRefAttr(self._function(name))
            return
        if not isinstance(target, llvm.GlobalOp) or target.constant is not None:
            return
        device = self._done.get(name)
        if device is None:
            if name.endswith(SUFFIX):
                return
            raise error(
                SourceLoc.from_attr(op.location),
                f"global variable '{c_name(name)}' is used in device code but the device has no copy of it",
                f"write '#pragma acc declare create({c_name(name)})' (or copyin) after its declaration",
            )
        op.properties["global_name"] = SymbolRefAttr(device)
        twin = self.symbols[device]
        assert isinstance(twin, llvm.GlobalOp)
        if isinstance(twin.global_type, llvm.LLVMPointerType) and not isinstance(
            target.global_type, llvm.LLVMPointerType
        ):
            at = Cursor.after(op)
            load = at.insert(llvm.LoadOp(op.result, PTR), f"{name}_link")
            op.result.replace_uses_with_if(load.results[0], lambda use: use.operation is not load)

    def _retarget_call(self, op: llvm.CallOp, gangs: Gangs) -> None:
        name = callee_of(op)
        if name is None or name.endswith(SUFFIX):
            return
        target = self.bound.get(name, name)
        callee = self._function(name)
        if not self._is_gang_routine(target, frozenset()):
            op.properties["callee"] = SymbolRefAttr(callee)
            return
        at = Cursor.before(op)
        extra: list[SSAValue] = []
        for dim in _DIMENSIONS:
            gang = gangs.get(dim)
            extra += [gang.begin, gang.count] if gang else [at.i64(0), at.i64(1)]
        result = op.returned
        call = at.insert(
            llvm.CallOp(
                callee, *op.args, *extra, return_type=None if result is None else result.type
            )
        )
        if result is not None and call.returned is not None:
            call.returned.name_hint = result.name_hint
            result.replace_all_uses_with(call.returned)
        erase(op)

    def _function(self, name: str) -> str:
        """
        The symbol that device code uses for function `name`; the device version is made if it is missing.
        """
        target = self.bound.get(name, name)
        if target in self._done:
            return self._done[target]
        function = self.symbols.get(target)
        if not isinstance(function, llvm.FuncOp) or not function.body.blocks:
            return target
        copy = function.clone()
        copy.properties["sym_name"] = StringAttr(target + SUFFIX)
        copy.properties["linkage"] = llvm.LinkageAttr("internal")
        copy.attributes.pop(ENTRY, None)
        gangs: Gangs = {}
        if self._is_gang_routine(target, frozenset()):
            gangs = _add_gang_arguments(copy)
        self.module.body.block.insert_op_after(copy, function)
        self.symbols[target + SUFFIX] = copy
        self._done[target] = target + SUFFIX
        HostLoopLowering(copy, self.recipes, gangs, None, self.groups).run(copy.body)
        self._pending.append((copy, gangs))
        return target + SUFFIX

    def _is_gang_routine(self, name: str, path: frozenset[str]) -> bool:
        """Whether function `name` has an orphaned gang loop or calls one that has."""
        if name in self._gang_routines:
            return self._gang_routines[name]
        function = self.symbols.get(name)
        if name in path or not isinstance(function, llvm.FuncOp):
            return False
        found = False
        for op in function.walk():
            if isinstance(op, acc.ParallelOp):
                break
            if isinstance(op, acc.LoopOp) and select_device_type(op.gang) is not None:
                found = True
            elif (callee := callee_of(op)) is not None:
                found |= self._is_gang_routine(self.bound.get(callee, callee), path | {name})
        self._gang_routines[name] = found
        return found


def _add_gang_arguments(function: llvm.FuncOp) -> Gangs:
    """Appends index and number of gangs per dimension to the arguments of `function`."""
    block = function.body.blocks[0]
    first = block.first_op
    assert first is not None
    at = Cursor.before(first)
    gangs: Gangs = {}
    for dim in _DIMENSIONS:
        index = block.insert_arg(i64, len(block.args))
        number = block.insert_arg(i64, len(block.args))
        index.name_hint, number.name_hint = f"gang_{dim}", f"num_gangs_{dim}"
        gangs[dim] = GangRange(index, at.add(index, at.i64(1)), number)
    type = function.function_type
    function.properties["function_type"] = llvm.LLVMFunctionType(
        [*type.inputs.data, *[i64] * (2 * len(_DIMENSIONS))], type.output, type.is_variadic
    )
    attrs = function.arg_attrs
    if isinstance(attrs, ArrayAttr):
        function.properties.pop("arg_attrs")
    return gangs


def _zero_initialise(variable: llvm.GlobalOp) -> None:
    """Gives `variable` the initial value zero."""
    block = Block()
    variable.body.add_block(block)
    zero = llvm.ZeroOp.create(result_types=[variable.global_type])
    zero.location = variable.location
    end = llvm.ReturnOp(zero.results[0])
    end.location = variable.location
    block.add_ops([zero, end])
