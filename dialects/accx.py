"""
`accx`: attributes and operations of our pipeline beyond upstream's `acc`: schedules, the site table, host
launches. Compressed arrays (`accx.packed` and the operations around it) are in `accx_compress.py`.

Discardable attributes (every name the pipeline uses is a constant here):

| name | on | meaning |
|---|---|---|
| `accx.schedule` | `acc.loop` | its schedule: `#accx.schedule` (`accx_schedule.py`) |
| `accx.cache_blocks` | `acc.loop` | of `promote-cache-to-shared`: a loop over blocks that share tiles |
| `accx.in_order` | `acc.loop` | lanes may share it, but its reductions keep the order of its iterations |
| `accx.conditional` | `acc.loop` | independent if arrays do not overlap: to be guarded by a test |
| `accx.why` | loops, `acc.cache` | the reason for a decision, for remarks; no pass decides by its text |
| `accx.note` | `acc.loop` | what a pass before scheduling did, or why not; becomes a part of `accx.why` |
| `accx.messages` | `builtin.module` | warnings of passes that the driver has not printed yet: array |
| `accx.sites` | `builtin.module` | the site table: array of dictionaries |
| `accx.site` | runtime operations, launches | index into the site table |
| `accx.cell` | `acc.copyin` | a scalar that only a reduction of the construct reads and writes |
| `accx.last_value` | `llvm.store` | in a loop's last iteration only, to a scalar that all share |
| `accx.in_place` | data entry operations | of `share-host-memory`: the program's memory may be used |
| `accx.shared` | data entry operations | of a data region that may use the program's memory |
| `accx.edges` | `acc.cache` | some blocks of the nest are not full, in this version of it |
| `accx.restrict` | data entry operations, `acc.cache` | the clause names a pointer declared `restrict` |
| `accx.apart` | `acc.parallel` | what it writes through one data operand it accesses through no other |
| `accx.aligned` | `acc.parallel` | for each data operand the bytes of which its address is a multiple |
| `accx.fallback` | `acc.parallel` | a version that is rarely needed, for arrays that overlap: not tuned |
| `accx.stage` | `builtin.module` | the stage of the pipeline that it has reached |
| `accx.machine` | `builtin.module` | the target machine: `#accx.machine` (`accx_machine.py`) |
| `accx.version` | `builtin.module` | the version of the IR's form (`IR_VERSION`): i32 |
| `accx.next_pass` | `builtin.module` | the pass with which IR saved within a stage continues |
| `accx.kernel` | `llvm.func` | a host-target kernel |
| `accx.puns` | `builtin.module` | it has unions: memory may be accessed as several types |
| `accx.constant` | `llvm.alloca` | declared `const`: keeps the value of its initialiser (C11 6.7.3, 6) |
| `accx.typed` | `llvm.func` | a kernel whose scalars of different types never overlap (C11 6.5, 7) |
| `accx.entry` | `llvm.func` | the function of which this is the entry by C's calling convention |
| `accx.simd` | loops, back edges | the iterations are independent: vectorise |
| `accx.lanes` | `scf.for` | of the host target: a candidate of `interchange-lanes` |
| `accx.vector_width` | loops, back edges | vectorise with this many lanes: i32 |
| `accx.unfused` | `arith.mulf`, `llvm.fmul` | not fused with a sum |
| `accx.interleave` | loops, back edges | interleave this many vectors: i32 |
| `accx.unroll` | loops, back edges | unroll by this i32 (0: completely, 1: do not unroll) |
| `accx.access_groups` | back edges, memory accesses | loops of independent accesses: array of i32 |
| `accx.iteration` | memory accesses | of which of n independent iterations (n: of all), n, their loop |
| `accx.array` | memory accesses | to which of n arrays that no other pointer leads to, n, their kernel |
| `accx.independent` | `scf.for` | no iteration reaches an element that another one stores |
| `accx.unchanged` | `llvm.load` | from memory that no one writes while the construct runs |
| `accx.in_row` | `llvm.getelementptr` | of a place in a row, whose start need not be in the array |
| `accx.inferred` | `acc.data`, data operations | of an inferred region: entered whole or not at all |
| `accx.data_region` | `acc.data`, host loops | what infer-data-regions did here, or why not, for remarks |
| `accx.from_kernels` | `acc.parallel`, `acc.data` | of a kernels construct: its rules for scalars apply |
| `accx.from_serial` | `acc.parallel` | made from a serial construct, which profiling tools report |
| `accx.atomic` | `scf.while` | a compare-and-exchange loop: one side effect, which passes must not split |
| `accx.pointers` | `acc.bounds` | the section's elements are pointers to the section of the next bounds |
| `accx.speculative` | `llvm.load` | may read unwritten elements, and the rest of an array's last 16 bytes |
| `accx.handed_over` | `llvm.load`, `llvm.store` | a private variable that a leader gives its group |
| `accx.volatile` | `llvm.load` | a volatile access (stores have a property) |
| `accx.implicit_routine` | `acc.routine` | inferred, not written by the user |
| `accx.remarks` | `acc.parallel`, functions | remarks of passes: array of {text, file, line, column} |
| `accx.dynamic` | `accx.shared_tile`, shared globals | offset in the launch's dynamic shared memory |
| `accx.resident` | constructs | gangs for which the registers of a multiprocessor should suffice |
| `accx.schedules` | `acc.parallel` | its schedule space, a line each (`schedule-loops{space}`) |
| `accx.wanted` | `acc.loop` | its body has effects `below` or `above` the bound it compares with first |
| `accx.given_sizes` | `acc.parallel` | the launch sizes given by clauses: array of clause names |
"""

from __future__ import annotations

from xdsl.dialects.builtin import I32, I64, SymbolRefAttr
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, var_operand_def

from . import (
    accx_bulk,
    accx_cache,
    accx_devices,
    accx_element,
    accx_gangs,
    accx_machine,
    accx_scan,
    accx_schedule,
    accx_side_by_side,
    accx_teams,
    accx_watch,
)
from .accx_compress import COMPRESSION_OPS, PackedType

SCHEDULE = "accx.schedule"
CACHE_BLOCKS = "accx.cache_blocks"
WHY = "accx.why"
NOTE = "accx.note"
CONDITIONAL = "accx.conditional"
IN_ORDER = "accx.in_order"
MESSAGES = "accx.messages"
SITES = "accx.sites"
SITE = "accx.site"
CELL = "accx.cell"
INFERRED = "accx.inferred"
IN_PLACE = "accx.in_place"
SHARED = "accx.shared"
DATA_REGION = "accx.data_region"
LAST_VALUE = "accx.last_value"
RESTRICT = "accx.restrict"
APART = "accx.apart"
ALIGNED = "accx.aligned"
FALLBACK = "accx.fallback"
EDGES = "accx.edges"
WANTED = "accx.wanted"
STAGE = "accx.stage"
NEXT_PASS = "accx.next_pass"
VERSION = "accx.version"
MACHINE = "accx.machine"
IR_VERSION = 3
"""
Incremented when the meaning of saved IR changes, or when facts that passes need are expressed differently.
"""
KERNEL = "accx.kernel"
PUNS = "accx.puns"
CONSTANT = "accx.constant"
TYPED = "accx.typed"
ENTRY = "accx.entry"
SIMD = "accx.simd"
LANES = "accx.lanes"
VECTOR_WIDTH = "accx.vector_width"
INTERLEAVE = "accx.interleave"
UNFUSED = "accx.unfused"
UNROLL = "accx.unroll"
ACCESS_GROUPS = "accx.access_groups"
ITERATION = "accx.iteration"
ARRAY = "accx.array"
INDEPENDENT = "accx.independent"
UNCHANGED = "accx.unchanged"
IN_ROW = "accx.in_row"
FROM_KERNELS = "accx.from_kernels"
FROM_SERIAL = "accx.from_serial"
ATOMIC = "accx.atomic"
VOLATILE = "accx.volatile"
SPECULATIVE = "accx.speculative"
HANDED_OVER = "accx.handed_over"
POINTERS = "accx.pointers"
IMPLICIT_ROUTINE = "accx.implicit_routine"
REMARKS = "accx.remarks"
DYNAMIC = "accx.dynamic"
RESIDENT = "accx.resident"
GIVEN_SIZES = "accx.given_sizes"
SCHEDULES = "accx.schedules"

GPU_MODULE_NAME = "accopt_kernels"


@irdl_op_definition
class LaunchHostOp(IRDLOperation):
    """
    Runs a host-target kernel over `num_gangs` gangs on CPU threads, ordered on OpenACC queue
    `queue`; `args` are the kernel's arguments (device addresses and scalars).
    """

    name = "accx.launch_host"

    num_gangs = operand_def(I32)
    queue = operand_def(I64)
    args = var_operand_def()
    kernel = prop_def(SymbolRefAttr)

    assembly_format = (
        "$kernel `gangs` `(` $num_gangs `)` `queue` `(` $queue `)` `args` `(` $args `)` attr-dict"
        " `:` type($args)"
    )

    def __init__(
        self,
        kernel: str | SymbolRefAttr,
        num_gangs: SSAValue | Operation,
        queue: SSAValue | Operation,
        args: list[SSAValue],
    ):
        if isinstance(kernel, str):
            kernel = SymbolRefAttr(kernel)
        super().__init__(operands=[num_gangs, queue, args], properties={"kernel": kernel})


ACCX = Dialect(
    "accx",
    [
        LaunchHostOp,
        *accx_cache.OPERATIONS,
        *accx_bulk.OPERATIONS,
        *accx_devices.OPERATIONS,
        *accx_element.OPERATIONS,
        *accx_gangs.OPERATIONS,
        *accx_scan.OPERATIONS,
        *accx_side_by_side.OPERATIONS,
        *accx_teams.OPERATIONS,
        *accx_watch.OPERATIONS,
        *COMPRESSION_OPS,
    ],
    [PackedType, accx_machine.MachineAttr, accx_schedule.ScheduleAttr],
)
