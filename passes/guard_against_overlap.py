"""
Test before a construct whether arrays overlap, and choose between a parallel and a sequential version.

C lets two pointers overlap, and a stride be smaller than a row. Loops that are independent unless they do
are marked `accx.conditional` by `split-kernels`. This pass makes two versions of such a construct;
comparisons of addresses and sizes on the host, immediately before the launch, select one.

Takes:  data level; loops marked `accx.conditional`. `dependence/loop_dependence.py` judges them again,
        now on the construct's own data operations.
Leaves: no `accx.conditional`. Such a construct is in an `scf.if`: the first version is unchanged, in the
        second, marked `accx.fallback`, the marked loops are `seq`. The test compares, by device
        addresses, the sections that the loops access of each pair of arrays: those spanned by their
        subscripts, otherwise those of the data clauses, otherwise all that is mapped there,
        which a call of the runtime finds. For rows reached through arrays of pointers, a call of the
        runtime compares the host addresses of all rows that their clauses name. If the sections cannot be
        computed before the construct, and in host code, the marked loops are `seq` and there is one
        version. A wait clause becomes an `acc.wait` before the data operations.
Fails:  never. `accx.note` and `accx.why` of the loops explain the result.

Before:
  %x_dev = acc.copy... %y_dev = acc.copyin ...
  acc.parallel dataOperands(%x_dev, %y_dev) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) { x[i] = y[i + 1] }
        attributes {independent, accx.conditional}
  }
After:
  %apart = the end of one section is not after the beginning of the other
  scf.if %apart {
    acc.parallel ... { acc.loop ... attributes {independent} }
  } else {
    acc.parallel ... { acc.loop ... attributes {seq} }
  }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..compiler.base.abi import RowSection
from ..dialects.accx import CONDITIONAL, FALLBACK, FROM_KERNELS, IN_ORDER, NOTE, POINTERS
from .decisions.dependence import Requirement
from .ir.dependence.loop_dependence import judge_loop
from .ir.dependence.loop_verdicts import Overlap, Verdict
from .ir.dependence.pointer_rows import ApartArray, rows_clause
from .ir.kernels.constructs import set_one_gang
from .ir.kernels.outline import wait_ahead
from .ir.kernels.runtime_calls import RuntimeCalls
from .ir.loops.array_spans import ArraySpan, ArraySpans, Untestable
from .ir.ops.acc_ops import (
    child_loops,
    enclosing,
    enclosing_function,
    enclosing_module,
    is_defined_inside,
    is_inside,
    loops_in,
    variable_name,
)
from .ir.ops.building import Cursor
from .ir.ops.loop_order import confine_to_gang, make_sequential
from .ir.ops.versions import (
    queue_outside,
    second_version,
)
from .ir.values.accesses import DERIVED, root_of
from .ir.values.addresses import ADDRESS_OPS
from .ir.values.region_values import variable_key
from .ir.variables.private_storage import entry_cursor


def _marked(parent: Operation) -> list[acc.LoopOp]:
    return [loop for loop in loops_in(parent) if CONDITIONAL in loop.attributes]


# The memory of arrays.


def _base(root: SSAValue, loop: acc.LoopOp, construct: acc.ParallelOp) -> SSAValue:
    """The value from outside the construct through which the loop accesses memory with this root."""
    for operand in (operand for op in loop.walk() for operand in op.operands):
        pointer = operand
        if not isinstance(pointer.type, llvm.LLVMPointerType):
            continue
        if variable_key(root_of(pointer)) != variable_key(root):
            continue
        while is_defined_inside(pointer, construct) and isinstance(pointer.owner, DERIVED):
            owner = pointer.owner
            pointer = owner.ptr if isinstance(owner, ADDRESS_OPS) else owner.var
        if pointer in construct.data_clause_operands:
            return pointer
    raise Untestable(f"the address in '{variable_name(root)}' is not known before the construct")


class _Test:
    """Emits the test for one construct, before it."""

    def __init__(self, construct: acc.ParallelOp):
        self.construct = construct
        self.spans = ArraySpans(construct)
        self.emit = self.spans.emit

    def span(self, root: SSAValue, loop: acc.LoopOp) -> ArraySpan:
        """The span of memory that `loop` accesses in the array with this root."""
        return self.spans.span(_base(root, loop, self.construct), loop)

    def apart(self, overlap: Overlap, loop: acc.LoopOp) -> SSAValue:
        """An i1: two arrays do not overlap, or are one array where that is allowed."""
        left, right = self.span(overlap.left, loop), self.span(overlap.right, loop)
        apart = self.spans.apart(left, right)
        if overlap.same is None:
            return apart
        same = self.emit.value(arith.CmpiOp(left.base, right.base, "eq"), "same")
        for condition in self.requirement(overlap.same):
            same = self.emit.both(same, condition)
        return self.emit.value(arith.OrIOp(apart, same))

    def rows_apart(self, arrays: Sequence[ApartArray], loop: acc.LoopOp) -> SSAValue:
        """
        An i1: rows reached through arrays of pointers share no memory with each other or with the other
        arrays.
        """
        at = Cursor.before(self.construct)
        sections = [self._apart_section(array, loop, at) for array in arrays]
        numbers = [number for section in sections for number in section]
        entry = entry_cursor(enclosing_function(self.construct))
        entry.loc = self.construct.location
        memory = entry.alloca(llvm.LLVMArrayType(len(numbers), i64), "sections")
        for index, number in enumerate(numbers):
            at.store(number, at.field(memory, 8 * index))
        calls = RuntimeCalls.in_module(enclosing_module(self.construct))
        found = calls.value(at, "__accopt_rows_apart", memory, at.i32(8 * len(numbers)))
        return at.value(arith.CmpiOp(found, at.i32(0), "ne"), "rows_apart")

    def _apart_section(self, array: ApartArray, loop: acc.LoopOp, at: Cursor) -> list[SSAValue]:
        """
        The base, kind and dimensions of memory that must not overlap, by host addresses
        (`runtime/rows_apart.py`): for rows the section of their clause, for another array the section
        that `loop` accesses.
        """
        name = variable_name(array.root)
        kind = RowSection.WRITTEN if array.written else RowSection(0)
        if array.levels:
            entry = rows_clause(array.root, self.construct)
            if entry is None:
                raise Untestable(f"no data clause names the rows of '{name}'")
            kind |= RowSection.ROWS
            dims = [number for bound in entry.bounds for number in _dimension(bound, name, at)]
        else:
            base = _base(array.root, loop, self.construct)
            entry = base.owner
            if not isinstance(entry, acc.CopyinOp | acc.CreateOp | acc.PresentOp):
                raise Untestable(f"the host address of '{name}' is not known")
            first, past = self.spans.offsets(base, loop, name)
            dims = [first, at.sub(past, first), at.i64(1)]
        address = at.value(llvm.PtrToIntOp(entry.var, i64), f"{name}_address")
        return [address, at.i64(int(kind)), at.i64(len(dims) // 3), *dims]

    def requirement(self, requirement: Requirement) -> list[SSAValue]:
        """One i1 for each clause of the requirement."""
        found: list[SSAValue] = []
        for clause in requirement:
            any_: SSAValue | None = None
            for alternative in clause:
                all_: SSAValue | None = None
                for poly in alternative:
                    value, zero = self.emit.emit(poly), self.emit.i64(0)
                    holds = self.emit.value(arith.CmpiOp(value, zero, "sge"))
                    all_ = self.emit.both(all_, holds)
                assert all_ is not None
                any_ = self.emit.any_bits(any_, all_)
            assert any_ is not None
            found.append(any_)
        return found

    def condition(self, loops: Sequence[tuple[acc.LoopOp, Verdict]]) -> SSAValue:
        """An i1: all of these loops are independent."""
        found: dict[SSAValue, None] = {}
        done: set[object] = set()
        asked: list[tuple[acc.LoopOp, set[ApartArray]]] = []
        for loop, verdict in loops:
            for overlap in verdict.overlaps:
                found[self.apart(overlap, loop)] = None
            rows = set(verdict.rows)
            # The enclosing loop's test of the same rows holds for this loop too.
            if rows and not any(is_inside(loop, outer) and rows <= of for outer, of in asked):
                found[self.rows_apart(verdict.rows, loop)] = None
                asked.append((loop, rows))
            for clause in verdict.requirement:
                if clause not in done:
                    done.add(clause)
                    found |= dict.fromkeys(self.requirement((clause,)))
        total = reduce(self.emit.both, found)
        total.name_hint = "independent"
        return total


def _dimension(bound: SSAValue, name: str, at: Cursor) -> list[SSAValue]:
    """
    The lower bound, extent and stride in bytes of a clause's dimension; the stride is negative if the
    elements are pointers.
    """
    bounds = bound.owner
    assert isinstance(bounds, acc.DataBoundsOp)
    if bounds.lowerbound is None or bounds.extent is None or bounds.stride is None:
        raise Untestable(f"the number of rows of '{name}' is not known")
    lower, extent, stride = (
        at.to_i64(value) for value in (bounds.lowerbound, bounds.extent, bounds.stride)
    )
    if POINTERS in bounds.attributes:
        stride = at.value(arith.SubiOp(at.i64(0), stride))
    return [lower, extent, stride]


# Versions.


def _wording(verdict: Verdict) -> str:
    pairs = [
        f"'{variable_name(overlap.left)}' and '{variable_name(overlap.right)}'"
        for overlap in verdict.overlaps
    ]
    arrays = f"{', '.join(pairs)} do not overlap" if pairs else ""
    names = [
        f"{'the rows of ' if apart.levels else ''}'{variable_name(apart.root)}'"
        for apart in verdict.rows
    ]
    rows = f"{', '.join(names)} do not overlap" if names else ""
    sizes = "its subscripts are apart" if verdict.requirement else ""
    return " and ".join(text for text in (arrays, rows, sizes) if text)


def _settle(construct: acc.ParallelOp) -> None:
    """Makes the versions of a construct with marked loops."""
    judged = [(loop, judge_loop(loop, construct)) for loop in _marked(construct)]
    reason = next((v.why for _, v in judged if not v.independent), None)
    if reason is None and not queue_outside(construct):
        reason = "arrays may overlap, and its queue is not known before its data operations"
    if reason is None:
        judged = [(loop, verdict) for loop, verdict in judged if verdict.conditional]
    if reason is None and judged:
        try:
            condition = _Test(construct).condition(judged)
        except Untestable as untestable:
            reason = str(untestable)
        else:
            _make_versions(construct, condition, judged)
            return
    for loop in _marked(construct):
        del loop.attributes[CONDITIONAL]
        if reason is not None:
            _run_in_order(loop, reason)


def _run_in_order(loop: acc.LoopOp, why: str) -> None:
    """
    Makes a loop sequential; also the others in its row if lanes would compute terms of sums for one of
    them: a thread for each row is faster than lanes that wait for one.
    """
    make_sequential(loop, why)
    around = enclosing(loop, acc.LoopOp)
    row = [] if around is None else child_loops(around)
    if any(IN_ORDER in other.attributes for other in row):
        for other in row:
            make_sequential(other, why)


def _make_versions(
    construct: acc.ParallelOp, condition: SSAValue, judged: Sequence[tuple[acc.LoopOp, Verdict]]
) -> None:
    wordings = {loop: _wording(verdict) for loop, verdict in judged}
    for loop in wordings:
        loop.attributes[NOTE] = StringAttr(
            f"in parallel where {wordings[loop]} (tested at launch), else sequentially"
        )
    wait_ahead(construct)
    copy = second_version(construct, condition)
    copy.attributes[FALLBACK] = UnitAttr()
    for loop in _marked(copy):
        del loop.attributes[CONDITIONAL]
        loop.attributes.pop(NOTE, None)
        _run_in_order(loop, "fallback: arrays overlap")
    confine_to_gang(copy)
    if FROM_KERNELS in copy.attributes:
        set_one_gang(copy, Cursor.before(copy).i32(1))
    for loop in _marked(construct):
        del loop.attributes[CONDITIONAL]


@dataclass(frozen=True)
class GuardAgainstOverlapPass(ModulePass):
    """See the contract at the top of this file."""

    name = "guard-against-overlap"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        marked: dict[acc.ParallelOp, None] = {}
        for loop in _marked(op):
            construct = enclosing(loop, acc.ParallelOp)
            if construct is None:
                del loop.attributes[CONDITIONAL]
                make_sequential(loop, "host code")
            else:
                marked[construct] = None
        for construct in marked:
            _settle(construct)
