"""
The host memory that a pointer may point to, and whether two accesses of host code may overlap.

The roots of a pointer are where address computations begin: a variable, fresh memory of an
allocator, a parameter, or a value of unknown origin (loaded, returned by a function). Two roots are
distinct objects if C says so: different variables and fresh memory; a local variable or fresh memory
and a parameter, which is older; and an object whose address never leaves the analysed code and any pointer
of unknown origin.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue, Use

from ....dialects.accx_element import ElementOp
from ...decisions.device_functions import PURE_FUNCTIONS
from ..ops.acc_ops import ENTRY_OPS, branch_values, callee_of, is_restrict
from ..values.addresses import ADDRESS_OPS

Root = str | SSAValue
"""A global variable by name; or the value a pointer's computation begins with."""

_ALLOCATORS = frozenset(("malloc", "calloc", "aligned_alloc"))
_BORROWING = PURE_FUNCTIONS | frozenset(("free", "printf", "fprintf"))
"""Library functions that keep none of the pointers passed to them, and return none."""

_NEITHER_STORED_NOR_RETURNED = (
    *ENTRY_OPS,
    acc.CopyoutOp,
    acc.DeleteOp,
    acc.DetachOp,
    acc.UpdateDeviceOp,
    acc.UpdateHostOp,
    acc.GetDevicePtrOp,
    llvm.LoadOp,
    llvm.ICmpOp,
)


def _is_fresh(root: SSAValue) -> bool:
    return callee_of(root.owner) in _ALLOCATORS


def _is_parameter(root: Root) -> bool:
    if not isinstance(root, BlockArgument):
        return False
    function = root.block.parent_op()
    return isinstance(function, llvm.FuncOp) and root.block is function.body.blocks.first


def _sources(value: SSAValue) -> list[SSAValue] | None:
    """The pointers that `value` selects from or is computed from; None if it is a root."""
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        if isinstance(loop, scf.ForOp) and value.index > 0:
            index = value.index - 1
            return [loop.iter_args[index], _yielded(loop.body.block.last_op, index)]
        if isinstance(loop, scf.WhileOp):
            if value.block is loop.before_region.block:
                after = loop.after_region.block.last_op
                return [loop.arguments[value.index], _yielded(after, value.index)]
            return [_yielded(loop.before_region.block.last_op, value.index + 1)]
        return None
    assert isinstance(value, OpResult)
    match value.op:
        case (llvm.GEPOp() | ElementOp()) as op:
            return [op.ptr]
        case arith.SelectOp() as op:
            return [op.lhs, op.rhs]
        case scf.IfOp() as op:
            return branch_values(op, value)
        case scf.ForOp() as op:
            inside = _yielded(op.body.block.last_op, value.index)
            return [op.iter_args[value.index], inside]
        case scf.WhileOp() as op:
            return [_yielded(op.before_region.block.last_op, value.index + 1)]
        case _ if isinstance(value.op, ENTRY_OPS):
            return [value.op.var]
        case _:
            return None


def _yielded(terminator: Operation | None, index: int) -> SSAValue:
    assert terminator is not None
    return terminator.operands[index]


@dataclass
class HostMemory:
    """Answers for one module, cached until `forget` is called because the module has changed."""

    module: ModuleOp
    _addresses: dict[str, list[SSAValue]] | None = None
    _defined: set[str] = field(default_factory=set[str])
    """Global variables defined by the program: libraries do not know their addresses."""
    _roots: dict[SSAValue, frozenset[Root]] = field(
        default_factory=dict[SSAValue, "frozenset[Root]"]
    )
    _escaped: dict[Root, bool] = field(default_factory=dict[Root, bool])

    def forget(self) -> None:
        """Discards cached answers: the module now passes pointers in new ways."""
        self._addresses = None
        self._roots.clear()
        self._escaped.clear()

    def roots(self, pointer: SSAValue) -> frozenset[Root]:
        """All roots that `pointer` may have been computed from; empty for a null pointer."""
        if pointer not in self._roots:
            self._roots[pointer] = frozenset(self._find_roots(pointer))
        return self._roots[pointer]

    @staticmethod
    def _find_roots(pointer: SSAValue) -> set[Root]:
        found: set[Root] = set()
        seen: set[SSAValue] = set()
        work = [pointer]
        while work:
            value = work.pop()
            if value in seen:
                continue
            seen.add(value)
            sources = _sources(value)
            if sources is not None:
                work += sources
            elif isinstance(value.owner, llvm.AddressOfOp):
                found.add(value.owner.global_name.string_value())
            elif not isinstance(value.owner, llvm.ZeroOp):
                found.add(value)
        return found

    def distinct(self, left: Root, right: Root, both_read: bool = False) -> bool:
        """
        Whether no byte can be reached through both roots. What `restrict` promises holds only if
        one of the accesses writes (C11 6.7.3.1), so it is ignored if both only read (`both_read`).
        """
        if left == right:
            return False
        if self._is_object(left) and self._is_object(right):
            return True
        if not both_read and any(is_restrict(r) for r in (left, right) if not isinstance(r, str)):
            return True
        for one, other in ((left, right), (right, left)):
            if self._is_object(one) and not isinstance(one, str) and _is_parameter(other):
                return True
            if self._is_object(one) and not self._escapes(one):
                return True
        return False

    @staticmethod
    def _is_object(root: Root) -> bool:
        """Whether the root is an object of its own: a variable or fresh memory."""
        return isinstance(root, str) or isinstance(root.owner, llvm.AllocaOp) or _is_fresh(root)

    def _escapes(self, root: Root) -> bool:
        """Whether a pointer of unknown origin may hold the address of an object."""
        if root not in self._escaped:
            pointers = self._global_addresses(root) if isinstance(root, str) else [root]
            foreign = isinstance(root, str) and root not in self._defined
            self._escaped[root] = foreign or any(self._leaks(pointer) for pointer in pointers)
        return self._escaped[root]

    def _global_addresses(self, name: str) -> list[SSAValue]:
        if self._addresses is None:
            self._addresses = defaultdict(list)
            for op in self.module.walk():
                if isinstance(op, llvm.AddressOfOp):
                    self._addresses[op.global_name.string_value()].append(op.result)
                elif isinstance(op, llvm.GlobalOp) and (op.value is not None or op.body.blocks):
                    self._defined.add(op.sym_name.data)
        return self._addresses.get(name, [])

    @staticmethod
    def _leaks(pointer: SSAValue) -> bool:
        work = [pointer]
        while work:
            for use in work.pop().uses:
                if isinstance(use.operation, ADDRESS_OPS):
                    work.append(use.operation.result)
                elif _lets_out(use):
                    return True
        return False


def _lets_out(use: Use) -> bool:
    """Whether a use may store the address somewhere or hand it to code that does."""
    match use.operation:
        case llvm.StoreOp():
            return use.index == 0
        case llvm.CallOp() as call:
            return callee_of(call) not in _BORROWING
        case op:
            return not isinstance(op, _NEITHER_STORED_NOR_RETURNED)
