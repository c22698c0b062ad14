"""
Inline small seq routines into device code, before it is analysed.

Index functions (`static inline int at(int i, int j, int m)`) and functions of one element would hide a
loop's accesses from the analyses. A call that is not inlined is legal, but cannot be analysed.

Takes:  acc level.
Leaves: in compute constructs and in loops of routines, the body of each called function of the program in
        place of the call, recursively for the calls in it, if the function
        - has one block, with at most `limit` operations, and no directive but loops that one thread runs:
        those marked `seq`, and those without a level in a `routine seq`, which become `seq` (2.15.1);
        - is not a routine with gang, worker or vector level, and no other code is bound to it;
        - does not call itself, and is not part of OpenMP's runtime (infer-routines refuses these by name);
        - uses no global variable other than constants and those with a declare directive (infer-routines
        checks the others). A construct stops growing at `growth` operations. `accx.remarks` of the
        enclosing function lists the inlined calls. The functions themselves stay, for host code and for
        uses of their addresses.
Fails:  never.

Before:
  llvm.func internal @at(%i: i32, %j: i32, %m: i32) -> i32 {
    %row = arith.muli %i, %m overflow<nsw> : i32
    %k = arith.addi %row, %j overflow<nsw> : i32
    llvm.return %k : i32
  }
  acc.parallel {
    %k = llvm.call @at(%i, %j, %m) : (i32, i32, i32) -> i32
After:
  acc.parallel {
    %row = arith.muli %i, %m overflow<nsw> : i32
    %k = arith.addi %row, %j overflow<nsw> : i32
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.context import Context
from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from ..compiler.base.diagnostics import SourceLoc
from ..dialects.llvm_ext import VaArgOp, VaCopyOp, VaEndOp, VaStartOp
from .decisions.device_functions import OPENMP_MARK, is_openmp
from .decisions.levels import Level
from .ir.ops.acc_ops import (
    COMPUTE_OPS,
    callee_of,
    enclosing,
    enclosing_function,
    has_level,
    source_loc,
)
from .ir.ops.building import constant_value
from .ir.ops.inlining import defined_functions, inline_call, recursive_functions
from .ir.ops.levels import bound_symbol, loop_levels, routine_level
from .ir.ops.loop_order import make_sequential
from .ir.ops.notes import note

_STAYS = (
    llvm.InlineAsmOp,
    llvm.StackSaveOp,
    llvm.StackRestoreOp,
    VaStartOp,
    VaEndOp,
    VaCopyOp,
    VaArgOp,
)
"""Operations whose meaning depends on the function that contains them."""

_OF_LOOPS = (acc.YieldOp, acc.PrivateOp, acc.FirstprivateOp, acc.ReductionOp)
"""The parts of a loop directive: its end, and its variables."""


@dataclass
class _Functions:
    """The module's symbols, and cached facts about its functions."""

    module: ModuleOp
    limit: int
    functions: dict[str, llvm.FuncOp] = field(init=False)
    symbols: dict[str, Operation] = field(init=False)
    routines: dict[str, acc.RoutineOp] = field(init=False)
    _sizes: dict[str, int | None] = field(default_factory=dict[str, "int | None"])

    def __post_init__(self) -> None:
        ops = list(self.module.body.block.ops)
        self.functions = defined_functions(self.module)
        self.symbols = {op.sym_name.data: op for op in ops if isinstance(op, llvm.GlobalOp)}
        self.routines = {
            op.func_name.string_value(): op for op in ops if isinstance(op, acc.RoutineOp)
        }

    @cached_property
    def recursive(self) -> set[str]:
        """The functions that may call themselves. Inlining other functions does not add to them."""
        return recursive_functions(self.functions)

    def size_of(self, name: str) -> int | None:
        """The number of operations of a function that may be inlined; None for any other."""
        if name not in self._sizes:
            self._sizes[name] = self._size_of(name) if name in self.functions else None
        return self._sizes[name]

    def _size_of(self, name: str) -> int | None:
        function, routine = self.functions[name], self.routines.get(name)
        if len(function.body.blocks) > 1 or not isinstance(
            function.body.block.last_op, llvm.ReturnOp
        ):
            return None
        if routine is not None and (routine_level(routine) > Level.SEQ or bound_symbol(routine)):
            return None
        if is_openmp(name) and OPENMP_MARK in self.functions:
            return None
        size = 0
        in_seq = routine is not None and has_level(routine.seq)
        for op in function.body.walk():
            size += 1
            if size > self.limit or not self._may_move(op, in_seq):
                return None
        return None if name in self.recursive else size

    def _may_move(self, op: Operation, in_seq: bool) -> bool:
        """Whether an operation has the same meaning in the caller; `in_seq`: it is in a `routine seq`."""
        match op:
            case acc.LoopOp():
                return has_level(op.seq) or (in_seq and not loop_levels(op))
            case llvm.AddressOfOp():
                symbol = self.symbols.get(op.global_name.string_value())
                return not isinstance(symbol, llvm.GlobalOp) or (
                    symbol.constant is not None or "acc.declare" in symbol.attributes
                )
            case llvm.AllocaOp():
                return constant_value(op.size) is not None
            case _:
                is_directive = op.name.startswith("acc.") and not isinstance(op, _OF_LOOPS)
                return not isinstance(op, _STAYS) and not is_directive


def _device_code(module: ModuleOp) -> Iterator[Operation]:
    """The outermost constructs, and the outermost loops of functions that are routines."""
    work = list(module.body.block.ops)
    while work:
        op = work.pop()
        if isinstance(op, (*COMPUTE_OPS, acc.LoopOp)):
            yield op
        else:
            work += [inner for region in op.regions for b in region.blocks for inner in b.ops]


def _front(call: Operation) -> Block:
    """
    The block at whose start the variables of the innermost counted loop or construct around a call are
    allocated.
    """
    home = enclosing(call, acc.LoopOp, scf.ForOp, *COMPUTE_OPS)
    assert home is not None
    return home.regions[0].blocks[0]


def _fits(call: llvm.CallOp, function: llvm.FuncOp) -> bool:
    """
    Whether a call's operand types are the function's parameter types: files may declare a function
    differently.
    """
    types = [argument.type for argument in function.body.block.args]
    last = function.body.block.last_op
    returned = [] if last is None else [value.type for value in last.operands]
    return (
        [value.type for value in call.args] == types
        and len(call.args) == len(call.operands)
        and returned == [result.type for result in call.results]
    )


def _inline_in(
    construct: Operation, program: _Functions, growth: int
) -> list[tuple[SourceLoc, str]]:
    """Inlines calls below `construct` until it has grown by `growth`; returns remarks."""
    remarks: dict[tuple[str, str, int], tuple[SourceLoc, str]] = {}
    work = deque(op for op in construct.walk() if isinstance(op, llvm.CallOp))
    while work:
        call = work.popleft()
        name = callee_of(call)
        size = None if name is None else program.size_of(name)
        if name is None or size is None or size > growth:
            continue
        function = program.functions[name]
        if not _fits(call, function):
            continue
        growth -= size
        loc = source_loc(call)
        remarks.setdefault(
            (name, loc.file, loc.line), (loc, f"the call of '{name}' is replaced by its body")
        )
        made = [o for each in inline_call(call, function, _front(call)) for o in each.walk()]
        for loop in made:
            if isinstance(loop, acc.LoopOp) and not has_level(loop.seq):
                make_sequential(loop, f"one thread runs '{name}', a routine seq")
        work += [o for o in made if isinstance(o, llvm.CallOp)]
    return list(remarks.values())


@dataclass(frozen=True)
class InlineSmallRoutinesPass(ModulePass):
    """
    See the contract at the top of this file. `limit` is the largest number of operations of a function
    that is inlined, `growth` the number of operations that a construct may gain.
    """

    name = "inline-small-routines"

    limit: int = 200
    growth: int = 5000

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        program = _Functions(op, self.limit)
        for construct in _device_code(op):
            remarks = _inline_in(construct, program, self.growth)
            if remarks:
                function = enclosing_function(construct)
                note(function, remarks)
