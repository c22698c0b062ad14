"""
Which scalar variables code reads before writing them, and which are live after it: for a whole function,
one walk up (upward-exposed reads and certain writes of each operation) and one walk down (liveness).

A variable is a bit in an integer, so that both walks are linear in the operations. `ScalarFlow` answers
for the bodies of loops and compute constructs. Variables are told apart by their storage: a local
variable, a global, or the copy that a private, firstprivate or reduction clause makes; a data clause's
device copy counts as the variable it maps.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from ..ops.acc_ops import (
    COMPUTE_OPS,
    EXIT_OPS,
    MAPPING_OPS,
    PRIVATIZING_OPS,
    alloca_count,
    callee_of,
    is_scalar,
)
from ..ops.block_order import successors
from ..ops.loop_bounds import LoopLike, body_of, surely_runs
from ..ops.purity import is_pure_call

LOOPS = (acc.LoopOp, scf.ForOp)

FILLS_ARGUMENTS = frozenset(
    name + suffix
    for name in ("sincos", "sincospi", "frexp", "modf", "remquo")
    for suffix in ("", "f", "l")
)
"""Library functions that write through their pointer arguments and read nothing through them."""


@dataclass(frozen=True)
class Effect:
    """
    Variables that may be read before they are certainly written (`reads`), and that are certainly written
    (`writes`), as bits.
    """

    reads: int = 0
    writes: int = 0

    def then(self, other: Effect) -> Effect:
        """The effect of this followed by `other`."""
        return Effect(self.reads | (other.reads & ~self.writes), self.writes | other.writes)

    def maybe(self) -> Effect:
        """The effect of this if it may not run."""
        return Effect(self.reads, 0)


NOTHING = Effect()

_DATA_OPS = (*MAPPING_OPS, *EXIT_OPS)
_OWN_COPIES = (*PRIVATIZING_OPS, *COMPUTE_OPS)
_WITH_MEANING = (
    *(llvm.LoadOp, llvm.StoreOp, llvm.CallOp, acc.LoopOp, acc.DataBoundsOp),
    *(scf.IfOp, scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp),
    *(*_OWN_COPIES, *_DATA_OPS),
)
"""Operations that do more to variables than read those they name."""


def storage_of(pointer: SSAValue) -> Hashable | None:
    """A key for the scalar variable at an address; None for arrays, members and other memory."""
    owner = pointer.owner
    while isinstance(owner, MAPPING_OPS):
        if owner.bounds or not is_scalar(owner.var_type):
            return None
        pointer = owner.var
        owner = pointer.owner
    match owner:
        case llvm.AllocaOp():
            return pointer if is_scalar(owner.elem_type) and alloca_count(owner) == 1 else None
        case llvm.AddressOfOp():
            return owner.global_name.string_value()
        case acc.PrivateOp() | acc.FirstprivateOp() | acc.ReductionOp():
            return pointer if is_scalar(owner.var_type) and not owner.bounds else None
        case _:
            return None


def _of_construct(op: Operation) -> bool:
    """Whether a data operation belongs to a compute construct, where it copies a value in or out."""
    entry = op
    if isinstance(op, EXIT_OPS):
        owner = op.operands[0].owner
        if not isinstance(owner, Operation):
            return False
        entry = owner
    return any(isinstance(use.operation, COMPUTE_OPS) for r in entry.results for use in r.uses)


class ScalarFlow:
    """The answers for one function. The IR may change if `follow` is told of new copies."""

    def __init__(self, function: Operation, global_scalars: frozenset[str]):
        self.globals = global_scalars
        self.bits: dict[Hashable, int] = {}
        self.everywhere = 0
        """
        Variables that code elsewhere may read at any time: globals, and variables that other data clauses
        map.
        """
        self.body: dict[Operation, Effect] = {}
        """Loop or construct → the effect of its region."""
        self.effects: dict[Operation, Effect] = {}
        """Construct → its effect on the host's variables."""
        self.after: dict[Operation, int] = {}
        """Loop or construct → the variables live after it."""
        self.named: list[tuple[Operation, SSAValue]] = []
        """The operations that name a scalar variable, with its address, in order."""
        self._blocks: dict[Block, Effect] = {}
        self._plain: dict[Operation, Effect] = {}
        """The effects of operations without regions."""
        self._bit_at: dict[SSAValue, int] | None = {}
        """Address → its variable's bit; valid until the IR changes."""
        for region in function.regions:
            for op in region.walk():
                self._note(op)
        for region in function.regions:
            self._region(region)
        for region in function.regions:
            self._live_region(region, self.everywhere)
        self._bit_at = None
        self._plain.clear()

    # Variables.

    def _note(self, op: Operation) -> None:
        """Assigns bits to the variables that an operation names."""
        for operand in dict.fromkeys(op.operands):
            if isinstance(operand.type, llvm.LLVMPointerType):
                bit = self.bit(operand)
                if not bit:
                    continue
                self.named.append((op, operand))
                if isinstance(storage_of(operand), str) or self._exposes(op, operand):
                    self.everywhere |= bit

    def bit(self, pointer: SSAValue) -> int:
        """The bit of the scalar variable at an address; 0 for other addresses."""
        if self._bit_at is None:
            return self._find_bit(pointer)
        found = self._bit_at.get(pointer)
        if found is None:
            found = self._bit_at[pointer] = self._find_bit(pointer)
        return found

    def _find_bit(self, pointer: SSAValue) -> int:
        storage = storage_of(pointer)
        if storage is None or (isinstance(storage, str) and storage not in self.globals):
            return 0
        if storage not in self.bits:
            self.bits[storage] = 1 << len(self.bits)
        return self.bits[storage]

    def follow(self, copy: SSAValue, original: SSAValue) -> None:
        """From now on, uses of `copy` count as uses of `original`."""
        self.bits[copy] = self.bit(original)

    def read_in(self, loop: Operation, variable: SSAValue) -> None:
        """Records that iterations of a loop read a new variable before writing it."""
        found = self.body[loop]
        self.body[loop] = Effect(found.reads | self.bit(variable), found.writes)

    @staticmethod
    def _exposes(op: Operation, pointer: SSAValue) -> bool:
        """Whether an operation makes the variable's address known to code elsewhere."""
        match op:
            case llvm.LoadOp() | acc.LoopOp():
                return False
            case llvm.StoreOp():
                return op.value is pointer
            case _ if isinstance(op, _OWN_COPIES):
                return False
            case _ if isinstance(op, _DATA_OPS):
                return not _of_construct(op)
            case _ if op.name.startswith(("acc.atomic", "llvm.intr.mem")):
                return False
            case _:
                return True

    # Upwards: upward-exposed reads and certain writes.

    def _region(self, region: Region) -> Effect:
        blocks = list(region.blocks)
        if not blocks:
            return NOTHING
        for block in blocks:
            self._blocks[block] = self._sequence(block.ops)
        if len(blocks) == 1:
            return self._blocks[blocks[0]]
        return self._graph(blocks)

    def _sequence(self, ops: Iterable[Operation]) -> Effect:
        reads = writes = 0
        for op in ops:
            effect = self._operation(op)
            if effect is NOTHING:
                continue
            if not op.regions:
                self._plain[op] = effect
            reads |= effect.reads & ~writes
            writes |= effect.writes
        return Effect(reads, writes)

    def _graph(self, blocks: Sequence[Block]) -> Effect:
        """
        The effect of blocks with jumps: reads that may come first on a path from the entry, and writes on
        every path to an exit.
        """
        reads = {block: self._blocks[block].reads for block in blocks}
        every = -1
        writes = dict.fromkeys(blocks, every)
        changed = True
        while changed:
            changed = False
            for block in reversed(blocks):
                own = self._blocks[block]
                after = successors(block)
                read, write = own.reads, own.writes
                if after:
                    below = every
                    for successor in after:
                        read |= reads[successor] & ~own.writes
                        below &= writes[successor]
                    write |= below
                if (read, write) != (reads[block], writes[block]):
                    reads[block], writes[block] = read, write
                    changed = True
        first = blocks[0]
        known = (1 << len(self.bits)) - 1
        return Effect(reads[first], writes[first] & known)

    def _operation(self, op: Operation) -> Effect:
        if not issubclass(type(op), _WITH_MEANING):
            return self._usual(op)
        match op:
            case llvm.LoadOp():
                return Effect(reads=self.bit(op.ptr))
            case llvm.StoreOp():
                return Effect(self._bits([op.value]), self.bit(op.ptr))
            case scf.IfOp():
                yes, no = self._region(op.true_region), self._region(op.false_region)
                return Effect(yes.reads | no.reads, yes.writes & no.writes)
            case scf.ForOp() | acc.LoopOp():
                return self._loop(op)
            case scf.WhileOp():
                return self._region(op.before_region).then(self._region(op.after_region).maybe())
            case scf.ExecuteRegionOp():
                return self._region(op.regions[0])
            case acc.PrivateOp() | acc.ReductionOp() | acc.DataBoundsOp():
                return NOTHING
            case _ if isinstance(op, COMPUTE_OPS):
                return self._construct(op)
            case _ if isinstance(op, _DATA_OPS) and _of_construct(op):
                return NOTHING
            case llvm.CallOp():
                given, read = self._bits(op.operands), self._called(op)
                fills = callee_of(op) in FILLS_ARGUMENTS
                return Effect(read, given) if fills else Effect(reads=given | read)
            case _:
                return self._usual(op)

    def _usual(self, op: Operation) -> Effect:
        """The effect of an operation that reads the variables it names and then runs its regions."""
        reads = self._bits(op.operands)
        if not op.regions:
            return Effect(reads) if reads else NOTHING
        found = Effect(reads)
        for region in op.regions:
            found = found.then(self._region(region))
        return found

    def _called(self, op: llvm.CallOp) -> int:
        """The reads of a call: a function of the program may read every global."""
        if is_pure_call(op):
            return 0
        return sum(self.bit_of_global(name) for name in self.globals)

    def bit_of_global(self, name: str) -> int:
        """The bit of a global scalar; 0 if the function does not name it."""
        return self.bits.get(name, 0)

    def _bits(self, values: Iterable[SSAValue]) -> int:
        found = 0
        for value in values:
            if isinstance(value.type, llvm.LLVMPointerType):
                found |= self.bit(value)
        return found

    def _loop(self, op: LoopLike) -> Effect:
        found = self.body[op] = self._region(body_of(op))
        inner = found if surely_runs(op) else found.maybe()
        return Effect(reads=self._copied(op, acc.ReductionOp)).then(inner)

    def _copied(self, op: Operation, *kinds: type[acc.ReductionOp | acc.FirstprivateOp]) -> int:
        """The variables of which a loop or construct has copies by operations of these classes."""
        found = 0
        for operand in op.operands:
            if isinstance(operand.owner, kinds):
                found |= self.bit(operand.owner.var)
        return found

    def _construct(self, op: Operation) -> Effect:
        """
        The effect of a construct: it reads and writes the variables it maps; its own copies of others end
        with it.
        """
        found = self._sequence_of_regions(op)
        self.body[op] = found
        writes, reduced = 0, self._copied(op, acc.ReductionOp, acc.FirstprivateOp)
        if isinstance(op, acc.KernelsOp) and op.if_cond is None:
            writes = found.writes & ~self._not_copied_out(op)
        found = self.effects[op] = Effect(found.reads | reduced, writes)
        return found

    def _not_copied_out(self, op: Operation) -> int:
        """The variables whose values a construct leaves on the device."""
        back = (acc.DataClause.ACC_COPY, acc.DataClause.ACC_COPYOUT)
        found = 0
        for operand in op.operands:
            entry = operand.owner
            if isinstance(entry, MAPPING_OPS) and entry.data_clause.data not in back:
                found |= self.bit(operand)
        return found

    def _sequence_of_regions(self, op: Operation) -> Effect:
        found = NOTHING
        for region in op.regions:
            found = found.then(self._region(region))
        return found

    # Downwards: the variables live after each loop and construct.

    def _live_region(self, region: Region, out: int) -> int:
        """Records liveness in a region with `out` live at its end; returns the variables live before it."""
        blocks = list(region.blocks)
        if len(blocks) == 1:
            return self._live_block(blocks[0], out)
        live: dict[Block, int] = dict.fromkeys(blocks, 0)
        changed = True
        while changed:
            changed = False
            for block in reversed(blocks):
                own = self._blocks[block]
                end = self._at_end(block, live, out)
                before = own.reads | (end & ~own.writes)
                if before != live[block]:
                    live[block], changed = before, True
        for block in blocks:
            self._live_block(block, self._at_end(block, live, out))
        return live[blocks[0]] if blocks else out

    @staticmethod
    def _at_end(block: Block, live: dict[Block, int], out: int) -> int:
        after = successors(block)
        if not after:
            return out
        end = 0
        for successor in after:
            end |= live[successor]
        return end

    def _live_block(self, block: Block, out: int) -> int:
        live = out
        for op in reversed(list(block.ops)):
            live = self._live_operation(op, live)
        return live

    def _live_operation(self, op: Operation, live: int) -> int:
        """Records liveness inside `op`, with `live` after it; returns the variables live before it."""
        if not op.regions:
            effect = self._plain.get(op)
            if effect is None:
                return live
            return effect.reads | (live & ~effect.writes)
        if isinstance(op, LOOPS):
            self.after[op] = live
            again = live | self.body[op].reads
            for region in op.regions:
                self._live_region(region, again)
            if isinstance(op, scf.ForOp) and surely_runs(op):
                effect = self.body[op]
                return effect.reads | (live & ~effect.writes)
            return again | self._copied(op, acc.ReductionOp)
        if isinstance(op, COMPUTE_OPS):
            self.after[op] = live
            inside = live if isinstance(op, acc.KernelsOp) else live & self._mapped(op)
            for region in op.regions:
                self._live_region(region, inside)
            effect = self.effects[op]
            return effect.reads | (live & ~effect.writes)
        if isinstance(op, scf.WhileOp):
            test, body = self._cached(op.before_region), self._cached(op.after_region)
            again = test.reads | ((live | body.reads) & ~test.writes)
            inner = self._live_region(op.after_region, again)
            return self._live_region(op.before_region, live | inner)
        if isinstance(op, scf.ExecuteRegionOp):
            return self._live_region(op.regions[0], live)
        before = 0 if isinstance(op, scf.IfOp) and op.false_region.blocks else live
        for region in op.regions:
            if region.blocks:
                before |= self._live_region(region, live)
        return before | self._bits(op.operands)

    def _cached(self, region: Region) -> Effect:
        blocks = list(region.blocks)
        return self._blocks[blocks[0]] if len(blocks) == 1 else self._region(region)

    def _mapped(self, op: Operation) -> int:
        """The variables that a construct's data clauses name."""
        return self._bits(v for v in op.operands if isinstance(v.owner, MAPPING_OPS))

    # Answers.

    def reads_first(self, loop: Operation, pointer: SSAValue) -> bool:
        """Whether an iteration may read the variable before writing it."""
        return bool(self.body[loop].reads & self.bit(pointer))

    def certainly_writes(self, loop: Operation, pointer: SSAValue) -> bool:
        """Whether every iteration writes the variable."""
        return bool(self.body[loop].writes & self.bit(pointer))

    def is_live_after(self, op: Operation, pointer: SSAValue) -> bool:
        """Whether the variable is live after a loop or construct."""
        return bool(self.after[op] & self.bit(pointer))
