"""
Rewrites the accesses to a compressed array by changing its element type.

Every pointer computed from the array's device address keeps its shape: a subscript of `float` becomes
one of the packed integer, a row of `float` a row of integers, a structure of `float`s one of
integers. All sizes shrink by the same factor, so every address remains correct, and only loads and stores
need code.
"""

from __future__ import annotations

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerType, i8
from xdsl.ir import Attribute, Operation, SSAValue, Use

from ...compiler.base.diagnostics import CompileError, SourceLoc, error
from ...dialects.accx_cache import CopyAsyncOp
from ...dialects.accx_element import ElementOp
from ...dialects.together import TogetherOp
from ..ir.ops.acc_ops import called, is_inside
from ..ir.ops.building import Cursor, constant_value, erase
from ..ir.ops.layout import type_name
from ..ir.values.addresses import AddressOp
from .element_code import ElementCode


class ArrayRewriter:
    """Rewrites the accesses to one array in one compute construct."""

    def __init__(self, name: str, code: ElementCode, construct: acc.ParallelOp):
        self.name = name
        self.code = code
        self.construct = construct
        self.accesses: list[llvm.LoadOp | llvm.StoreOp] = []

    def run(self, device: SSAValue) -> None:
        """
        Rewrites every access through `device`. Raises `CompileError` for a use that cannot be rewritten.
        """
        work = [device]
        while work:
            pointer = work.pop()
            for use in list(pointer.uses):
                if use.operation is self.construct or not is_inside(use.operation, self.construct):
                    continue
                work += self._use(use)

    def _use(self, use: Use) -> list[SSAValue]:
        """Rewrites one use; returns the pointers that it computes."""
        op = use.operation
        match op:
            case llvm.GEPOp() | ElementOp() if use.index == 0:
                return [self._subscript(op)]
            case llvm.LoadOp():
                self._load(op)
            case llvm.StoreOp() if use.index == 1:
                self._store(op)
            case CopyAsyncOp() if op.source is use.operation.operands[use.index]:
                self._copy(op)
            case llvm.ICmpOp():
                pass
            case acc.CacheOp():
                return [op.acc_var]
            case llvm.CallOp():
                callee = called(op)
                raise self._refusal(
                    op,
                    f"is passed to '{callee}', which reads plain numbers",
                    "pass elements, or subscript the array in the construct",
                )
            case acc.AtomicReadOp() | acc.AtomicWriteOp() | acc.AtomicUpdateOp():
                raise self._refusal(op, "is accessed atomically", "leave this array uncompressed")
            case TogetherOp():
                raise self._refusal(
                    op,
                    f"is {op.DONE} by several threads, which read plain numbers",
                    "leave this array uncompressed, or give the loop 'seq'",
                )
            case acc.PrivateOp() | acc.FirstprivateOp() | acc.ReductionOp():
                raise self._refusal(op, "is private or a reduction", "name it in one clause only")
            case _:
                raise self._refusal(
                    op, f"has its address used by '{op.name}'", "subscript the array by its name"
                )
        return []

    def _refusal(self, op: Operation, what: str, remedy: str) -> CompileError:
        return error(
            SourceLoc.from_attr(op.location), f"the compressed array '{self.name}' {what}", remedy
        )

    def _subscript(self, op: AddressOp) -> SSAValue:
        if isinstance(op, llvm.GEPOp) and op.elem_type == i8:
            return self._byte_step(op)
        op.properties["elem_type"] = self._narrow(op.elem_type, op)
        return op.result

    def _narrow(self, type: Attribute, op: Operation) -> Attribute:
        """`type` with packed integers in place of the numbers."""
        if self._is_number(type):
            return self.code.memory_type
        if isinstance(type, llvm.LLVMArrayType):
            return llvm.LLVMArrayType(type.size, self._narrow(type.type, op))
        if isinstance(type, llvm.LLVMStructType):
            return llvm.LLVMStructType.from_type_list(
                [self._narrow(member, op) for member in type.types]
            )
        raise self._refusal(
            op,
            f"is used as an array of '{type_name(type)}'",
            f"it holds numbers of type '{type_name(self.code.packed.base)}'",
        )

    def _byte_step(self, gep: llvm.GEPOp) -> SSAValue:
        """The operand of a step in bytes (arithmetic on a `char *`), which shrinks like the elements."""
        fmt = self.code.packed.format
        at = Cursor.before(gep)
        if not gep.ssa_indices:
            (constant,) = gep.rawConstantIndices.iter_values()
            step = at.i64(constant)
        else:
            step = at.to_i64(gep.ssa_indices[0])
        elements = _quotient(at, step, fmt.base_bytes)
        if elements is None:
            elements = at.value(arith.ShRSIOp(step, at.i64(fmt.base_bytes.bit_length() - 1)))
        size = at.mul(elements, at.i64(fmt.storage_bytes), step.name_hint)
        scaled = at.value(llvm.GEPOp.from_mixed_indices(gep.ptr, [size], i8), gep.result.name_hint)
        gep.result.replace_all_uses_with(scaled)
        erase(gep)
        return scaled

    def _load(self, op: llvm.LoadOp) -> None:
        result = op.dereferenced_value
        self._check_type(op, result.type)
        at = Cursor.before(op)
        as_bits = result.type != self.code.packed.base
        load = llvm.LoadOp(op.ptr, self.code.integer, alignment=self.code.alignment)
        code = at.value(load, f"{self.name}_code")
        load.attributes.update(op.attributes)
        number = self.code.decode(at, code, result.name_hint)
        if as_bits:
            number = at.value(arith.BitcastOp(number, result.type), result.name_hint)
        result.replace_all_uses_with(number)
        erase(op)
        self.accesses.append(load)

    def _copy(self, op: CopyAsyncOp) -> None:
        """
        Replaces an asynchronous copy into a shared tile by a load, decoding and a store of plain numbers.
        """
        fmt = self.code.packed.format
        bytes = op.bytes.value.data
        if bytes % fmt.base_bytes:
            raise self._refusal(
                op,
                f"is copied to shared memory {bytes} bytes at a time",
                "give the pass promote-cache-to-shared the option fetch=registers",
            )
        at = Cursor.before(op)
        for number in range(bytes // fmt.base_bytes):
            source = at.field(op.source, number * fmt.storage_bytes)
            load = llvm.LoadOp(source, self.code.integer, alignment=self.code.alignment)
            decoded = self.code.decode(at, at.value(load, f"{self.name}_code"), self.name)
            at.store(decoded, at.field(op.target, number * fmt.base_bytes))
            self.accesses.append(load)
        erase(op)

    def _store(self, op: llvm.StoreOp) -> None:
        self._check_type(op, op.value.type)
        at = Cursor.before(op)
        value = op.value
        if value.type != self.code.packed.base:
            value = at.value(arith.BitcastOp(value, self.code.packed.base))
        code = self.code.encode(at, value)
        store = at.insert(llvm.StoreOp(code, op.ptr, alignment=self.code.alignment))
        store.attributes.update(op.attributes)
        erase(op)
        self.accesses.append(store)

    def _is_number(self, type: Attribute) -> bool:
        """Whether `type` is the type of the numbers, or an integer type of the same width."""
        packed = self.code.packed
        return type in (packed.base, IntegerType(packed.format.base_bits))

    def _check_type(self, op: Operation, type: Attribute) -> None:
        if not self._is_number(type):
            raise self._refusal(
                op,
                f"is accessed as '{type_name(type)}'",
                f"it holds numbers of type '{type_name(self.code.packed.base)}'",
            )


def _quotient(at: Cursor, value: SSAValue, divisor: int) -> SSAValue | None:
    """
    `value / divisor` without a division, if the expression shows that it is exact; else None. A division
    would hide from later passes that the value is linear in a loop variable.
    """
    constant = constant_value(value)
    if constant is not None:
        return None if constant % divisor else at.i64(constant // divisor)
    owner = value.owner
    if not isinstance(owner, arith.MuliOp):
        return None
    for number, operand in enumerate(owner.operands):
        part = _quotient(at, operand, divisor)
        if part is not None:
            return at.mul(owner.operands[1 - number], part)
    return None
