"""
Queries on `acc` IR that most passes need: constructs, live-in values, names, constants, clauses.

No function here makes a decision: each reads IR, builds small operations, and hides the operand
segments of xDSL's operations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import TypeVar, cast

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue, Use
from xdsl.irdl import IRDLOperation
from xdsl.traits import SymbolTable

from ....compiler.base.diagnostics import SourceLoc
from ....compiler.base.names import c_name
from ....dialects.accx import FALLBACK
from ....dialects.together import HandsOnOp
from .building import constant_value, erase
from .complex_values import is_complex

ComputeOp = acc.ParallelOp | acc.SerialOp | acc.KernelsOp
COMPUTE_OPS = (acc.ParallelOp, acc.SerialOp, acc.KernelsOp)

MappingOp = (
    acc.CopyinOp | acc.CreateOp | acc.PresentOp | acc.NoCreateOp | acc.AttachOp | acc.DevicePtrOp
)
PrivatizingOp = acc.PrivateOp | acc.FirstprivateOp | acc.ReductionOp
EntryOp = MappingOp | PrivatizingOp
RecipeOp = acc.PrivateRecipeOp | acc.FirstprivateRecipeOp | acc.ReductionRecipeOp
PRIVATIZING_OPS = (acc.PrivateOp, acc.FirstprivateOp, acc.ReductionOp)
"""Operations that give a construct or loop its own copy of a variable."""
MAPPING_OPS = (
    acc.CopyinOp,
    acc.CreateOp,
    acc.PresentOp,
    acc.NoCreateOp,
    acc.AttachOp,
    acc.DevicePtrOp,
)
ENTRY_OPS = MAPPING_OPS + PRIVATIZING_OPS
EXIT_OPS = (acc.CopyoutOp, acc.DeleteOp, acc.DetachOp)

_MANY_USES = 64
"""With more uses than this, `uses_inside` tries a walk through the operation's regions first."""

NONE = ArrayAttr([acc.DeviceTypeAttr(acc.DeviceType.NONE)])
"""The value of a clause that holds for every device type."""


def source_loc(op: Operation) -> SourceLoc:
    """The C place of `op`, for diagnostics."""
    return SourceLoc.from_attr(op.location)


def is_inside(op: Operation | None, ancestor: Operation) -> bool:
    """Whether `op` is `ancestor` or nested in it."""
    while op is not None:
        if op is ancestor:
            return True
        block = op.parent
        region = None if block is None else block.parent
        op = None if region is None else region.parent
    return False


def parent_operation(value: SSAValue) -> Operation | None:
    """The operation that makes `value`, or whose region has it as a block argument."""
    if isinstance(value, BlockArgument):
        return value.block.parent_op()
    owner = value.owner
    return owner if isinstance(owner, Operation) else None


def is_defined_inside(value: SSAValue, ancestor: Operation) -> bool:
    """Whether `value` is made inside a region of `ancestor`."""
    if isinstance(value, BlockArgument):
        return is_inside(value.block.parent_op(), ancestor)
    owner = cast(Operation, value.owner)
    return owner is not ancestor and is_inside(owner, ancestor)


def constructs_of(
    root: Operation, kinds: tuple[type[Operation], ...] = COMPUTE_OPS
) -> list[Operation]:
    """All operations of the given classes in `root`, in order; a list, so the caller may rewrite."""
    return [op for op in root.walk() if isinstance(op, kinds)]


def parallel_constructs(root: Operation) -> list[acc.ParallelOp]:
    """
    The parallel constructs in `root`, in program order. Their regions are not searched, since constructs do
    not nest (OpenACC 3.4, 2.5.4).
    """
    found: list[acc.ParallelOp] = []

    def visit(op: Operation) -> None:
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    if isinstance(inner, acc.ParallelOp):
                        found.append(inner)
                    elif inner.regions:
                        visit(inner)

    visit(root)
    return found


def tuned_constructs(root: Operation) -> list[acc.ParallelOp]:
    """The parallel constructs in `root` that should be fast, thus not those with `accx.fallback`."""
    return [op for op in parallel_constructs(root) if FALLBACK not in op.attributes]


def values_inside(region: Region) -> set[SSAValue]:
    """Every value made in `region`."""
    found: set[SSAValue] = {arg for block in region.blocks for arg in block.args}
    for op in region.walk():
        found.update(op.results)
        found.update(arg for own in op.regions for block in own.blocks for arg in block.args)
    return found


def live_ins(op: Operation) -> list[SSAValue]:
    """Values made outside `op` that its regions use, in order of first use."""
    inside: set[SSAValue] = set[SSAValue]().union(*map(values_inside, op.regions))
    found: dict[SSAValue, None] = {}
    for region in op.regions:
        for inner in region.walk():
            for operand in inner.operands:
                if operand not in inside:
                    found.setdefault(operand)
    return list(found)


def has_more_operations(op: Operation, most: int) -> bool:
    """Whether there are more than `most` operations in `op`, itself included."""
    return next(islice(op.walk(), most, None), None) is not None


def uses_inside(value: SSAValue, op: Operation) -> list[Use]:
    """
    The uses of `value` in the regions of `op` (not as an operand of `op` itself), latest first. A value
    with many uses, such as an array of many constructs, usually has few of them in one region: then the
    regions are walked instead of the use list.
    """
    found = _by_regions(value, op) if _has_many_uses(value) else None
    if found is None:
        return [u for u in value.uses if u.operation is not op and is_inside(u.operation, op)]
    return found


def _has_many_uses(value: SSAValue) -> bool:
    return len(list(islice(value.uses, _MANY_USES))) == _MANY_USES


def _by_regions(value: SSAValue, op: Operation) -> list[Use] | None:
    """
    `uses_inside` by walking the regions of `op`; None if they hold more operations than `value` has uses.
    """
    uses = iter(value.uses)
    found: list[Use] = []
    for region in op.regions:
        for inner in region.walk():
            if next(uses, None) is None:
                return None
            pairs = zip(inner.operands, inner._operand_uses, strict=True)  # pyright: ignore[reportPrivateUsage]
            found += [use for operand, use in pairs if operand is value]
    return found[::-1]


def replace_inside(op: Operation, old: SSAValue, new: SSAValue) -> None:
    """Replaces `old` by `new` in the regions of `op`, but not among the operands of `op` itself."""
    for use in uses_inside(old, op):
        use.operation.operands[use.index] = new
    if new.name_hint is None:
        new.name_hint = old.name_hint


def bit_width(type_: Attribute) -> int | None:
    """The width of an integer type; None for other types."""
    return type_.width.data if isinstance(type_, IntegerType) else None


OpT = TypeVar("OpT", bound=Operation)


def operations_around(op: Operation, end: Operation | None = None) -> Iterator[Operation]:
    """The operations around `op`, innermost first, up to but without `end`."""
    parent = op.parent_op()
    while parent is not None and parent is not end:
        yield parent
        parent = parent.parent_op()


def loops_around(op: Operation, end: Operation | None = None) -> Iterator[acc.LoopOp]:
    """The `acc.loop`s around `op` that are inside `end`, innermost first."""
    return (around for around in operations_around(op, end) if isinstance(around, acc.LoopOp))


def enclosing(op: Operation, *kinds: type[OpT]) -> OpT | None:
    """The innermost operation around `op` of one of these classes."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, kinds):
        parent = parent.parent_op()
    return parent


def enclosing_function(op: Operation) -> llvm.FuncOp:
    """The function that contains `op`, which must be in one."""
    function = enclosing(op, llvm.FuncOp)
    assert function is not None, f"{op.name} outside a function"
    return function


def enclosing_module(op: Operation) -> ModuleOp:
    """The module that contains `op`."""
    parent: Operation | None = op
    while not isinstance(parent, ModuleOp):
        assert parent is not None
        parent = parent.parent_op()
    return parent


def variable_name(value: SSAValue) -> str:
    """The C name of a variable, for messages: a global's name, or the name hint that the front end set."""
    owner = value.owner
    if isinstance(owner, llvm.AddressOfOp):
        return c_name(owner.global_name.string_value())
    if isinstance(owner, ENTRY_OPS) and owner.var_name is not None:
        return owner.var_name.data
    if value.name_hint is None and isinstance(owner, llvm.LoadOp):
        return variable_name(owner.ptr)
    return "an unnamed value" if value.name_hint is None else c_name(value.name_hint)


def is_restrict(pointer: SSAValue) -> bool:
    """Whether `pointer` is a function's parameter declared `restrict` (`llvm.noalias`)."""
    if not isinstance(pointer, BlockArgument):
        return False
    function, index = pointer.block.parent_op(), pointer.index
    if not isinstance(function, llvm.FuncOp) or function.arg_attrs is None:
        return False
    attrs, entry = function.arg_attrs.data, pointer.block is function.body.blocks.first
    return entry and index < len(attrs) and "llvm.noalias" in attrs[index].data


def callee_of(op: Operation | Block) -> str | None:
    """The function that a direct call names; None for a call through a pointer, and for what is no call."""
    if isinstance(op, llvm.CallOp) and op.callee is not None:
        return op.callee.string_value()
    return None


def called(call: llvm.CallOp) -> str:
    """
    The callee of `call`, for messages: the function's C name, or a note that it is called through a
    pointer.
    """
    name = callee_of(call)
    return "a function pointer" if name is None else c_name(name)


def accessed_type(op: llvm.LoadOp | llvm.StoreOp) -> Attribute:
    """The type of the value that is loaded or stored."""
    return op.value.type if isinstance(op, llvm.StoreOp) else op.dereferenced_value.type


def alloca_count(op: llvm.AllocaOp) -> int | None:
    """The number of elements of an alloca; None if it is not constant."""
    return constant_value(op.size)


def mapped_variable(entry: Operation) -> Attribute | None:
    """
    The type of the variable that a data operation maps as a whole; None if it names a section, or if it is
    the implicit operation for a pointer, which does not tell how much is mapped.
    """
    if not isinstance(entry, MAPPING_OPS) or entry.bounds:
        return None
    variable, type_ = entry.operands[0].owner, None
    if isinstance(variable, llvm.AddressOfOp):
        found = SymbolTable.lookup_symbol(entry, variable.global_name)
        type_ = found.global_type if isinstance(found, llvm.GlobalOp) else None
    elif isinstance(variable, llvm.AllocaOp) and alloca_count(variable) == 1:
        type_ = variable.elem_type
    return type_ if type_ == entry.var_type else None


def operand_groups(op: IRDLOperation) -> dict[str, list[SSAValue]]:
    """The operands of `op`, by the name of their operand group in its IRDL definition."""
    groups: dict[str, list[SSAValue]] = {}
    for name, _ in op.get_irdl_definition().operands:
        value = cast("SSAValue | Sequence[SSAValue] | None", getattr(op, name))
        if value is None:
            groups[name] = []
        elif isinstance(value, SSAValue):
            groups[name] = [value]
        else:
            groups[name] = list(value)
    return groups


def set_operand_groups(op: IRDLOperation, **changed: Sequence[SSAValue]) -> None:
    """Replaces whole operand groups of an operation with sized segments."""
    groups = {**operand_groups(op), **changed}
    op.operands = [value for group in groups.values() for value in group]
    op.properties["operandSegmentSizes"] = DenseArrayBase.from_list(
        i32, [len(group) for group in groups.values()]
    )


def drop_operands(op: IRDLOperation, group: str, dropped: Collection[SSAValue]) -> None:
    """
    Removes operands from an operand group of a construct or loop, and erases the operations that made them
    if nothing else uses these.
    """
    left = [value for value in operand_groups(op)[group] if value not in dropped]
    set_operand_groups(op, **{group: left})
    for owner in dict.fromkeys(value.owner for value in dropped):
        if isinstance(owner, Operation) and not any(result.uses for result in owner.results):
            erase(owner)


def has_level(attr: ArrayAttr[acc.DeviceTypeAttr] | None) -> bool:
    """Whether a clause that is stored as an array of device types holds for every device type."""
    return attr is not None and any(dt.data is acc.DeviceType.NONE for dt in attr)


def hands_on(loop: acc.LoopOp) -> bool:
    """
    Whether the loop's body has a mark (`HandsOnOp`) saying that each iteration takes a value from the one
    before.
    """
    blocks = loop.region.blocks
    return len(blocks) == 1 and any(isinstance(op, HandsOnOp) for op in loop.region.block.ops)


def branch_values(op: scf.IfOp, result: SSAValue) -> list[SSAValue]:
    """The values of which `op` selects its result `result`: those that its branches yield for it."""
    index = list(op.results).index(result)  # pyright: ignore[reportArgumentType]
    ends = [region.blocks[-1].last_op for region in op.regions if region.blocks]
    return [end.operands[index] for end in ends if isinstance(end, scf.YieldOp)]


def set_prop(op: Operation, name: str, value: Attribute | None) -> None:
    """Sets or removes a property."""
    if value is None:
        op.properties.pop(name, None)
    else:
        op.properties[name] = value


def own_copies(op: ComputeOp | acc.LoopOp) -> list[SSAValue]:
    """The private, firstprivate and reduction copies of a construct or loop."""
    return [*op.private_operands, *op.firstprivate_operands, *op.reduction_operands]


def parallel_construct_operands(op: ComputeOp) -> list[SSAValue]:
    """
    The operands of the construct that are results of data, private, firstprivate and reduction operations.
    """
    return [*op.data_clause_operands, *own_copies(op)]


def is_implicit(op: Operation) -> bool:
    """Whether the compiler added a data operation, which maps the variable for a single construct."""
    implicit = op.properties.get("implicit")
    return isinstance(implicit, IntegerAttr) and bool(implicit.value.data)


def exits_of(entry: Operation) -> list[Operation]:
    """The exit operations that belong to a data entry operation."""
    return [
        use.operation
        for result in entry.results
        for use in result.uses
        if isinstance(use.operation, EXIT_OPS) and use.index == 0
    ]


def loops_in(op: Operation) -> Iterator[acc.LoopOp]:
    """The `acc.loop` operations in the regions of `op`, outer before inner."""
    for region in op.regions:
        for inner in region.walk():
            if isinstance(inner, acc.LoopOp):
                yield inner


def outermost_loop(loop: Operation, construct: Operation) -> Operation:
    """The outermost `acc.loop` of a construct around a loop in it, or the loop itself."""
    return [loop, *loops_around(loop, construct)][-1]


def child_loops(op: Operation) -> list[acc.LoopOp]:
    """The outermost `acc.loop`s in the regions of `op`."""
    found: list[acc.LoopOp] = []

    def visit(region: Region) -> None:
        for block in region.blocks:
            for inner in block.ops:
                if isinstance(inner, acc.LoopOp):
                    found.append(inner)
                else:
                    for nested in inner.regions:
                        visit(nested)

    for region in op.regions:
        visit(region)
    return found


def insert_before(op: Operation, new_ops: Sequence[Operation]) -> None:
    """Inserts operations before `op`; those without a location get that of `op`."""
    block = op.parent_block()
    assert block is not None
    for new in new_ops:
        if new.location != op.location and SourceLoc.from_attr(new.location).line == 0:
            new.location = op.location
        block.insert_op_before(new, op)


def entry_block(function: llvm.FuncOp) -> Block:
    """The entry block of a function with a body."""
    block = function.body.blocks.first
    assert block is not None
    return block


def is_scalar(type_: Attribute) -> bool:
    """Whether a variable of this type is a scalar to OpenACC (pointers and complex numbers are)."""
    if isinstance(type_, llvm.LLVMStructType):
        return is_complex(type_)
    return not isinstance(type_, llvm.LLVMArrayType)


def reduces_elements(op: acc.LoopOp | acc.ParallelOp) -> bool:
    """Whether a loop or construct reduces more than scalars: arrays, structures or sections."""
    clauses = [value.owner for value in op.reduction_operands]
    return any(
        isinstance(clause, acc.ReductionOp)
        and (bool(clause.bounds) or not is_scalar(clause.var_type))
        for clause in clauses
    )


def drop_gang(loop: acc.LoopOp) -> None:
    """Removes the gang clause from a loop."""
    set_operand_groups(loop, gang_operands=[])
    for name in ("gang", "gangOperandsArgType", "gangOperandsSegments", "gangOperandsDeviceType"):
        set_prop(loop, name, None)


def drop_levels(loop: acc.LoopOp) -> None:
    """Removes the gang, worker and vector clauses from a loop."""
    drop_gang(loop)
    set_operand_groups(loop, worker_num_operands=[], vector_operands=[])
    for name in (
        "worker",
        "workerNumOperandsDeviceType",
        "vector",
        "vectorOperandsDeviceType",
    ):
        set_prop(loop, name, None)
