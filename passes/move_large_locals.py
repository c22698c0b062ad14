"""
Move large arrays of device code of the host target from the stack to the heap.

Gangs run in threads with small stacks, and an access beyond the guard page of a stack changes other memory
without a fault. Arrays of constant size are allocated once per call of the function, if all of them
together are large; arrays of variable length where they are declared, if they turn out to be large. A
declaration that is executed again reuses the memory, as the lifetime of the former array has ended
(C17 6.2.4). The function's return frees all.

Takes:  the host level: kernels and their routines are functions.
Leaves: the same IR with calls of malloc, realloc and free for such arrays. Arrays whose alignment is above
        that of malloc stay.
Fails:  never.

Before:
  %w = llvm.alloca %n x f64 : (i64) -> !llvm.ptr
After:
  %w = scf.if %large -> (!llvm.ptr) { %old = llvm.load %slot … llvm.call @realloc(%old, %bytes) … }
       else { llvm.alloca %n x f64 … }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from .ir.kernels.device_symbols import is_device_code
from .ir.kernels.outline import symbol_table
from .ir.ops.building import PTR, Cursor, constant_value, erase
from .ir.ops.layout import size_of
from .ir.variables.private_storage import entry_cursor

_ALIGNMENT = 16
"""What malloc guarantees, in bytes."""
_SHARE = 8
"""Constant arrays of at least this part of the limit are moved if all together are above it."""
_SIGNATURES: dict[str, tuple[list[Attribute], Attribute]] = {
    "malloc": ([i64], PTR),
    "realloc": ([PTR, i64], PTR),
    "free": ([PTR], llvm.LLVMVoidType()),
}


def arrays_to_move(sizes: Sequence[int], limit: int) -> list[int]:
    """The indices of those arrays of these sizes (bytes), in one function, that do not stay on the stack."""
    if sum(sizes) <= limit:
        return []
    return [i for i, size in enumerate(sizes) if size >= limit // _SHARE]


@dataclass
class _Function:
    """A function whose arrays are moved; `used` collects the C functions that it calls for them."""

    func: llvm.FuncOp
    limit: int
    used: set[str]

    def run(self) -> None:
        constant: list[llvm.AllocaOp] = []
        variable: list[llvm.AllocaOp] = []
        for op in self.func.walk():
            if isinstance(op, llvm.AllocaOp) and _may_move(op):
                (variable if constant_value(op.size) is None else constant).append(op)
        moved = [constant[i] for i in arrays_to_move(list(map(_bytes_of, constant)), self.limit)]
        if not (moved or variable):
            return
        returns = [op for op in self.func.walk() if isinstance(op, llvm.ReturnOp)]
        entry = self.func.body.blocks[0]
        for op in moved:
            if op.parent_block() is entry:
                self._move(op, returns)
            else:
                self._choose(op, returns)
        for op in variable:
            self._choose(op, returns)

    def _call(self, at: Cursor, name: str, *args: SSAValue) -> Operation:
        self.used.add(name)
        result = _SIGNATURES[name][1]
        void = isinstance(result, llvm.LLVMVoidType)
        return at.insert(llvm.CallOp(name, *args, return_type=None if void else result))

    def _move(self, op: llvm.AllocaOp, returns: list[llvm.ReturnOp]) -> None:
        at = Cursor.before(op)
        room = self._call(at, "malloc", at.i64(_bytes_of(op))).results[0]
        room.name_hint = op.res.name_hint
        op.res.replace_all_uses_with(room)
        erase(op)
        for end in returns:
            self._call(Cursor.before(end), "free", room)

    def _choose(self, op: llvm.AllocaOp, returns: list[llvm.ReturnOp]) -> None:
        """Puts `op` into an `scf.if` on its size."""
        entry = entry_cursor(self.func)
        slot = entry.alloca(PTR, "large")
        entry.store(entry.value(llvm.ZeroOp(result_types=[PTR])), slot)
        at = Cursor.before(op)
        bytes_ = at.mul(at.to_i64(op.size), at.i64(size_of(op.elem_type)), "bytes")
        large = at.value(arith.CmpiOp(bytes_, at.i64(self.limit), "ugt"), "is_large")
        choice = at.insert(scf.IfOp(large, [PTR], Region(Block()), Region(Block())))
        name = op.res.name_hint
        op.res.replace_all_uses_with(choice.results[0])
        choice.results[0].name_hint = name
        heap = at.inside(choice.true_region.block)
        room = self._call(heap, "realloc", heap.load(slot, PTR), bytes_).results[0]
        heap.store(room, slot)
        heap.insert(scf.YieldOp(room))
        op.detach()
        stack = at.inside(choice.false_region.block)
        stack.insert(op)
        stack.insert(scf.YieldOp(op.res))
        for end in returns:
            last = Cursor.before(end)
            self._call(last, "free", last.load(slot, PTR))


def _may_move(op: llvm.AllocaOp) -> bool:
    return op.alignment is None or op.alignment.value.data <= _ALIGNMENT


def _bytes_of(op: llvm.AllocaOp) -> int:
    count = constant_value(op.size)
    assert count is not None
    return count * size_of(op.elem_type)


@dataclass(frozen=True)
class MoveLargeLocalsPass(ModulePass):
    """`limit`: the size in bytes above which an array, or a function's arrays of constant size, are large."""

    name = "move-large-locals"

    limit: int = 1 << 20

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        used: set[str] = set()
        for function in op.body.block.ops:
            if isinstance(function, llvm.FuncOp) and is_device_code(function):
                _Function(function, self.limit, used).run()
        if not used:
            return
        symbols = symbol_table(op)
        first = op.body.block.first_op
        assert first is not None
        for name in sorted(used - symbols.keys()):
            type_ = llvm.LLVMFunctionType(*_SIGNATURES[name])
            declared = llvm.FuncOp(name, type_, llvm.LinkageAttr("external"))
            op.body.block.insert_op_before(declared, first)
