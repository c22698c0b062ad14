"""
Rules for operations on loops and data clauses, as docs/design.md promises them (levels acc to transformed).
A rule takes one operation and yields what is wrong with it; `stages.py` has the table of levels at which
each rule applies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, ModuleOp, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator, SymbolTable

from ...dialects import llvm_ext
from ...dialects.accx import CONDITIONAL, MACHINE, SCHEDULE
from ...dialects.accx_cache import GangThreadsOp, HoldsInBlockOp
from ...dialects.accx_compress import PACKED, PackedType
from ...dialects.accx_element import ElementOp
from ...dialects.accx_machine import MachineAttr
from ...dialects.accx_scan import ScanStepOp
from ...dialects.accx_schedule import ScheduleAttr
from ...dialects.accx_side_by_side import SideBySideOp

MAPPING = (
    acc.CopyinOp,
    acc.CreateOp,
    acc.PresentOp,
    acc.NoCreateOp,
    acc.AttachOp,
    acc.DevicePtrOp,
)
PRIVATISING = (acc.PrivateOp, acc.FirstprivateOp, acc.ReductionOp)
_RECIPES = {
    acc.PrivateOp: acc.PrivateRecipeOp,
    acc.FirstprivateOp: acc.FirstprivateRecipeOp,
    acc.ReductionOp: acc.ReductionRecipeOp,
}
_NONE = acc.DeviceType.NONE
_CONSTANTS = (llvm.ConstantOp, llvm.ZeroOp, llvm.AddressOfOp, llvm.UndefOp, llvm_ext.PoisonOp)


def _owner(value: SSAValue) -> Operation | None:
    return None if isinstance(value.owner, Block) else value.owner


def _constant(value: SSAValue) -> int | None:
    owner = _owner(value)
    attr = owner.value if isinstance(owner, arith.ConstantOp | llvm.ConstantOp) else None
    return attr.value.data if isinstance(attr, IntegerAttr) else None


def _counted(variables: Sequence[SSAValue], steps: Sequence[SSAValue]) -> Iterator[str]:
    """The variables of counted loops are i32 or i64, and the steps positive."""
    for variable in variables:
        if not isinstance(variable.type, IntegerType) or variable.type.width.data not in (32, 64):
            yield f"its variable is i32 or i64, not {variable.type}"
    for step in steps:
        known = _constant(step)
        if known is not None and known <= 0:
            yield f"its step is positive, not {known}"


def counted_for(op: scf.ForOp) -> Iterator[str]:
    """An `scf.for` is counted as `acc.loop` is."""
    yield from _counted(op.body.block.args[:1], (op.step,))


def loop(op: acc.LoopOp) -> Iterator[str]:
    """A loop directive is counted, has bounds for each variable, and carries no values."""
    variables = op.region.blocks[0].args
    yield from _counted(variables, op.step)
    numbers = {len(op.lowerbound), len(op.upperbound), len(op.step), len(variables)}
    if len(numbers) > 1:
        yield "it needs a lower bound, an upper bound and a step for each variable"
    for variable, *bounds in zip(variables, op.lowerbound, op.upperbound, op.step, strict=False):
        if any(bound.type != variable.type for bound in bounds):
            yield f"its bounds and step have the type of its variable, {variable.type}"
    if op.results:
        yield "loops carry no values: variables that they assign are in memory"
    if op.inclusive_upperbound is not None and any(op.inclusive_upperbound.iter_values()):
        yield "its upper bound is exclusive"
    if op.tile_operands and len(op.tile_operands) != len(variables):
        yield f"it has {len(op.tile_operands)} tile sizes for {len(variables)} variables"
    yield from _variables(op)


def _variables(op: acc.LoopOp | acc.ParallelOp | acc.SerialOp | acc.KernelsOp) -> Iterator[str]:
    """Private variables and reductions are the results of the operations that make them."""
    groups = [
        (op.private_operands, acc.PrivateOp, "private"),
        (op.firstprivate_operands, acc.FirstprivateOp, "firstprivate"),
        (op.reduction_operands, acc.ReductionOp, "reduction"),
    ]
    for values, kind, name in groups:
        for value in values:
            if not isinstance(_owner(value), kind):
                yield f"the operand '{value.name_hint}' is not the result of {kind.name} ({name})"


def construct(op: acc.ParallelOp | acc.SerialOp | acc.KernelsOp) -> Iterator[str]:
    """The data, private and reduction operands of a construct are results of the operations for them."""
    yield from data_operands(op)
    yield from _variables(op)


def data_operands(
    op: acc.ParallelOp | acc.SerialOp | acc.KernelsOp | acc.DataOp,
) -> Iterator[str]:
    """Data operands are results of entry operations."""
    for value in op.data_clause_operands:
        owner = _owner(value)
        if not isinstance(owner, MAPPING):
            yield f"the data operand '{value.name_hint}' is not the result of a data entry operation"


def exit_operation(op: acc.CopyoutOp | acc.DeleteOp | acc.DetachOp) -> Iterator[str]:
    """The operand of an exit operation is the result of an entry operation, or of a lookup for `exit
    data`."""
    if not isinstance(
        _owner(op.operands[0]), (*MAPPING, acc.GetDevicePtrOp, acc.FirstprivateMapOp)
    ):
        yield "its operand is not the result of a data entry operation"


def bounds(op: acc.DataBoundsOp) -> Iterator[str]:
    """Strides of sections are in bytes."""
    if op.stride_in_bytes is None or not op.stride_in_bytes.value.data:
        yield "its stride must be in bytes (strideInBytes)"


def device_types(op: Operation) -> Iterator[str]:
    """Clauses have no device types: IR generation keeps only those for the target."""
    for name, attr in op.properties.items():
        if isinstance(attr, ArrayAttr):
            for part in attr.data:
                if isinstance(part, acc.DeviceTypeAttr) and part.data is not _NONE:
                    yield f"'{name}' names the device type {part.data}, but must name none"


def recipe_named(op: acc.PrivateOp | acc.FirstprivateOp | acc.ReductionOp) -> Iterator[str]:
    """Private variables and reductions name a recipe of their kind."""
    if op.recipe is None:
        yield "it names no recipe"
        return
    recipe = SymbolTable.lookup_symbol(op, op.recipe)
    if not isinstance(recipe, _RECIPES[type(op)]):
        yield f"its recipe {op.recipe} is not of kind {_RECIPES[type(op)].name}"


def recipe(
    op: acc.PrivateRecipeOp | acc.FirstprivateRecipeOp | acc.ReductionRecipeOp,
) -> Iterator[str]:
    """`init` yields memory that it allocates, the combiner yields its first argument, and there is no
    destroy region."""
    yielded = _yielded(op.init_region.blocks)
    if yielded is None or not isinstance(_owner(yielded), llvm.AllocaOp):
        yield "its init region does not yield memory that it allocates"
    first = op.init_region.blocks[0].args if op.init_region.blocks else ()
    if first and first[0].uses:
        yield "its init region uses the variable, which may not be accessible where it runs"
    if isinstance(op, acc.ReductionRecipeOp):
        entry = op.combiner_region.blocks[0]
        if _yielded(op.combiner_region.blocks) is not (entry.args[0] if entry.args else None):
            yield "its combiner does not yield its first argument"
    if any(not inner.has_trait(IsTerminator) for inner in op.destroy_region.walk()):
        yield "its destroy region would not be executed"


def _yielded(blocks: Sequence[Block]) -> SSAValue | None:
    last = blocks[-1].last_op if blocks else None
    return last.operands[0] if isinstance(last, acc.YieldOp) and last.operands else None


_ALLOCA_PARENTS = (
    "llvm.func",
    "acc.loop",
    "acc.parallel",
    "acc.serial",
    "acc.kernels",
    "acc.private.recipe",
    "acc.firstprivate.recipe",
    "acc.reduction.recipe",
    "accx.team",
    "accx.task",
)


def declared(op: llvm.AllocaOp) -> Iterator[str]:
    """As `variable`, but the variables of a loop without a directive may be in its body until
    `split-kernels`, as each iteration has its own."""
    parent = op.parent_op()
    if not isinstance(parent, scf.ForOp):
        yield from variable(op)


def variable(op: llvm.AllocaOp) -> Iterator[str]:
    """The alloca of a variable is in the entry block of its function, construct or loop directive, which
    tells whose copy it is. Memory of a computed size (an array of variable length, `alloca`), whose size is
    not an i32 constant, is where the program declares it."""
    parent = op.parent_op()
    if op.size.type != i32 or not isinstance(op.size.owner, arith.ConstantOp):
        return
    if parent is None or parent.name not in _ALLOCA_PARENTS:
        yield "variables must be allocated in the entry block of a function, construct or loop directive"
    elif op.parent_block() is not parent.regions[0].blocks[0]:
        yield "it is not in the entry block"


def address(op: llvm.GEPOp) -> Iterator[str]:
    """Before `lower-elements`, accesses by subscripts are accx.element; other address operations offset a
    pointer by one i64."""
    if len(op.ssa_indices) > 1:
        yield "an access by subscripts must be an accx.element"
    for index in op.ssa_indices:
        if not isinstance(index.type, IntegerType) or index.type.width.data != 64:
            yield f"a pointer offset must be an i64, not {index.type}"


def decided(op: acc.LoopOp) -> Iterator[str]:
    """No loop is left whose independence depends on whether arrays overlap: `guard-against-overlap` puts it
    under a condition."""
    if CONDITIONAL in op.attributes:
        yield "whether it is independent is not decided (guard-against-overlap)"


def outside_values(op: acc.ParallelOp | acc.SerialOp | acc.KernelsOp) -> Iterator[str]:
    """
    Addresses from outside of a region are constants, results of the construct's data operations, or device
    addresses that a firstprivate pointer had, loaded before.
    """
    own = {
        *op.data_clause_operands,
        *op.private_operands,
        *op.firstprivate_operands,
        *op.reduction_operands,
    }
    inside = set(op.region.walk())
    for inner in inside:
        if not isinstance(inner, llvm.LoadOp | llvm.StoreOp | llvm.GEPOp | ElementOp):
            continue
        owner = inner.ptr.owner
        above = owner.parent_op() if isinstance(owner, Block) else owner
        known = above in inside or above is op or isinstance(above, (*_CONSTANTS, llvm.LoadOp))
        if known or inner.ptr in own:
            continue
        yield f"'{inner.ptr.name_hint}' is accessed inside without a data operation"


# Rules of the scheduled and transformed levels.


def launch_sizes(op: acc.ParallelOp) -> Iterator[str]:
    """1 to 3 numbers of gangs and one of each other size, all i32."""
    sizes = (
        ("num_gangs", op.num_gangs, 3),
        ("num_workers", op.num_workers, 1),
        ("vector_length", op.vector_length, 1),
    )
    for name, values, most in sizes:
        if not 1 <= len(values) <= most:
            yield f"it has {len(values)} values of {name}, not {'one' if most == 1 else '1 to 3'}"
        for value in values:
            if value.type != i32:
                yield f"{name} is an i32, not {value.type}"


def scheduled(op: acc.LoopOp) -> Iterator[str]:
    """Loops are seq, or have levels without operands and a schedule that fits them."""
    mapped = op.gang is not None or op.worker is not None or op.vector is not None
    schedule = op.attributes.get(SCHEDULE)
    if isinstance(schedule, ScheduleAttr):
        if schedule.gang_dim.data > 1 and op.gang is None:
            yield "only a gang loop has a gang dimension"
        if schedule.elements.data > 1 and op.gang is None and op.vector is None:
            yield "only loops over gangs or lanes have several elements per thread"
        if schedule.covers and not mapped:
            yield "a sequential loop has no share in the launch"
    if mapped and (op.seq is not None or op.auto_ is not None):
        yield "it has levels of parallelism, but is seq or auto"
    if not mapped and (op.seq is None or op.auto_ is not None):
        yield "it has neither seq nor a level of parallelism"
    if op.gang_operands or op.worker_num_operands or op.vector_operands:
        yield "its levels still have operands"
    if mapped and op.independent is None:
        yield "loops with levels of parallelism are independent"
    if op.tile_operands:
        yield "it still has tile operands, which should be loops"


def jammed(op: acc.LoopOp) -> Iterator[str]:
    """No loop is left with several rows per gang: `jam-outer-iterations` has put them side by side."""
    schedule = op.attributes.get(SCHEDULE)
    if isinstance(schedule, ScheduleAttr) and schedule.elements.data > 1 and op.vector is None:
        yield "several rows per gang are not yet jammed (jam-outer-iterations)"


def coarse(op: SideBySideOp) -> Iterator[str]:
    """The number of iterations side by side is the schedule's number of elements per thread."""
    loop = op.parent_op()
    assert isinstance(loop, acc.LoopOp)  # as the operation's verifier says
    schedule = loop.attributes.get(SCHEDULE)
    elements = schedule.elements.data if isinstance(schedule, ScheduleAttr) else 1
    found = len(op.several.block.args) // len(loop.region.block.args)
    if found != elements:
        yield f"it has {found} iterations side by side, but the schedule has {elements}"


def packed(op: Operation) -> Iterator[str]:
    """Formats of compressed arrays are complete."""
    attr = op.attributes.get(PACKED)
    if isinstance(attr, PackedType) and attr.bits.data == 0:
        yield "its packed type has no number of bits (compress-arrays)"


def expanded(op: acc.CacheOp | HoldsInBlockOp | ScanStepOp) -> Iterator[str]:
    """For GPUs, cached sections are tiles in shared memory, and loops with scans are accx.scan."""
    module = op.parent_op()
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    machine = module.attributes.get(MACHINE) if module is not None else None
    if isinstance(machine, MachineAttr) and machine.target.data == "nvptx":
        yield "it should have been replaced for a GPU (expand-scans, promote-cache-to-shared)"


def of_gang_threads(op: Operation) -> Iterator[str]:
    """Tiles in shared memory, and what gangs share, are accessed inside accx.gang_threads."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, GangThreadsOp):
        parent = parent.parent_op()
    if parent is None:
        yield f"{op.name} must be inside accx.gang_threads"


def typed(op: Operation) -> Iterator[str]:
    """Values have types that C has: no index, memref or tensor."""
    for value in op.results:
        if (wrong := _foreign(value.type)) is not None:
            yield wrong
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                if (wrong := _foreign(argument.type)) is not None:
                    yield wrong


_FOREIGN = ("index", "memref", "tensor", "vector")


def _foreign(type: Attribute) -> str | None:
    return (
        f"C has no values of type {type}"
        if type.name.removeprefix("builtin.") in _FOREIGN
        else None
    )
