"""
The effects of a span's constructs and host code on arrays, read from the IR for `infer-data-regions`.

A span is consecutive operations of one block, or one loop. Its sites are the data operations of the
constructs in it; `plan_span` gathers them by array and decides which arrays a data region around the
span may hold: those mapped by plain clauses on an address and section known before the span, at
least one of which certainly runs, that no host code of the span and no other clause may touch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects.accx import CELL, POINTERS
from ....dialects.accx_compress import COMPRESSION_OPS, DECODES, PACKED
from ....dialects.accx_element import ElementOp
from ...decisions.data_region_plan import ArrayUse, LeftOut, MappingClause, region_clause
from ..ops.acc_ops import (
    MAPPING_OPS,
    EntryOp,
    MappingOp,
    alloca_count,
    exits_of,
    is_inside,
    source_loc,
    variable_name,
)
from ..ops.building import constant_value
from ..ops.loop_bounds import surely_runs
from .hoisting import Hoister, Key
from .host_effects import Barrier, Effect, HostAccess
from .host_memory import HostMemory, Root


@dataclass(frozen=True)
class SpanClause:
    """
    One clause of a construct (`acc.parallel` or `acc.data`). `certain`: the construct runs whenever
    the span does. `writes`: its kernels may write the device's copy.
    """

    entry: MappingOp
    construct: acc.ParallelOp | acc.DataOp
    certain: bool
    writes: bool

    @property
    def line(self) -> int:
        return source_loc(self.construct).line

    @property
    def name(self) -> str:
        return variable_name(self.entry.acc_var)


@dataclass(frozen=True)
class SpanSection:
    """A section of `extent` elements from `lower` on, both values of the span."""

    lower: SSAValue
    extent: SSAValue


@dataclass(frozen=True)
class RegionArray:
    """
    An array that the region holds, mapped as by operation `like` of a construct that certainly runs. With
    `hull`, the constructs' sections differ: the region's section covers those in `hull`, and the sections
    in `others`, of constructs that may not run, must lie within it.
    """

    name: str
    clause: MappingClause
    like: MappingOp
    hull: tuple[SpanSection, ...] = ()
    others: tuple[SpanSection, ...] = ()


@dataclass
class SpanPlan:
    """
    The arrays for the region; for each other array the reason against it and the host code that prevents
    it.
    """

    arrays: list[RegionArray] = field(default_factory=list[RegionArray])
    declined: dict[str, str] = field(default_factory=dict[str, str])
    obstacles: list[Operation] = field(default_factory=list[Operation])


def _writes_through(address: SSAValue, construct: Operation) -> bool:
    """Whether the region of `construct` may write through `address` or pointers derived from it."""
    work = [address]
    while work:
        for use in work.pop().uses:
            op = use.operation
            if op is construct or not is_inside(op, construct):
                continue
            match op:
                case llvm.GEPOp() | ElementOp() if use.index == 0:
                    work.append(op.result)
                case acc.CacheOp():
                    work.append(op.acc_var)
                case llvm.LoadOp() | llvm.ICmpOp() | acc.FirstprivateOp() | acc.PrivateOp():
                    pass
                case _:
                    return True
    return False


def _construct_of(entry: MappingOp) -> acc.ParallelOp | acc.DataOp | None:
    for use in entry.acc_var.uses:
        if isinstance(use.operation, acc.ParallelOp | acc.DataOp):
            return use.operation
    return None


def sites_of(op: Operation, certain: bool) -> Iterator[SpanClause]:
    """The sites of `op` and of operations nested in it; `certain`: `op` runs whenever the span does."""
    match op:
        case acc.ParallelOp():
            return
        case acc.DataOp():
            yield from _sites_of_blocks(op, certain and op.if_cond is None)
        case scf.ForOp():
            yield from _sites_of_blocks(op, certain and surely_runs(op))
        case scf.WhileOp():
            yield from sites_of_block(op.before_region.block, certain)
            yield from sites_of_block(op.after_region.block, False)
        case _ if isinstance(op, MAPPING_OPS):
            construct = _construct_of(op)
            if construct is not None:
                conditional = isinstance(construct, acc.DataOp) and construct.if_cond is not None
                yield SpanClause(
                    op,
                    construct,
                    certain and not conditional,
                    _writes_through(op.acc_var, construct),
                )
        case scf.IfOp() if op.false_region.blocks:
            blocks = op.true_region.block, op.false_region.block
            both = _clauses_in(blocks[0]) & _clauses_in(blocks[1])
            for inner in (inner for block in blocks for inner in block.ops):
                always = isinstance(inner, MAPPING_OPS) and _clause_key(inner) in both
                yield from sites_of(inner, certain and always)
        case _:
            yield from _sites_of_blocks(op, False)


def _clause_key(entry: MappingOp) -> tuple[object, ...]:
    """The same for data operations that map the same in the same way."""
    return type(entry), entry.data_clause.data, entry.var, *entry.bounds


def _clauses_in(block: Block) -> set[tuple[object, ...]]:
    return {_clause_key(op) for op in block.ops if isinstance(op, MAPPING_OPS)}


def sites_of_block(block: Block, certain: bool) -> Iterator[SpanClause]:
    """The sites of all operations of `block`."""
    for op in block.ops:
        yield from sites_of(op, certain)


def _sites_of_blocks(op: Operation, certain: bool) -> Iterator[SpanClause]:
    for region in op.regions:
        for block in region.blocks:
            yield from sites_of_block(block, certain)


def clause_of(entry: MappingOp) -> MappingClause | None:
    """
    The clause of a data operation that only maps memory known before the construct; None for others: those
    that attach pointers, or map rows found through pointers.
    """
    return clause_with_pointers(entry) if not (is_attached(entry) or has_rows(entry)) else None


def is_attached(entry: MappingOp) -> bool:
    """Whether a pointer object is attached to what the operation maps."""
    return isinstance(entry, acc.CopyinOp | acc.CreateOp) and entry.var_ptr_ptr is not None


def has_rows(entry: EntryOp) -> bool:
    """Whether the operation maps rows that are found through an array of pointers."""
    return any(
        POINTERS in bound.owner.attributes
        for bound in entry.bounds
        if isinstance(bound.owner, Operation)
    )


def clause_with_pointers(entry: MappingOp) -> MappingClause | None:
    """The clause of a data operation that may also attach pointers and map rows; None if it has modifiers."""
    exits = exits_of(entry)
    plain = (
        isinstance(entry, acc.CopyinOp | acc.CreateOp)
        and len(exits) == 1
        and not any(name in entry.attributes for name in (CELL, PACKED, DECODES))
        and not any(isinstance(use.operation, COMPRESSION_OPS) for use in entry.acc_var.uses)
        and not entry.async_operands
        and not entry.modifiers.data
    )
    if not plain:
        return None
    clause = _CLAUSES.get((entry.data_clause.data, type(entry), type(exits[0])))
    leave = exits[0]
    assert isinstance(leave, acc.CopyoutOp | acc.DeleteOp | acc.DetachOp)
    return clause if not leave.modifiers.data else None


_CLAUSES: dict[tuple[acc.DataClause, type[Operation], type[Operation]], MappingClause] = {
    (acc.DataClause.ACC_COPY, acc.CopyinOp, acc.CopyoutOp): MappingClause.COPY,
    (acc.DataClause.ACC_COPYIN, acc.CopyinOp, acc.DeleteOp): MappingClause.COPYIN,
    (acc.DataClause.ACC_COPYIN_READONLY, acc.CopyinOp, acc.DeleteOp): MappingClause.COPYIN,
    (acc.DataClause.ACC_COPYOUT, acc.CreateOp, acc.CopyoutOp): MappingClause.COPYOUT,
    (acc.DataClause.ACC_CREATE, acc.CreateOp, acc.DeleteOp): MappingClause.CREATE,
}


def written_roots(
    sites: Sequence[SpanClause], accesses: Sequence[HostAccess], memory: HostMemory
) -> set[Root]:
    """
    The roots of host memory that the span may write: through host code, clauses that copy out, or kernels
    where the device shares the host's memory.
    """
    written = {access.root for access in accesses if access.writes}
    for site in sites:
        out = any(isinstance(leave, acc.CopyoutOp) for leave in exits_of(site.entry))
        if out or site.writes:
            written |= memory.roots(site.entry.var)
    return written


SectionKey = tuple[Attribute, tuple[Key | None, ...]]


@dataclass
class _Array:
    """A candidate: the sites that map it, in order."""

    sites: list[SpanClause]
    roots: frozenset[Root]
    clause: MappingClause | None = None


@dataclass
class _SpanPlanner:
    sites: Sequence[SpanClause]
    accesses: Sequence[HostAccess]
    memory: HostMemory
    hoister: Hoister
    holds: Callable[[frozenset[Root], int], bool]
    plan: SpanPlan = field(default_factory=SpanPlan)
    foreign: list[SpanClause] = field(default_factory=list[SpanClause])

    def run(self) -> SpanPlan:
        arrays = self._candidates()
        for key in list(arrays):
            self._decide(arrays, key)
        for key, array in list(arrays.items()):
            if not self.holds(array.roots, len(array.sites)):
                self.foreign += array.sites
                del arrays[key]
        while self._drop_touched(arrays):
            pass
        for array in arrays.values():
            self._finish(array)
        return self.plan

    def _decline(self, sites: Sequence[SpanClause], why: str) -> None:
        self.plan.declined.setdefault(sites[0].name, why)
        self.foreign += sites

    def _candidates(self) -> dict[Key, _Array]:
        """The arrays, by address, of which every clause is a plain mapping."""
        arrays: dict[Key, _Array] = {}
        for site in self.sites:
            if isinstance(site.entry, acc.DevicePtrOp | acc.PresentOp):
                continue
            key = self.hoister.key(site.entry.var)
            if clause_of(site.entry) is None:
                if CELL not in site.entry.attributes:
                    why = f"line {site.line} does more than map it"
                    self.plan.declined.setdefault(site.name, why)
                self.foreign.append(site)
            elif key is None:
                self._decline([site], f"its address at line {site.line} is not known before")
            else:
                roots = self.memory.roots(site.entry.var)
                arrays.setdefault(key, _Array([], roots)).sites.append(site)
        return arrays

    def _decide(self, arrays: dict[Key, _Array], key: Key) -> None:
        """Decides the clause and section of one candidate, or drops it."""
        array = arrays[key]
        uses = [
            ArrayUse(clause, site.certain, self._changes(site), site.line)
            for site in array.sites
            if (clause := clause_of(site.entry)) is not None
        ]
        decided = region_clause(uses)
        why = decided.why if isinstance(decided, LeftOut) else None
        why = why or self._asked_present(array, key) or self._section_problem(array)
        if why is not None:
            self._decline(array.sites, why)
            del arrays[key]
        elif isinstance(decided, MappingClause):
            array.clause = decided

    def _changes(self, site: SpanClause) -> bool:
        """
        Whether kernels of the compute construct, or inside the data construct, change the device's copy.
        """
        if isinstance(site.construct, acc.ParallelOp):
            return site.writes
        roots = self.memory.roots(site.entry.var)
        return any(
            other.writes
            and is_inside(other.entry, site.construct)
            and not self._apart(roots, self.memory.roots(other.entry.var))
            for other in self.sites
        )

    def _asked_present(self, array: _Array, key: Key) -> str | None:
        """
        The reason against an array that a `present` clause of the span names without a data construct of
        the span around it; None if there is no such clause.
        """
        for site in self.sites:
            if not isinstance(site.entry, acc.PresentOp):
                continue
            inside = any(
                isinstance(own.construct, acc.DataOp) and is_inside(site.entry, own.construct)
                for own in array.sites
            )
            if self.hoister.key(site.entry.var) == key and not inside:
                return f"line {site.line} expects it on the device"
        return None

    def _section_key(self, site: SpanClause) -> SectionKey:
        entry = site.entry
        return entry.var_type, tuple(self.hoister.key(bound) for bound in entry.bounds)

    def _section_problem(self, array: _Array) -> str | None:
        keys = {self._section_key(site): site for site in array.sites}
        for (_, bounds), site in keys.items():
            if None in bounds:
                return f"its section at line {site.line} is not known before"
        if len(keys) == 1 or _whole(array) is not None:
            return None
        if len({type for type, _ in keys}) > 1 or any(len(bounds) != 1 for _, bounds in keys):
            return "its sections differ in shape"
        strides = {_stride(site) for site in keys.values()}
        return "its sections differ in shape" if len(strides) > 1 or None in strides else None

    def _apart(
        self, left: frozenset[Root], right: frozenset[Root], both_read: bool = False
    ) -> bool:
        return all(self.memory.distinct(a, b, both_read) for a in left for b in right)

    def _drop_touched(self, arrays: dict[Key, _Array]) -> bool:
        """Drops the first candidate that host code or another clause may touch; whether there was one."""
        for key, array in arrays.items():
            why = self._touched(array)
            if why is not None:
                self._decline(array.sites, why)
                del arrays[key]
                return True
        return False

    def _touched(self, array: _Array) -> str | None:
        reads_only = array.clause is MappingClause.COPYIN
        for access in self.accesses:
            if reads_only and not access.writes:
                continue
            if not self._apart(array.roots, frozenset((access.root,))):
                self.plan.obstacles.append(access.at)
                verb = "writes" if access.writes else "reads"
                return f"host code at line {source_loc(access.at).line} {verb} it, or may"
        for site in self.foreign:
            entry = site.entry
            roots = self.memory.roots(entry.var)
            if entry.var_ptr_ptr is not None:
                roots = roots | self.memory.roots(entry.var_ptr_ptr)
            both_read = reads_only and not site.writes
            if not self._apart(array.roots, roots, both_read):
                return f"'{site.name}' at line {site.line} may be a part of it"
        return None

    def _finish(self, array: _Array) -> None:
        """Records the accepted array with its section."""
        assert array.clause is not None
        certain = [site for site in array.sites if site.certain]
        keys = {self._section_key(site) for site in array.sites}
        whole = _whole(array)
        like = (whole or certain[0]).entry
        clause, hull, others = array.clause, (), ()
        if len(keys) > 1 and whole is None:
            hull = self._sections(certain)
            others = self._sections([site for site in array.sites if not site.certain])
        if len(keys) > 1 and clause is MappingClause.COPYOUT:
            # The host's elements between the sections must keep their values.
            clause = MappingClause.COPY
        name = array.sites[0].name
        self.plan.arrays.append(RegionArray(name, clause, like, hull, others))

    def _sections(self, sites: Sequence[SpanClause]) -> tuple[SpanSection, ...]:
        found: dict[SectionKey, SpanSection] = {}
        for site in sites:
            bounds = site.entry.bounds[0].owner
            assert isinstance(bounds, acc.DataBoundsOp)
            assert bounds.lowerbound is not None and bounds.extent is not None
            found.setdefault(self._section_key(site), SpanSection(bounds.lowerbound, bounds.extent))
        return tuple(found.values())


def _whole(array: _Array) -> SpanClause | None:
    """
    The clause of a construct that certainly runs and maps the whole variable, which includes every section;
    None if there is none.
    """
    return next(
        (
            site
            for site in array.sites
            if site.certain and not site.entry.bounds and _is_variable(site.entry.var)
        ),
        None,
    )


def _is_variable(address: SSAValue) -> bool:
    owner = address.owner
    return isinstance(owner, llvm.AddressOfOp) or (
        isinstance(owner, llvm.AllocaOp) and alloca_count(owner) == 1
    )


def _stride(site: SpanClause) -> int | None:
    """The bytes per element of a one-dimensional section with i64 bounds; None for other sections."""
    bounds = site.entry.bounds[0].owner
    if not isinstance(bounds, acc.DataBoundsOp) or bounds.upperbound is not None:
        return None
    if bounds.lowerbound is None or bounds.extent is None or bounds.stride is None:
        return None
    if bounds.lowerbound.type != i64 or bounds.extent.type != i64:
        return None
    return constant_value(bounds.stride)


def plan_span(
    ops: Sequence[Operation],
    sites: Sequence[SpanClause],
    effects: Sequence[Effect],
    memory: HostMemory,
    holds: Callable[[frozenset[Root], int], bool],
) -> tuple[SpanPlan, Hoister]:
    """
    The arrays for a data region around `ops`. `holds` says whether an array is wanted, given the roots of
    its address and the number of its sites. The runtime checks that arrays of one region do not overlap;
    arrays that are left out must be known not to overlap them. If the effects contain a barrier, the plan
    is empty and gives the reason.
    """
    accesses = [effect for effect in effects if isinstance(effect, HostAccess)]
    written = written_roots(sites, accesses, memory)
    hoister = Hoister(frozenset(ops), ops[0], memory, written)
    barrier = next((effect for effect in effects if isinstance(effect, Barrier)), None)
    planner = _SpanPlanner(sites, accesses, memory, hoister, holds)
    if barrier is not None:
        plan = SpanPlan(obstacles=[barrier.at])
        line = source_loc(barrier.at).line
        for site in sites:
            if clause_of(site.entry) is not None:
                plan.declined.setdefault(site.name, f"{barrier.what} at line {line}")
        return plan, hoister
    return planner.run(), hoister
