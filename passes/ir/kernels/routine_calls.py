"""How device code calls functions: each thread on its own, one thread, or all threads together."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ....dialects import llvm_ext
from ...decisions.device_functions import INTEGER, MATH_F32, MATH_F64, PREDICATES
from ..ops.acc_ops import callee_of, has_level
from ..ops.levels import bound_symbol
from ..values.addresses import base_of
from ..variables.recipe_reading import Recipes
from .outline import symbol_table


class CallKind(Enum):
    """How code that all threads run redundantly makes a call."""

    PURE = "pure"
    """Every thread makes the call: the function only computes and reads."""
    EFFECTS = "effects"
    """One thread makes the call."""
    COLLECTIVE = "collective"
    """All threads make the call together: the function has partitioned loops."""


@dataclass
class Calls:
    """The functions and routine directives of a program, as device code calls them."""

    symbols: dict[str, Operation]
    routines: dict[str, acc.RoutineOp]
    recipes: Recipes
    _pure: dict[str, bool] = field(default_factory=dict[str, bool])

    @staticmethod
    def of(module: ModuleOp) -> Calls:
        """The functions and routine directives of a module."""
        routines: dict[str, acc.RoutineOp] = {}
        for op in module.body.block.ops:
            if isinstance(op, acc.RoutineOp):
                routines[op.func_name.string_value()] = op
        return Calls(symbol_table(module), routines, Recipes(module))

    def has_parallelism(self, name: str) -> bool:
        """Whether a function is a routine with gang, worker or vector parallelism."""
        routine = self.routines.get(name)
        return routine is not None and (
            any(has_level(level) for level in (routine.gang, routine.worker, routine.vector))
            or routine.gang_dim is not None
        )

    def is_sequential(self, op: llvm.CallOp) -> bool:
        """Whether a call is of a `seq` routine of the program: no thread in it waits for another."""
        name = callee_of(op)
        return name in self.routines and not self.has_parallelism(name)

    def bound_name(self, name: str) -> str:
        """The function that device code calls for `name` (the `bind` clause)."""
        routine = self.routines.get(name)
        return name if routine is None else bound_symbol(routine) or name

    def kind(self, op: llvm.CallOp) -> CallKind:
        """How code that all threads run redundantly makes this call."""
        name = callee_of(op)
        if name is None:
            return CallKind.EFFECTS
        if self.has_parallelism(name):
            return CallKind.COLLECTIVE
        return CallKind.PURE if self.is_pure(self.bound_name(name)) else CallKind.EFFECTS

    def is_pure(self, name: str) -> bool:
        """Whether a function has no effects but reading memory and its own variables."""
        if name not in self._pure:
            self._pure[name] = False  # assumed while the answer is computed, for recursion
            self._pure[name] = self._find_pure(name)
        return self._pure[name]

    def _find_pure(self, name: str) -> bool:
        function = self.symbols.get(name)
        if not isinstance(function, llvm.FuncOp) or not function.body.blocks:
            plain = name.removeprefix("__builtin_")
            known = plain in MATH_F32 | MATH_F64 | INTEGER | PREDICATES
            pointers = not isinstance(function, llvm.FuncOp) or any(
                isinstance(t, llvm.LLVMPointerType) for t in function.function_type.inputs
            )
            return known and (function is None or not pointers)
        return all(self._is_pure_op(op) for op in function.walk())

    def _is_pure_op(self, op: Operation) -> bool:
        match op:
            case llvm.StoreOp():
                return isinstance(base_of(op.ptr).owner, llvm.AllocaOp)
            case llvm_ext.MemcpyOp() | llvm_ext.MemmoveOp() | llvm_ext.MemsetOp():
                return isinstance(base_of(op.dst).owner, llvm.AllocaOp)
            case llvm.CallOp():
                callee = callee_of(op)
                return callee is not None and self.is_pure(callee)
            case (
                llvm_ext.AtomicRMWOp()
                | llvm_ext.CmpXchgOp()
                | llvm_ext.FenceOp()
                | llvm_ext.TrapOp()
                | llvm.InlineAsmOp()
            ):
                return False
            case _:
                return True
