"""
Attributes that a kernel's pointer arguments may carry: `llvm.noalias` lets loads be batched across
stores, and with `llvm.readonly` they go through the read-only cache.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects import llvm_ext
from ....dialects.accx import RESTRICT
from ..ops.acc_ops import callee_of, is_restrict
from ..values.accesses import address_escapes
from ..values.addresses import base_of
from .exchanges import has_barrier, is_exchanged
from .outline import DATA_ENTRY
from .routine_calls import Calls

_ALLOCATORS = frozenset(("malloc", "calloc", "aligned_alloc", "acc_malloc"))


def _declared_restrict(entry: Operation) -> bool:
    """
    Whether the array is mapped, by the construct or a data construct around it, through a pointer declared
    `restrict`; the pointer may also be a local variable or a member.
    """
    if RESTRICT in entry.attributes:
        return True
    around = entry.parent_op()
    while around is not None:
        if isinstance(around, acc.DataOp):
            for operand in around.data_clause_operands:
                other = operand.owner
                if (
                    isinstance(other, DATA_ENTRY)
                    and isinstance(entry, DATA_ENTRY)
                    and other.var is entry.var
                    and RESTRICT in other.attributes
                ):
                    return True
        around = around.parent_op()
    return False


def _object(pointer: SSAValue) -> object | None:
    """
    A key for the object that a host pointer points into; None if it is not known to be an object of its
    own.
    """
    pointer = base_of(pointer)
    owner = pointer.owner
    if isinstance(owner, llvm.AllocaOp):
        return pointer
    if isinstance(owner, llvm.AddressOfOp):
        return owner.global_name.string_value()
    return pointer if callee_of(owner) in _ALLOCATORS or is_restrict(pointer) else None


def hidden_variables(args: Iterable[SSAValue]) -> set[SSAValue]:
    """The local variables that data operations among `args` map and to which no pointer leads."""
    entries = [arg.owner for arg in args]
    variables = {entry.var for entry in entries if isinstance(entry, DATA_ENTRY)}
    return {v for v in variables if isinstance(v.owner, llvm.AllocaOp) and not address_escapes(v)}


def distinct_arguments(
    args: Sequence[SSAValue],
    *,
    loads_pointers: bool,
    hidden: Collection[SSAValue] | None = None,
    apart: bool = False,
) -> list[bool]:
    """
    For each host-side value that becomes a kernel argument, whether no other pointer of the kernel leads to
    the same memory: the argument comes from a `restrict` pointer, it is one of the variables `hidden` (by
    default those that `hidden_variables` finds), or it is an object of its own and so are all other
    arguments. `loads_pointers`: the kernel also reaches memory through pointers that it loads. `apart`: the
    arrays of data operations are known to be apart (`accx.apart`).
    """
    if hidden is None:
        hidden = hidden_variables(args)
    objects: list[object | None] = []
    restrict: list[bool] = []
    pointers: list[bool] = []
    for arg in args:
        owner = arg.owner
        variable = owner.var if isinstance(owner, DATA_ENTRY) else arg
        is_pointer = isinstance(arg.type, llvm.LLVMPointerType)
        pointers.append(is_pointer)
        own = is_pointer and isinstance(owner, DATA_ENTRY) and (apart or _declared_restrict(owner))
        known = _object(variable) if is_pointer and variable is not arg else None
        objects.append(variable if own and known is None else known)
        restrict.append(own or (is_pointer and is_restrict(variable)) or variable in hidden)
    all_known = not loads_pointers and all(
        o is not None for o, p in zip(objects, pointers, strict=True) if p
    )
    return [
        o is not None and objects.count(o) == 1 and (r or all_known)
        for o, r in zip(objects, restrict, strict=True)
    ]


def loads_pointers(ops: Sequence[Operation]) -> bool:
    """Whether any operation loads a pointer from memory."""
    return any(
        isinstance(op, llvm.LoadOp) and isinstance(op.dereferenced_value.type, llvm.LLVMPointerType)
        for op in ops
    )


def _is_plain_load(op: Operation) -> bool:
    """
    Whether `op` is a load that is not atomic: LLVM's NVPTX backend fails on an atomic load that the
    read-only cache could serve.
    """
    return isinstance(op, llvm.LoadOp) and op.ordering.value.data == 0


def is_only_read(pointer: SSAValue) -> bool:
    """
    Whether the pointer, and addresses computed from it, are used only by plain loads and as the source of
    copies.
    """
    for use in pointer.uses:
        op = use.operation
        if isinstance(op, llvm.GEPOp | llvm_ext.AddrSpaceCastOp):
            if not is_only_read(op.results[0]):
                return False
        elif isinstance(op, llvm_ext.MemcpyOp | llvm_ext.MemmoveOp):
            if use.index != 1:
                return False
        elif not _is_plain_load(op):
            return False
    return True


def argument_attributes(
    args: Sequence[SSAValue], distinct: Sequence[bool], aligned: Sequence[int], calls: Calls
) -> list[DictionaryAttr]:
    """
    The attributes of a kernel's arguments. `distinct`, and `aligned`, the bytes of which an address is a
    multiple, may be shorter than `args`; the rest get none.
    """
    out: list[DictionaryAttr] = []
    synchronised = has_barrier(args, calls)
    for position, arg in enumerate(args):
        attrs: dict[str, Attribute] = {}
        if isinstance(arg.type, llvm.LLVMPointerType):
            alone = position < len(distinct) and distinct[position]
            if alone and not (synchronised and is_exchanged(arg)):
                attrs["llvm.noalias"] = UnitAttr()
            if position < len(aligned) and aligned[position] > 1:
                attrs["llvm.align"] = IntegerAttr(aligned[position], 64)
            if is_only_read(arg):
                attrs["llvm.readonly"] = UnitAttr()
        out.append(DictionaryAttr(attrs))
    return out
