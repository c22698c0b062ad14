"""
What `promote-cache-to-shared` reads off the IR: the parallel loops around a `cache` directive, its
sections, and every access to the arrays it names.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from math import gcd

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerType, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ...dialects.accx import VOLATILE, WHY
from ..analysis.acc_ops import MAPPING_OPS, has_level, is_inside
from ..analysis.affine import Affine, from_value
from ..analysis.cache_plan import Axis
from ..analysis.cache_section import Element, Section, SectionDim, Subscript, element_of, offsets
from ..analysis.cache_section import is_inside as offset_is_inside
from ..analysis.cache_section import is_outside as offset_is_outside
from ..analysis.device_functions import PURE_FUNCTIONS
from ..analysis.layout import member_offset, size_of
from ..analysis.ranges import LoopRange
from ..analysis.region_values import same_variable, variable_of
from ..analysis.sections import refine_by_conditions
from ..building import constant_value
from ..gpu_lowering.arguments import distinct_arguments

_ARITHMETIC = (
    arith.ConstantOp,
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
    arith.ShLIOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.TruncIOp,
    arith.IndexCastOp,
)


class Declined(Exception):
    """Why a directive is left to the hardware caches."""


@dataclass
class Symbols:
    """Values as polynomials; whatever is no sum or product is a symbol of its own."""

    construct: Operation

    def symbol(self, value: SSAValue) -> Hashable | None:
        return None if isinstance(value.owner, _ARITHMETIC) else value

    def affine(self, value: SSAValue) -> Affine:
        found = from_value(value, self.symbol)
        return Affine.symbol(value) if found is None else found


@dataclass
class Access:
    """
    A load or store through the directive's view; `element` is None if its subscripts do not follow
    the section's dimensions. `proved[d]`: index d lies in the section.
    """

    op: llvm.LoadOp | llvm.StoreOp
    element: Element | None
    deltas: tuple[Affine, ...] = ()
    proved: tuple[bool, ...] = ()
    outside: bool = False
    """Whether an index provably never lies in the section."""

    @property
    def is_store(self) -> bool:
        return isinstance(self.op, llvm.StoreOp)

    @property
    def certain(self) -> bool:
        return bool(self.proved) and all(self.proved)


@dataclass
class Cached:
    """One section of a directive: the operation, what it names, and the accesses in its scope."""

    op: acc.CacheOp
    section: Section
    accesses: list[Access] = field(default_factory=list["Access"])

    @property
    def element_type(self) -> Attribute:
        """The type all accesses have. Raises `Declined` if they differ."""
        types = {
            a.op.value.type if isinstance(a.op, llvm.StoreOp) else a.op.dereferenced_value.type
            for a in self.accesses
        }
        if len(types) != 1:
            raise Declined(f"the elements of '{self.section.name}' are accessed by several types")
        return types.pop()

    @property
    def word(self) -> IntegerType:
        """
        What one thread copies at a time: as wide as the widest access, to which the array is
        therefore aligned, and at most 8 bytes.
        """
        widest = max(
            size_of(
                a.op.value.type if isinstance(a.op, llvm.StoreOp) else a.op.dereferenced_value.type
            )
            for a in self.accesses
        )
        return IntegerType(8 * gcd(self.section.element_bytes, widest, 8))

    @property
    def base(self) -> SSAValue:
        """The array's own address."""
        base = self.op.var
        while isinstance(base.owner, acc.CacheOp):
            base = base.owner.var
        return base


@dataclass
class Nest:
    """
    Parallel loops around directives, outermost first. `prelude`: the pure operations between the
    loops. `axes[i]` belongs to `variables[i]` and `bounds[i]` (lower, upper, step).
    """

    construct: acc.ParallelOp
    loops: list[acc.LoopOp]
    axes: list[Axis]
    variables: list[BlockArgument]
    bounds: list[tuple[SSAValue, SSAValue, SSAValue]]
    prelude: list[Operation]
    symbols: Symbols
    cached: list[Cached] = field(default_factory=list[Cached])

    @property
    def body(self) -> Block:
        return self.loops[-1].region.block


def is_partitioned(loop: acc.LoopOp) -> bool:
    """Whether gangs, workers or lanes share the loop's iterations."""
    return has_level(loop.gang) or has_level(loop.worker) or has_level(loop.vector)


def innermost_parallel(op: Operation) -> acc.LoopOp | None:
    """The partitioned loop directly around `op`."""
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, acc.LoopOp) and is_partitioned(parent):
            return parent
        parent = parent.parent_op()
    return None


def is_pure(op: Operation) -> bool:
    """Whether `op` only computes."""
    return (
        isinstance(op, llvm.GEPOp | acc.DataBoundsOp | acc.CacheOp)
        or op.name.startswith(("arith.", "math."))
        or is_side_effect_free(op)
    )


def find_nest(inner: acc.LoopOp, construct: acc.ParallelOp) -> Nest:
    """The nest whose innermost loop is `inner`. Raises `Declined`."""
    loops = [inner]
    while (outer := innermost_parallel(loops[0])) is not None:
        loops.insert(0, outer)
    prelude: list[Operation] = []
    for loop in loops:
        _check_loop(loop)
    for outer, below in pairwise(loops):
        prelude += _between(outer, below)
    variables = [arg for loop in loops for arg in loop.region.block.args]
    bounds = [
        triple
        for loop in loops
        for triple in zip(loop.lowerbound, loop.upperbound, loop.step, strict=True)
    ]
    _check_rectangular(loops[0], bounds)
    if len(variables) > 3:
        raise Declined("more than three parallel loops are around it")
    axes: list[Axis] = []
    for loop in loops:
        written = _gang_by_clause(loop)
        for arg, low, high, step in zip(
            loop.region.block.args, loop.lowerbound, loop.upperbound, loop.step, strict=True
        ):
            trips = _constant_trips(low, high, step)
            axes.append(
                Axis(arg, arg.name_hint or "i", constant_value(step), trips, gang_only=written)
            )
    return Nest(construct, loops, axes, variables, bounds, prelude, Symbols(construct))


def _gang_by_clause(loop: acc.LoopOp) -> bool:
    why = loop.attributes.get(WHY)
    return isinstance(why, StringAttr) and why.data == "as written: gang"


def _constant_trips(low: SSAValue, high: SSAValue, step: SSAValue) -> int | None:
    numbers = [constant_value(v) for v in (low, high, step)]
    known = [n for n in numbers if n is not None]
    if len(known) < 3 or known[2] <= 0:
        return None
    return max(0, -(-(known[1] - known[0]) // known[2]))


def _check_loop(loop: acc.LoopOp) -> None:
    if len(loop.region.blocks) != 1:
        raise Declined("the loop around it has unstructured control flow")
    if loop.reduction_operands:
        raise Declined("the loop around it has a reduction")
    if loop.private_operands or loop.firstprivate_operands:
        raise Declined("the loop around it has private variables in memory")
    if loop.tile_operands:
        raise Declined("the loop around it has a tile clause")


def _between(outer: acc.LoopOp, inner: acc.LoopOp) -> list[Operation]:
    """The pure operations in `outer` besides `inner`."""
    found: list[Operation] = []
    if inner.parent_op() is not outer:
        raise Declined("there is control flow between the parallel loops around it")
    for op in outer.region.block.ops:
        if op is inner or isinstance(op, acc.YieldOp):
            continue
        if not is_pure(op):
            raise Declined("there is other code between the parallel loops around it")
        found.append(op)
    return found


def _check_rectangular(
    outermost: acc.LoopOp, bounds: Sequence[tuple[SSAValue, SSAValue, SSAValue]]
) -> None:
    for value in (v for triple in bounds for v in triple):
        owner = value.owner
        inside = owner.parent_op() if isinstance(owner, Block) else owner
        if not isinstance(inside, Operation) or not is_inside(inside, outermost):
            continue
        if inside is not outermost and not isinstance(owner, arith.ConstantOp):
            raise Declined("the bounds of a parallel loop depend on another one")


# Sections and accesses ------------------------------------------------------------------------


def read_section(op: acc.CacheOp, symbols: Symbols) -> Section:
    """The section an `acc.cache` names. Raises `Declined`."""
    name = "it" if op.var_name is None else op.var_name.data
    dims: list[SectionDim] = []
    for value in op.bounds:
        bounds = value.owner
        assert isinstance(bounds, acc.DataBoundsOp)
        assert bounds.lowerbound is not None and bounds.extent is not None
        length = constant_value(bounds.extent)
        if length is None:
            known = symbols.affine(bounds.extent).as_constant
            if known is None:
                raise Declined(f"the length of the section of '{name}' is not a constant")
            length = known
        if length <= 0:
            raise Declined(f"the section of '{name}' is empty")
        assert bounds.stride is not None
        dims.append(
            SectionDim(symbols.affine(bounds.lowerbound), length, symbols.affine(bounds.stride))
        )
    if not dims:
        raise Declined(f"'{name}' is named without a section")
    element = dims[-1].stride.as_constant
    if element is None:
        raise Declined(
            f"the section of '{name}' names whole rows of a length known only at run time"
        )
    readonly = op.data_clause.data is acc.DataClause.ACC_CACHE_READONLY
    return Section(name, tuple(dims), element, readonly)


def _subscripts(gep: llvm.GEPOp, symbols: Symbols) -> list[Subscript]:
    dynamic = iter(gep.ssa_indices)
    type_: Attribute = gep.elem_type
    found: list[Subscript] = []
    for position, raw in enumerate(gep.rawConstantIndices.iter_values()):
        constant = raw != llvm.GEP_USE_SSA_VAL
        index = Affine.constant(raw) if constant else symbols.affine(next(dynamic))
        if position == 0:
            found.append(Subscript(index, size_of(type_)))
        elif isinstance(type_, llvm.LLVMArrayType):
            type_ = type_.type
            found.append(Subscript(index, size_of(type_)))
        else:
            assert isinstance(type_, llvm.LLVMStructType) and constant
            found.append(Subscript(Affine.constant(member_offset(type_, raw)), 1))
            type_ = type_.types.data[raw]
    return found


def read_accesses(cached: Cached, symbols: Symbols) -> None:
    """Finds every access through the view. Raises `Declined` if the address goes elsewhere."""
    work: list[tuple[SSAValue, list[Subscript]]] = [(cached.op.acc_var, [])]
    while work:
        pointer, path = work.pop()
        for use in list(pointer.uses):
            op = use.operation
            match op:
                case llvm.GEPOp() if use.index == 0:
                    work.append((op.result, path + _subscripts(op, symbols)))
                case llvm.LoadOp() if VOLATILE not in op.attributes and not op.ordering.value.data:
                    cached.accesses.append(_access(cached, op, path, symbols))
                case llvm.StoreOp() if use.index == 1 and not isinstance(
                    op.properties.get("volatile_"), UnitAttr
                ):
                    cached.accesses.append(_access(cached, op, path, symbols))
                case acc.CacheOp():
                    raise Declined(
                        f"'{cached.section.name}' is named by several sections of one scope"
                    )
                case acc.LoopOp():
                    pass
                case _:
                    raise Declined(
                        f"the address of '{cached.section.name}' is used by '{op.name}' in its scope"
                    )
    cached.accesses.sort(key=lambda access: _order(access.op))


def _order(op: Operation) -> tuple[int, ...]:
    """Positions from the function down to `op`, which order operations as the source does."""
    path: list[int] = []
    current: Operation | None = op
    while current is not None and (block := current.parent_block()) is not None:
        path.insert(0, block.get_operation_index(current))
        current = block.parent_op()
    return tuple(path)


def _access(
    cached: Cached, op: llvm.LoadOp | llvm.StoreOp, path: list[Subscript], symbols: Symbols
) -> Access:
    element = element_of(cached.section, path)
    if element is None:
        return Access(op, None)
    deltas = offsets(cached.section, element)
    dims = cached.section.dims
    choices = _range_choices(op, symbols)
    proved = tuple(
        any(offset_is_inside(delta, dim.length, ranges) for ranges in choices)
        for delta, dim in zip(deltas, dims, strict=True)
    )
    outside = any(
        all(offset_is_outside(delta, dim.length, ranges) for ranges in choices)
        for delta, dim in zip(deltas, dims, strict=True)
    )
    return Access(op, element, deltas, proved, outside)


_SMALLER = (2, 3)
_GREATER = (4, 5)
"""Signed `arith.cmpi` predicates: slt sle, and sgt sge."""


def _ends(value: SSAValue, symbols: Symbols) -> list[Affine]:
    """What `value` is at most: itself, or both operands of a minimum."""
    owner = value.owner
    if isinstance(owner, arith.MinSIOp):
        return _ends(owner.lhs, symbols) + _ends(owner.rhs, symbols)
    if isinstance(owner, arith.SelectOp) and isinstance(owner.cond.owner, arith.CmpiOp):
        compare = owner.cond.owner
        left, right = symbols.affine(compare.lhs), symbols.affine(compare.rhs)
        chosen = symbols.affine(owner.lhs), symbols.affine(owner.rhs)
        predicate = compare.predicate.value.data
        if (predicate in _SMALLER and chosen == (left, right)) or (
            predicate in _GREATER and chosen == (right, left)
        ):
            return _ends(owner.lhs, symbols) + _ends(owner.rhs, symbols)
    return [symbols.affine(value)]


def usual_turns(loop: scf.ForOp, symbols: Symbols) -> int | None:
    """How often a loop turns if that is constant, or would be but for an end that is a minimum."""
    step = constant_value(loop.step)
    if step is None or step <= 0:
        return None
    first = symbols.affine(loop.lb)
    for end in _ends(loop.ub, symbols):
        span = (end - first).as_constant
        if span is not None and (span % step == 0 or end == symbols.affine(loop.ub)):
            return max(0, -(-span // step))
    return None


def _range_choices(op: Operation, symbols: Symbols) -> list[list[LoopRange]]:
    """Ranges of the loops around `op`, innermost first; several where an end is a minimum."""
    levels: list[list[LoopRange]] = []
    parent = op.parent_op()
    while parent is not None and parent is not symbols.construct:
        if isinstance(parent, scf.ForOp):
            variable = parent.body.block.args[0]
            levels.append(_ranges(variable, parent.lb, parent.ub, symbols))
        elif isinstance(parent, acc.LoopOp):
            triples = zip(
                parent.region.block.args, parent.lowerbound, parent.upperbound, strict=True
            )
            for variable, low, high in reversed(list(triples)):
                levels.append(_ranges(variable, low, high, symbols))
        parent = parent.parent_op()
    choices = [list(choice) for choice in product(*levels)][:8]
    return [refine_by_conditions(choice, op, symbols) for choice in choices]  # type: ignore[arg-type]


def _ranges(variable: SSAValue, low: SSAValue, high: SSAValue, symbols: Symbols) -> list[LoopRange]:
    first = symbols.affine(low)
    return [LoopRange(variable, first, end - 1) for end in _ends(high, symbols)][:4]


# Which values differ between the threads of a block ----------------------------------------------


def overlapping_store(cached: Cached) -> llvm.StoreOp | None:
    """
    A write in the directive's scope through another pointer, in front of a read of the section (or in
    one loop with it), that may change what the tile holds. `readonly:` promises there is none.
    """
    block = cached.op.parent_block()
    assert block is not None
    if cached.section.readonly:
        return None
    ops = list(block.ops)
    place = {inner: position for position, op in enumerate(ops) for inner in op.walk()}
    last_read = max(
        (place[access.op] for access in cached.accesses if not access.is_store), default=-1
    )
    views = {access.op for access in cached.accesses}
    for op in ops[place[cached.op] : last_read + 1]:
        for inner in op.walk():
            if not isinstance(inner, llvm.StoreOp) or inner in views:
                continue
            root = _root(inner.ptr)
            if isinstance(root.owner, llvm.AllocaOp | acc.PrivateOp) or root is cached.base:
                continue
            if not any(distinct_arguments([cached.base, root], loads_pointers=False)):
                return inner
    return None


def varying_values(nest: Nest, mapped: Sequence[int]) -> set[SSAValue]:
    """
    Values of the nest that may differ between threads: what depends on the mapped loops, on memory
    the construct writes, or on a thread's own variables.
    """
    varying: set[SSAValue] = {nest.variables[position] for position in mapped}
    written = written_variables(nest)
    ops = [inner for op in (*nest.prelude, *nest.body.ops) for inner in op.walk()]
    before = -1
    while before != len(varying):
        before = len(varying)
        for op in ops:
            _propagate(op, varying, written)
    return varying


def _propagate(op: Operation, varying: set[SSAValue], written: Sequence[SSAValue]) -> None:
    ends = [block.last_op for region in op.regions for block in region.blocks]
    used = (*op.operands, *(v for end in ends if end is not None for v in end.operands))
    mine = any(value in varying for value in used)
    if isinstance(op, llvm.LoadOp):
        mine = mine or not _is_constant_memory(op.ptr, written)
    elif isinstance(op, llvm.AllocaOp | llvm.CallOp):
        mine = mine or not _is_pure_call(op)
    if not mine:
        return
    varying.update(op.results)
    if isinstance(op, scf.ForOp):
        varying.update(op.body.block.args[1:])
        if any(value in varying for value in (op.lb, op.ub, op.step)):
            varying.add(op.body.block.args[0])
    elif op.regions:
        varying.update(arg for region in op.regions for b in region.blocks for arg in b.args)


def written_variables(nest: Nest) -> list[SSAValue]:
    """Variables of the construct that are stored to or whose address goes anywhere but a load."""
    return [
        variable_of(_root(operand))
        for region in nest.construct.regions
        for op in region.walk()
        if not isinstance(op, llvm.LoadOp | llvm.GEPOp | acc.CacheOp | acc.DataBoundsOp)
        for operand in op.operands
        if isinstance(operand.type, llvm.LLVMPointerType)
    ]


def _root(pointer: SSAValue) -> SSAValue:
    while isinstance(pointer.owner, llvm.GEPOp | acc.CacheOp):
        owner = pointer.owner
        pointer = owner.ptr if isinstance(owner, llvm.GEPOp) else owner.var
    return pointer


def _is_constant_memory(pointer: SSAValue, written: Sequence[SSAValue]) -> bool:
    root = _root(pointer)
    if not isinstance(root.owner, MAPPING_OPS):
        return False
    return not any(same_variable(variable_of(root), other) for other in written)


def may_be_written(pointer: SSAValue, written: Sequence[SSAValue]) -> bool:
    """Whether another thread may write what `pointer` points to while the construct runs."""
    return not isinstance(_root(pointer).owner, llvm.AllocaOp) and not _is_constant_memory(
        pointer, written
    )


def _is_pure_call(op: Operation) -> bool:
    return (
        isinstance(op, llvm.CallOp)
        and op.callee is not None
        and op.callee.string_value() in PURE_FUNCTIONS
    )


def is_pure_call(op: llvm.CallOp) -> bool:
    """Whether a call depends on its arguments alone and does nothing else."""
    return _is_pure_call(op)
