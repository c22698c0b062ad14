"""
Data records: the request of each data operation to the runtime, and the host code that fills them.

A `Record` is one data operation translated to `DataKind`, flags and section. `RecordArray` is the
memory that holds the `DataRecord`s of one construct (`compiler/base/abi.py`), a stack slot of the function;
its records are filled at the construct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue

from ...compiler.base.abi import RECORD_BYTES, DataFlag, DataKind, DataRecord
from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects.accx import CELL, IN_PLACE, INFERRED, POINTERS, SHARED
from ...dialects.accx_compress import PACKED
from ..ir.kernels.sites import SiteVariable
from ..ir.ops.acc_ops import variable_name
from ..ir.ops.building import PTR, Cursor, constant_value
from ..ir.ops.layout import size_of, type_name
from .compressed_records import Packing

EntryOp = (
    acc.CopyinOp
    | acc.CreateOp
    | acc.PresentOp
    | acc.NoCreateOp
    | acc.AttachOp
    | acc.DevicePtrOp
    | acc.UseDeviceOp
    | acc.DeclareDeviceResidentOp
    | acc.DeclareLinkOp
    | acc.GetDevicePtrOp
    | acc.UpdateDeviceOp
    | acc.FirstprivateMapOp
)
ExitOp = acc.CopyoutOp | acc.DeleteOp | acc.DetachOp | acc.UpdateHostOp
EXIT_OPS = (acc.CopyoutOp, acc.DeleteOp, acc.DetachOp, acc.UpdateHostOp)

_FIXED_KINDS: dict[type, DataKind] = {
    acc.PresentOp: DataKind.PRESENT,
    acc.NoCreateOp: DataKind.NO_CREATE,
    acc.AttachOp: DataKind.ATTACH,
    acc.DevicePtrOp: DataKind.DEVICEPTR,
    acc.UseDeviceOp: DataKind.USE_DEVICE,
    acc.DeclareDeviceResidentOp: DataKind.DEVICE_RESIDENT,
    acc.DeclareLinkOp: DataKind.LINK,
    acc.UpdateDeviceOp: DataKind.UPDATE_DEVICE,
    acc.FirstprivateMapOp: DataKind.COPYIN,
    acc.CopyoutOp: DataKind.COPYOUT,
    acc.DeleteOp: DataKind.DELETE,
    acc.DetachOp: DataKind.DETACH,
    acc.UpdateHostOp: DataKind.UPDATE_SELF,
}
_MODIFIER_FLAGS = {
    acc.DataClauseModifier.ZERO: DataFlag.ZERO,
    acc.DataClauseModifier.READONLY: DataFlag.READONLY,
    acc.DataClauseModifier.ALWAYSIN: DataFlag.ALWAYS_IN,
    acc.DataClauseModifier.ALWAYSOUT: DataFlag.ALWAYS_OUT,
    acc.DataClauseModifier.CAPTURE: DataFlag.CAPTURE,
}
_CLAUSE_FLAGS = {
    acc.DataClause.ACC_COPYIN_READONLY: DataFlag.READONLY,
    acc.DataClause.ACC_CREATE_ZERO: DataFlag.ZERO,
    acc.DataClause.ACC_COPYOUT_ZERO: DataFlag.ZERO,
}
_COPIES_OUT = (
    acc.DataClause.ACC_COPY,
    acc.DataClause.ACC_COPYOUT,
    acc.DataClause.ACC_COPYOUT_ZERO,
)


@dataclass(frozen=True)
class Record:
    """One data operation: the values are host-side; `loc` and `name` are for messages."""

    kind: DataKind
    flags: DataFlag
    base: SSAValue
    pointer: SSAValue | None
    bounds: tuple[SSAValue, ...]
    type: Attribute
    name: str
    loc: Attribute
    packing: Packing | None = None

    @property
    def variable(self) -> SiteVariable:
        """The record's variable for the site table."""
        try:
            return SiteVariable(self.name, type_name(self.type), size_of(self.type))
        except TypeError:
            return SiteVariable(self.name, type_name(self.type), 0)


def _flags(op: EntryOp | ExitOp) -> DataFlag:
    flags = _CLAUSE_FLAGS.get(op.data_clause.data, DataFlag(0))
    for modifier in op.modifiers.data:
        flags |= _MODIFIER_FLAGS[modifier]
    if op.implicit.value.data:
        flags |= DataFlag.IMPLICIT
    if not op.structured.value.data:
        flags |= DataFlag.DYNAMIC
    if CELL in op.attributes:
        flags |= DataFlag.CELL
    if IN_PLACE in op.attributes:
        flags |= DataFlag.IN_PLACE
    if SHARED in op.attributes:
        flags |= DataFlag.SHARED
    if INFERRED in op.attributes:
        flags |= DataFlag.INFERRED
    if PACKED in op.attributes:
        flags |= DataFlag.COMPRESSED
    return flags


def _name(op: EntryOp | ExitOp, base: SSAValue) -> str:
    return op.var_name.data if op.var_name is not None else variable_name(base)


def exit_operations(entry: EntryOp) -> list[ExitOp]:
    """The exit operations that belong to `entry`."""
    return [u.operation for u in entry.acc_var.uses if isinstance(u.operation, EXIT_OPS)]


def entry_record(entry: EntryOp) -> Record:
    """
    The record of an entry operation. `copy` and `copyout` are distinguished from `copyin` and `create` by
    the exit operation, or (in `declare`, whose exit has its own operations) by the clause.
    """
    flags = _flags(entry)
    exits = exit_operations(entry)
    for exit in exits:
        flags |= _flags(exit) & (DataFlag.ALWAYS_OUT | DataFlag.CAPTURE)
    out = any(isinstance(exit, acc.CopyoutOp) for exit in exits)
    if not exits:
        out = entry.data_clause.data in _COPIES_OUT
    match entry:
        case acc.CopyinOp():
            kind = DataKind.COPY if out else DataKind.COPYIN
        case acc.CreateOp():
            kind = DataKind.COPYOUT if out else DataKind.CREATE
        case acc.GetDevicePtrOp():
            raise error(
                SourceLoc.from_attr(entry.location),
                "acc.getdeviceptr is no operand of acc.exit_data, acc.update or acc.declare_exit",
            )
        case _:
            kind = _FIXED_KINDS[type(entry)]
    if kind in (DataKind.PRESENT, DataKind.USE_DEVICE) and _is_pointer(entry):
        flags |= DataFlag.UNBOUNDED
    return Record(
        kind, flags, entry.var, entry.var_ptr_ptr, tuple(entry.bounds), entry.var_type,
        _name(entry, entry.var), entry.location, Packing.of(entry),
    )  # fmt: skip


def _is_pointer(entry: EntryOp) -> bool:
    """Whether a data operation names an array through a pointer, without a section."""
    return not entry.bounds and not isinstance(entry.var.owner, llvm.AllocaOp | llvm.AddressOfOp)


def exit_record(exit: ExitOp) -> Record:
    """The record of an exit operation of `exit data` or `update`, whose entry is a lookup."""
    entry = exit.acc_var.owner
    assert isinstance(entry, EntryOp)
    bounds = tuple(exit.bounds) or tuple(entry.bounds)
    return Record(
        _FIXED_KINDS[type(exit)], _flags(exit), entry.var, entry.var_ptr_ptr, bounds,
        entry.var_type, _name(exit if exit.var_name is not None else entry, entry.var),
        exit.location,
    )  # fmt: skip


@dataclass(frozen=True)
class _Bracket:
    """
    One section bracket, all i64; `stride` in bytes. `pointers`: its elements are pointers to arrays of
    which the next bracket is a section.
    """

    lower: SSAValue
    extent: SSAValue
    stride: SSAValue
    pointers: bool = False


def _brackets(at: Cursor, record: Record) -> list[_Bracket]:
    result: list[_Bracket] = []
    for bound in record.bounds:
        op = bound.owner
        assert isinstance(op, acc.DataBoundsOp)
        lower = at.i64(0) if op.lowerbound is None else at.to_i64(op.lowerbound)
        if op.extent is not None:
            extent = at.to_i64(op.extent)
        else:
            assert op.upperbound is not None
            upper = at.to_i64(op.upperbound)
            extent = at.add(at.sub(upper, lower), at.i64(1))
        if op.stride is not None and op.stride_in_bytes is not None:
            stride = at.to_i64(op.stride)
        elif len(record.bounds) == 1:
            stride = at.i64(size_of(record.type))
        else:
            raise error(
                SourceLoc.from_attr(record.loc),
                f"internal: the bounds of '{record.name}' have no strides in bytes",
            )
        result.append(_Bracket(lower, extent, stride, POINTERS in op.attributes))
    return result


def _same(a: SSAValue, b: SSAValue, product: SSAValue) -> bool | None:
    """Whether `a * b == product`; None if that is not known."""
    values = constant_value(a), constant_value(b), constant_value(product)
    if values[0] is not None and values[1] is not None and values[2] is not None:
        return values[0] * values[1] == values[2]
    (some, left), (more, right), (all_, together) = (_factors(value) for value in (a, b, product))
    return True if some * more == all_ and left + right == together else None


def _factors(value: SSAValue) -> tuple[int, Counter[SSAValue]]:
    """The constant and the other factors of a product, such as the bytes of a plane of variable size."""
    constant, owner = constant_value(value), value.owner
    if constant is not None:
        return constant, Counter()
    if isinstance(owner, arith.MuliOp):
        (some, left), (more, right) = _factors(owner.lhs), _factors(owner.rhs)
        return some * more, left + right
    return 1, Counter([_origin(value)])


def _origin(value: SSAValue) -> SSAValue:
    """`value` without the extension that made it an i64."""
    while isinstance(value.owner, arith.ExtSIOp | arith.ExtUIOp | arith.IndexCastOp):
        value = value.owner.input
    return value


def _is_contiguous(brackets: Sequence[_Bracket]) -> bool | None:
    """Whether the section is one run of bytes: True, False, or None if that is known only at run time."""
    answer: bool | None = True
    single = True
    for outer, inner in pairwise(brackets):
        single = single and constant_value(outer.extent) == 1
        if single:
            continue
        full = _same(inner.extent, inner.stride, outer.stride)
        if full is False:
            return False
        if full is None:
            answer = None
    return answer


@dataclass(frozen=True)
class _Section:
    offset: SSAValue
    bytes: SSAValue
    brackets: Sequence[_Bracket]
    needs_shape: bool


def _section(at: Cursor, record: Record) -> _Section:
    """
    The offset and size of the section of `record`, without bounds of the whole object. Raises
    `CompileError` if the section of a data clause is certainly not one run of bytes.
    """
    if not record.bounds:
        try:
            size = size_of(record.type)
        except TypeError:
            size = 1
        return _Section(at.i64(0), at.i64(size), (), False)
    brackets = _brackets(at, record)
    if any(bracket.pointers for bracket in brackets):
        first = brackets[0]
        offset = at.mul(first.lower, first.stride, f"{record.name}_offset")
        size = at.mul(first.extent, first.stride, f"{record.name}_bytes")
        return _Section(offset, size, brackets, True)
    contiguous = _is_contiguous(brackets)
    is_update = record.kind in (DataKind.UPDATE_SELF, DataKind.UPDATE_DEVICE)
    if contiguous is False and not is_update:
        raise error(
            SourceLoc.from_attr(record.loc),
            f"the section of '{record.name}' is not contiguous in memory",
            "name whole rows in data clauses; only update takes parts of rows",
        )
    offset = at.i64(0)
    for bracket in brackets:
        offset = at.add(offset, at.mul(bracket.lower, bracket.stride), f"{record.name}_offset")
    if contiguous or len(brackets) == 1:
        rows = next((b for b in brackets if constant_value(b.extent) != 1), brackets[-1])
        size = at.mul(rows.extent, rows.stride, f"{record.name}_bytes")
        return _Section(offset, size, brackets, False)
    size = brackets[-1].stride
    for bracket in brackets:
        steps = at.sub(bracket.extent, at.i64(1))
        size = at.add(size, at.mul(steps, bracket.stride), f"{record.name}_bytes")
    return _Section(offset, size, brackets, True)


def _offset(field: str) -> int:
    return getattr(DataRecord, field).offset


@dataclass
class RecordArray:
    """`records` in a stack slot of the function (`entry` is the start of its entry block)."""

    records: list[Record]
    memory: SSAValue
    entry: Cursor
    descriptors: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """Memory of the `Compression` of each compressed record, by index."""

    @staticmethod
    def make(records: list[Record], entry: Cursor) -> RecordArray:
        words = llvm.LLVMArrayType(len(records) * RECORD_BYTES // 8, i64)
        return RecordArray(records, entry.alloca(words, "records"), entry)

    def _field(self, at: Cursor, index: int, field: str) -> SSAValue:
        return at.field(self.memory, index * RECORD_BYTES + _offset(field))

    def fill(self, at: Cursor) -> None:
        """Writes all fields; `device` is the host address until the runtime changes it."""
        for index, record in enumerate(self.records):
            section = _section(at, record)
            base = record.base
            if not isinstance(base.type, llvm.LLVMPointerType):
                raise error(
                    SourceLoc.from_attr(record.loc),
                    f"internal: '{record.name}' in a data clause is not an address",
                )
            pointer = at.i64(0) if record.pointer is None else record.pointer
            rows = any(bracket.pointers for bracket in section.brackets)
            set_flags = record.flags | DataFlag.ROWS if rows else record.flags
            flags = int(set_flags) << 32 | int(record.kind)
            dims = len(section.brackets) if section.needs_shape else 0
            shape = self._shape(at, section) if section.needs_shape else at.i64(0)
            if record.packing is not None:
                shape = self._descriptor(at, index, record.packing, shape)
            at.store(base, self._field(at, index, "base"))
            at.store(section.offset, self._field(at, index, "offset"))
            at.store(section.bytes, self._field(at, index, "bytes"))
            at.store(pointer, self._field(at, index, "pointer"))
            at.store(base, self._field(at, index, "device"))
            at.store(at.i64(flags), self._field(at, index, "kind"))
            at.store(at.i64(dims << 32 | index), self._field(at, index, "var"))
            at.store(shape, self._field(at, index, "shape"))

    def _descriptor(self, at: Cursor, index: int, packing: Packing, shape: SSAValue) -> SSAValue:
        words = llvm.LLVMArrayType(packing.words, i64)
        memory = self.entry.alloca(words, f"{self.records[index].name}_compression")
        packing.fill(at, memory, shape)
        self.descriptors[index] = memory
        return memory

    def _shape(self, at: Cursor, section: _Section) -> SSAValue:
        """
        Fills memory with (lower, extent, stride) of each bracket and returns its address; strides of
        pointers are negative.
        """
        count = 3 * len(section.brackets)
        memory = self.entry.alloca(llvm.LLVMArrayType(count, i64), "shape")
        for index, bracket in enumerate(section.brackets):
            stride = at.sub(at.i64(0), bracket.stride) if bracket.pointers else bracket.stride
            for part, value in enumerate((bracket.lower, bracket.extent, stride)):
                at.store(value, at.field(memory, 24 * index + 8 * part))
        return memory

    def device(self, at: Cursor, index: int) -> SSAValue:
        """Loads the device address of record `index`."""
        name = f"{self.records[index].name}_dev"
        return at.load(self._field(at, index, "device"), PTR, name)
