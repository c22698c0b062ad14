"""
Outlining: the body of a scheduled `acc.parallel` becomes the body of a kernel.

`outline_region` moves the region of a construct out of its function and finds what it uses from
outside:

1. Constants, null pointers, undefined values, `acc.bounds` and the addresses of globals and
   functions are made again at the top of the region.
2. `acc.private`, `acc.firstprivate` and `acc.reduction` before the construct are made again there too (in
   `OutlinedKernel.privatised`), so that a kernel treats those of the construct as it treats those of a
   loop. Their `varPtr` becomes: nothing (a null pointer) for `private`; the device address of the variable
   for `reduction`; for `firstprivate` a stack slot of the kernel that holds the value, passed as an
   argument, or (arrays, structures, sections) the device copy made by an `acc.firstprivate_map` that is
   added to the construct's data operations.
3. Everything else is an argument of the kernel: device addresses (results of data operations) and
   values. A host address that the construct maps is replaced by the result of the data operation.

Both targets use this module; each lowers the region in its own way.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import SymbolOpInterface

from ....compiler.base.abi import ASYNC_NOVAL, ASYNC_SYNC
from ....compiler.base.diagnostics import SourceLoc, error
from ....compiler.base.names import ptx_name
from ....dialects import llvm_ext
from ....dialects.accx import APART
from ....dialects.dense import integers
from ..ops.acc_ops import (
    MAPPING_OPS,
    PRIVATIZING_OPS,
    PrivatizingOp,
    enclosing_function,
    own_copies,
    values_inside,
)
from ..ops.building import Cursor, erase
from ..ops.versions import drop_wait
from ..values.region_values import variable_key

DATA_ENTRY = (
    *MAPPING_OPS,
    acc.UseDeviceOp,
    acc.DeclareDeviceResidentOp,
    acc.DeclareLinkOp,
    acc.GetDevicePtrOp,
    acc.UpdateDeviceOp,
    acc.FirstprivateMapOp,
)
"""Data entry operations: their result is a device address."""


REMADE_OPS = (
    arith.ConstantOp,
    llvm.ConstantOp,
    llvm.ZeroOp,
    llvm.UndefOp,
    llvm.AddressOfOp,
    llvm_ext.PoisonOp,
)
"""Operations whose results an outlined body makes again instead of taking them as arguments."""


@dataclass
class OutlinedKernel:
    """
    `body_start` is the first operation of the construct's own body: the operations before it depend on
    arguments only. `args[i]` is the host-side value for argument `i` of the region's entry block.
    `privatised` are the operations of the construct made again in the region, `reductions` those of them
    that are in the construct's own reduction clause (a loop's need no action at the end of the region).
    `num_gangs` (1 to 3 values), `num_workers` and `vector_length` are host-side values. `apart`: what it
    writes through one data operation it accesses through no other (`accx.apart`).
    """

    name: str
    loc: LocationAttr
    args: list[SSAValue]
    region: Region
    body_start: Operation
    privatised: list[PrivatizingOp]
    reductions: list[acc.ReductionOp]
    num_gangs: list[SSAValue]
    num_workers: SSAValue | None
    vector_length: SSAValue | None
    apart: bool = False

    def argument(self, value: SSAValue) -> SSAValue:
        """The region's argument for the host-side `value`, added if there is none."""
        for position, arg in enumerate(self.args):
            if arg is value:
                return self.region.blocks[0].args[position]
        block = self.region.blocks[0]
        inner = block.insert_arg(value.type, len(block.args))
        inner.name_hint = value.name_hint
        self.args.append(value)
        return inner


def symbol_table(module: ModuleOp) -> dict[str, Operation]:
    """The symbols defined directly in `module`."""
    table: dict[str, Operation] = {}
    for op in module.body.block.ops:
        name = op.properties.get("sym_name")
        if op.has_trait(SymbolOpInterface) and isinstance(name, StringAttr):
            table[name.data] = op
    return table


def kernel_name(construct: acc.ParallelOp, suffix: str, taken: Container[str]) -> str:
    """
    `<function>_<line>_<suffix>`, without the line if it is unknown, and with a number before the suffix if
    that is `taken`.
    """
    stem = enclosing_function(construct).sym_name.data.replace(".", "_")  # PTX has no such names
    line = SourceLoc.from_attr(construct.location).line
    stem = f"{stem}_{line}" if line > 0 else stem
    name, count = ptx_name(f"{stem}_{suffix}"), 1
    while name in taken:
        count += 1
        name = ptx_name(f"{stem}_{count}_{suffix}")
    return name


@dataclass
class _Outliner:
    """The state of one outlining: a map from outside values to values of the region."""

    construct: acc.ParallelOp
    region: Region
    anchor: Operation
    inside: set[SSAValue]
    args: list[SSAValue] = field(default_factory=list[SSAValue])
    privatised: list[PrivatizingOp] = field(default_factory=list["PrivatizingOp"])
    known: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def resolve(self, value: SSAValue) -> SSAValue:
        """The value that replaces `value` in the region."""
        if value in self.inside:
            return value
        if value not in self.known:
            self.known[value] = self._resolve_outside(value)
        return self.known[value]

    def _resolve_outside(self, value: SSAValue) -> SSAValue:
        owner = value.owner
        if isinstance(owner, (*REMADE_OPS, acc.DataBoundsOp)):
            return self._remake(owner)
        if isinstance(owner, PRIVATIZING_OPS):
            return self._privatise(owner)
        if isinstance(value.type, llvm.LLVMPointerType) and not isinstance(owner, DATA_ENTRY):
            mapped = self._mapped(value)
            if mapped is not None:
                return self.resolve(mapped)
        return self._argument(value)

    def _argument(self, value: SSAValue) -> SSAValue:
        block = self.region.blocks[0]
        inner = block.insert_arg(value.type, len(block.args))
        inner.name_hint = value.name_hint
        self.args.append(value)
        return inner

    def _remake(self, op: Operation, operands: Sequence[SSAValue] | None = None) -> SSAValue:
        """A copy of `op` at the top of the region."""
        if operands is None:
            operands = [self.resolve(operand) for operand in op.operands]
        copy = op.clone(dict(zip(op.operands, operands, strict=True)))
        block = self.anchor.parent_block()
        assert block is not None
        block.insert_op_before(copy, self.anchor)
        self.inside.update(copy.results)
        return copy.results[0]

    def _mapped(self, value: SSAValue) -> SSAValue | None:
        """
        The device address to which the construct's data clauses map host value `value`; None without one.
        """
        for operand in self.construct.data_clause_operands:
            if isinstance(operand.owner, DATA_ENTRY) and (
                variable_key(operand.owner.var) == variable_key(value)
            ):
                return operand
        return None

    def _privatise(self, op: PrivatizingOp) -> SSAValue:
        variable = self._source(op)
        rest = [self.resolve(operand) for operand in op.operands[1:]]
        result = self._remake(op, [variable, *rest])
        copy = result.owner
        assert isinstance(copy, PRIVATIZING_OPS)
        self.privatised.append(copy)
        return result

    def _source(self, op: PrivatizingOp) -> SSAValue:
        """The `varPtr` in the region of a privatising operation from before the construct."""
        inner = Cursor.before(self.anchor, op.location)
        if isinstance(op, acc.PrivateOp):
            nothing = inner.zero(op.var.type)
            self.inside.add(nothing)
            return nothing
        if isinstance(op.var.owner, DATA_ENTRY + PRIVATIZING_OPS) or op.var in self.inside:
            return self.resolve(op.var)
        if isinstance(op, acc.FirstprivateOp):
            if not op.bounds and not isinstance(
                op.var_type, llvm.LLVMArrayType | llvm.LLVMStructType
            ):
                return self._by_value(op, inner)
            return self.resolve(_map_firstprivate(self.construct, op))
        mapped = self._mapped(op.var)
        if mapped is None:
            name = "" if op.var_name is None else f" '{op.var_name.data}'"
            raise error(
                SourceLoc.from_attr(op.location),
                f"reduction variable{name} is not in a data clause of its compute construct",
                "add it to a copy clause",
            )
        return self.resolve(mapped)

    def _by_value(self, op: acc.FirstprivateOp, inner: Cursor) -> SSAValue:
        """Passes a scalar's value and keeps it in a stack slot of the kernel."""
        name = "value" if op.var_name is None else op.var_name.data
        outer = Cursor.before(self.construct, op.location)
        argument = self._argument(outer.load(op.var, op.var_type, name))
        slot = inner.alloca(op.var_type, f"{name}_init")
        self.inside.add(slot)
        if isinstance(slot, OpResult):
            self.inside.update(slot.owner.operands)
        inner.store(argument, slot)
        return slot


def _map_firstprivate(construct: acc.ParallelOp, op: acc.FirstprivateOp) -> SSAValue:
    """Gives the device a copy of an aggregate for `firstprivate`, released after the construct."""
    clause = acc.DataClauseAttr(acc.DataClause.ACC_FIRSTPRIVATE)
    outer = Cursor.before(construct, op.location)
    entry = outer.insert(
        acc.FirstprivateMapOp(
            var=op.var, var_type=op.var_type, bounds=op.bounds, var_name=op.var_name,
            data_clause=clause,
        ),
        "firstprivate_map",
    )  # fmt: skip
    Cursor.after(construct, op.location).insert(
        acc.DeleteOp(
            acc_var=entry.acc_var, bounds=op.bounds, var_name=op.var_name, data_clause=clause
        )
    )
    return entry.acc_var


def outline_region(construct: acc.ParallelOp, name: str) -> OutlinedKernel:
    """
    Takes the region out of `construct` (whose own region is empty afterwards; the caller erases the
    operation, and then what `erase_privatising` finds unused) and makes it self-contained: see the
    file's docstring. The region keeps its `acc.yield`.

    Raises `CompileError` if a reduction variable has no device address.
    """
    region = Region()
    construct.region.move_blocks(region)
    first = region.blocks[0].first_op
    assert first is not None
    out = _Outliner(construct, region, first, values_inside(region))
    for op in list(region.walk()):
        for position, operand in enumerate(op.operands):
            if operand in out.inside:
                continue
            if isinstance(op, acc.PrivateOp) and operand is op.var:
                # Only names the variable: its copies do not use the original, which as an argument
                # might count as an alias of the arrays.
                op.operands[position] = Cursor.before(first, op.location).zero(operand.type)
            else:
                op.operands[position] = out.resolve(operand)
    for operand in own_copies(construct):
        out.resolve(operand)
    reductions: list[acc.ReductionOp] = []
    for operand in construct.reduction_operands:
        owner = out.known[operand].owner
        assert isinstance(owner, acc.ReductionOp)
        reductions.append(owner)
    return OutlinedKernel(
        name=name,
        loc=construct.location,
        args=out.args,
        region=region,
        body_start=first,
        privatised=out.privatised,
        reductions=reductions,
        num_gangs=list(construct.num_gangs),
        num_workers=construct.num_workers[0] if construct.num_workers else None,
        vector_length=construct.vector_length[0] if construct.vector_length else None,
        apart=APART in construct.attributes,
    )


def erase_privatising(block: Block) -> None:
    """Erases the privatising operations and bounds of `block` that have become unused."""
    for op in reversed(list(block.ops)):
        if isinstance(op, (*PRIVATIZING_OPS, acc.DataBoundsOp)) and not op.results[0].uses:
            erase(op)


def select_device_type(types: Attribute | None) -> int | None:
    """The index in a device type array of the clause without device type; None if there is none."""
    if not isinstance(types, ArrayAttr):
        return None
    given = [t.data for t in types.data if isinstance(t, acc.DeviceTypeAttr)]
    return given.index(acc.DeviceType.NONE) if acc.DeviceType.NONE in given else None


def queue_value(
    cursor: Cursor,
    async_operands: Sequence[SSAValue],
    operand_types: Attribute | None,
    async_only: Attribute | None,
    synchronous: int = ASYNC_SYNC,
) -> SSAValue:
    """
    The OpenACC queue (i64) of an async clause, from the operands and attributes of an upstream operation;
    `synchronous` without the clause.
    """
    if async_operands:
        position = select_device_type(operand_types) if operand_types is not None else 0
        if position is not None:
            return cursor.to_i64(async_operands[position])
    if select_device_type(async_only) is not None:
        return cursor.i64(ASYNC_NOVAL)
    return cursor.i64(synchronous)


def construct_queue(
    construct: acc.ParallelOp, cursor: Cursor, synchronous: int = ASYNC_SYNC
) -> SSAValue:
    """The OpenACC queue (i64) of a compute construct; `synchronous` for one without `async`."""
    return queue_value(
        cursor,
        list(construct.async_operands),
        construct.async_operands_device_type,
        construct.async_only,
        synchronous,
    )


@dataclass(frozen=True)
class WaitArgument:
    """A wait clause: the queues (none: all), and the device number if given."""

    queues: tuple[SSAValue, ...]
    devnum: SSAValue | None


def wait_argument(
    operands: Sequence[SSAValue],
    types: Attribute | None,
    segments: Attribute | None,
    has_devnum: Attribute | None,
    wait_only: Attribute | None,
) -> WaitArgument | None:
    """
    The wait clause of an operation that holds it in the operands and attributes of upstream's operations;
    None without the clause.
    """
    if select_device_type(wait_only) is not None:
        return WaitArgument((), None)
    if not operands:
        return None
    position = select_device_type(types) if types is not None else 0
    if position is None:
        return None
    sizes = integers(segments) if isinstance(segments, DenseArrayBase) else (len(operands),)
    start = int(sum(sizes[:position]))
    group = list(operands[start : start + int(sizes[position])])
    flags = _booleans(has_devnum)
    if position < len(flags) and flags[position]:
        return WaitArgument(tuple(group[1:]), group[0])
    return WaitArgument(tuple(group), None)


def _booleans(attr: Attribute | None) -> list[bool]:
    if not isinstance(attr, ArrayAttr):
        return []
    return [isinstance(a, IntegerAttr) and bool(a.value.data) for a in attr.data]


def emit_construct_wait(construct: acc.ParallelOp) -> None:
    """
    Turns the construct's wait clause into an `acc.wait` before its data operations (OpenACC 3.4,
    2.16.3: the data actions wait too), asynchronous if the construct is.
    """
    wait = wait_argument(
        list(construct.wait_operands),
        construct.wait_operands_device_type,
        construct.wait_operands_segments,
        construct.has_wait_devnum,
        construct.wait_only,
    )
    if wait is None:
        return
    used = {*wait.queues, *construct.async_operands, *([wait.devnum] if wait.devnum else [])}
    place: Operation = construct
    entries = {operand.owner for operand in construct.data_clause_operands}
    op = construct.prev_op
    while op is not None and not any(result in used for result in op.results):
        if op in entries:
            place = op
        op = op.prev_op
    is_async = bool(construct.async_operands)
    Cursor.before(place, construct.location).insert(
        acc.WaitOp(
            wait_operands=wait.queues,
            async_operand=construct.async_operands[0] if is_async else None,
            wait_devnum=wait.devnum,
            async_attr=UnitAttr() if construct.async_only is not None and not is_async else None,
        )
    )


def wait_ahead(construct: acc.ParallelOp) -> None:
    """As `emit_construct_wait`, and removes the clause: the construct may have versions then."""
    emit_construct_wait(construct)
    drop_wait(construct)
