"""
Keep small objects that iterations work on in arrays of the iterations.

An iteration that factors a matrix of its own in place, or advances numbers of its own in a loop, loads and
stores the same few elements again and again. Between its first and last access no other iteration and no
other array can touch them.

Takes:  transformed IR for a GPU; arrays that do not overlap are known (`tell-arrays-apart`).
Leaves: at the beginning of an iteration its object is copied to an array of the iteration, and at the end
        back to memory, as far as the iteration has written it; accesses between are to that array. An
        object has at most `OWN_WORDS` words, at places that are the same in the whole iteration except for
        variables of sequential loops and values chosen among them; each of its elements is one that every
        iteration accesses. (An element that two iterations access, and one writes, would be a race.)
        An object that is only read is copied whole before it is used.
        `decisions/kept_objects.py` decides whether it pays. Elements that an iteration writes under a
        condition have a flag each, so that no others are written. Versions that are rarely needed
        (`accx.fallback`) stay as they are.
        Constructs of more than `LONGEST` operations stay as they are.
Fails:  never.

Before:
  acc.loop gang vector control(%i) = ... {
    scf.for %k = %c0 to %c8 step %c1 {
      scf.for %j = %k to %c8 step %c1 { llvm.store (llvm.load %a[%i, %j] + llvm.load %a[%i, %k]), %a[%i, %j] }
  } }
After:
  acc.loop gang vector control(%i) = ... {
    %own = llvm.alloca !llvm.array<8 x f64>
    loads of %a[%i, 0] to %a[%i, 7], stores to %own[0] to %own[7]
    the loops, with %own[%j] for %a[%i, %j]
    loads of %own[0] to %own[7], stores to %a[%i, 0] to %a[%i, 7]
  }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import gcd, prod

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, i8, i32, i64
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ..dialects.accx import APART, FALLBACK, RESIDENT, SPECULATIVE
from ..dialects.accx_compress import DECODES, PACKED
from ..dialects.accx_element import ElementOp, Index
from ..dialects.volatility import is_ordered
from .decisions.dense_objects import LONGEST
from .decisions.kept_objects import (
    MOST_OPERATIONS,
    UNKNOWN_TRIPS,
    KeptAccess,
    KeptObject,
    kept_object,
    read_object,
    resident_blocks,
)
from .decisions.polynomials import Polynomial
from .ir.ops.acc_ops import (
    MAPPING_OPS,
    has_more_operations,
    is_defined_inside,
    operations_around,
    parallel_constructs,
    variable_name,
)
from .ir.ops.building import Cursor, constant_value
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.layout import size_of
from .ir.ops.loop_bounds import bounds_of
from .ir.ops.notes import note
from .ir.ops.purity import is_pure_call
from .ir.values.accesses import aliased_type, is_punned, may_alias, root_of
from .ir.values.addresses import ADDRESS_OPS, base_of
from .ir.values.constant_ranges import interval_of, most_trips, reach_of
from .ir.values.exact_reader import ExactReader
from .ir.values.stable_loads import distance_from_base
from .ir.values.value_polynomials import from_value

MOST_PLACES = 512
"""The iterations of short loops around an access that are looked at."""
Access = llvm.LoadOp | llvm.StoreOp


def _type(op: Access) -> Attribute:
    return op.value.type if isinstance(op, llvm.StoreOp) else op.dereferenced_value.type


def _moves_within(symbol: object, loop: acc.LoopOp) -> bool:
    """Whether a value in a subscript changes within an iteration of `loop`, or is chosen in it."""
    if not isinstance(symbol, SSAValue) or not is_defined_inside(symbol, loop):
        return False
    if isinstance(symbol, BlockArgument):
        return symbol.block is not loop.region.block
    owner = symbol.owner
    return isinstance(owner, Operation) and (
        owner.parent_block() is not loop.region.block or reach_of(symbol) is not None
    )


def _reach(poly: Polynomial) -> tuple[int, int] | None:
    """The range of a sum of loop variables, and of values chosen among them."""
    low = high = poly.terms.get((), 0)
    for monomial, factor in poly.terms.items():
        if not monomial:
            continue
        symbol = monomial[0]
        if len(monomial) > 1 or not isinstance(symbol, SSAValue):
            return None
        reach = interval_of(Polynomial.symbol(symbol)) or reach_of(symbol)
        if reach is None:
            return None
        ends = factor * reach[0], factor * reach[1]
        low, high = low + min(ends), high + max(ends)
    return low, high


def _value(value: SSAValue, known: Mapping[SSAValue, int]) -> int | None:
    poly = from_value(value, lambda at: at if at in known else None)
    if poly is None:
        return None
    return poly.mapped(lambda s: Polynomial.constant(known[s])).as_constant  # type: ignore[index]


def _places(around: list[scf.ForOp], known: dict[SSAValue, int]) -> Iterator[dict[SSAValue, int]]:
    """The values of the variables of loops, outermost first, in all their iterations."""
    if not around:
        yield known
        return
    (variable, *bounds), *_ = bounds_of(around[0])
    ends = [_value(bound, known) for bound in bounds]
    lower, upper, step = ends
    if lower is None or upper is None or step is None or step <= 0:
        raise ValueError("bounds that are not known")
    for value in range(lower, upper, step):
        yield from _places(around[1:], {**known, variable: value})


@dataclass
class _Object:
    """The accesses of an iteration of `loop` to an object of the array `base`, at `place` bytes from it."""

    loop: acc.LoopOp
    base: SSAValue
    place: Polynomial
    type: Attribute
    rests: dict[Access, Polynomial] = field(default_factory=dict[Access, Polynomial])

    def read(self, op: Access) -> KeptAccess | None:
        """An access for the decision; None if its elements are not known."""
        rest = self.rests[op]
        reach = _reach(rest)
        if reach is None:
            return None
        around = list(operations_around(op, self.loop))
        loops = [each for each in around if isinstance(each, scf.ForOp | scf.WhileOp)]
        times = 1
        for each in around:
            if isinstance(each, scf.WhileOp):
                times *= UNKNOWN_TRIPS
            elif isinstance(each, scf.ForOp):
                trips = most_trips(bounds_of(each)[0])
                times *= UNKNOWN_TRIPS if trips is None else trips
        certain = self._certain(rest, around)
        times = max(times, len(certain))
        writes = isinstance(op, llvm.StoreOp)
        return KeptAccess(certain, reach[0], reach[1], times, writes, bool(loops))

    def _certain(self, rest: Polynomial, around: list[Operation]) -> frozenset[int]:
        loops = [each for each in reversed(around) if isinstance(each, scf.ForOp)]
        if len(loops) < len(around):
            return frozenset()
        found: set[int] = set()
        try:
            for number, known in enumerate(_places(loops, {})):
                if number == MOST_PLACES or not all(s in known for s in rest.symbols):
                    return frozenset()
                at = rest.mapped(lambda s, k=known: Polynomial.constant(k[s]))  # type: ignore[index]
                assert at.as_constant is not None
                found.add(at.as_constant)
        except ValueError:
            return frozenset()
        return frozenset(found)

    def first(self) -> Operation:
        """The operation of the iteration's own block that makes, or contains, the first access."""
        block = self.loop.region.block
        inside = {op for access in self.rests for op in (access, *operations_around(access))}
        return next(op for op in block.ops if op in inside)


def _objects(loop: acc.LoopOp, construct: acc.ParallelOp) -> dict[SSAValue, _Object | None]:
    """
    The objects by array; None for an array with accesses that are not known to be in the same object, or
    that are not loads and stores of one type.
    """
    found: dict[SSAValue, _Object | None] = {}
    exact = ExactReader()
    for op in loop.walk():
        for operand in op.operands:
            base = base_of(operand)
            if base not in construct.data_clause_operands or isinstance(op, ADDRESS_OPS):
                continue
            if base in found and found[base] is None:
                continue
            plain = isinstance(op, Access) and operand is op.ptr and not is_ordered(op)
            place = distance_from_base(operand, exact) if plain and not is_punned(operand) else None
            if place is None or not isinstance(op, Access):
                found[base] = None
                continue
            moving = {
                monomial: factor
                for monomial, factor in place.terms.items()
                if monomial and any(_moves_within(symbol, loop) for symbol in monomial)
            }
            fixed = Polynomial({m: f for m, f in place.terms.items() if m and m not in moving})
            known = found.setdefault(base, _Object(loop, base, fixed, _type(op)))
            assert known is not None
            if known.place != fixed or known.type != _type(op):
                found[base] = None
                continue
            known.rests[op] = place - fixed
    return dict.fromkeys(found) if exact.wraps else found


def _is_apart(base: SSAValue, construct: acc.ParallelOp) -> bool:
    """Whether no access through another array may be to `base`."""
    if APART in construct.attributes:
        return True
    types: defaultdict[SSAValue, set[Attribute]] = defaultdict(set)
    for op in construct.walk():
        if isinstance(op, Access):
            types[base_of(op.ptr)].add(aliased_type(op.ptr, _type(op)))
    return not any(
        root_of(base) is root_of(other) or may_alias(root_of(base), root_of(other), (mine, one))
        for other, its in types.items()
        if other is not base
        for one in its
        for mine in types[base]
    )


def _keep(found: _Object, kept: KeptObject) -> None:
    """Rewrites the accesses of an iteration to its object."""
    first = found.first()
    before = Cursor.before(first)
    name, bytes = variable_name(found.base), kept.bytes
    start_of_block = Cursor.at_start(found.loop.region.block, found.loop.location)
    own = start_of_block.alloca(llvm.LLVMArrayType(kept.count, found.type), f"{name}_own")
    place = _sum(found.place, before)
    start = before.offset(found.base, before.add(place, before.i64(kept.low)))
    flags = None
    if kept.unsure:
        flags = start_of_block.alloca(llvm.LLVMArrayType(kept.count, i8), f"{name}_written")
        for number in kept.unsure:
            before.store(before.constant(0, i8), _element(flags, number, i8, before))
    for number in kept.loaded:
        load = before.insert(llvm.LoadOp(before.field(start, number * bytes), found.type), name)
        load.attributes[SPECULATIVE] = UnitAttr()  # the iteration may write it first
        value = load.dereferenced_value
        before.store(value, _element(own, number, found.type, before))
    unsure = set(kept.unsure)
    for op, rest in found.rests.items():
        at = Cursor.before(op)
        index = Polynomial({m: f // bytes for m, f in (rest - kept.low).terms.items()})
        number = index.as_constant
        if number is None:
            number = _sum(index, at)
        op.operands[1 if isinstance(op, llvm.StoreOp) else 0] = _element(
            own, number, found.type, at
        )
        if isinstance(op, llvm.StoreOp) and flags is not None and _may_meet(rest, kept, unsure):
            at.store(at.constant(1, i8), _element(flags, number, i8, at))
    end = found.loop.region.block.last_op
    assert end is not None
    after = Cursor.before(end, found.loop.location)
    for number in kept.stored:
        value = after.load(_element(own, number, found.type, after), found.type, name)
        after.store(value, after.field(start, number * bytes))
    for number in kept.unsure:
        assert flags is not None
        flag = after.load(_element(flags, number, i8, after), i8, "written")
        is_set = arith.CmpiOp(flag, after.constant(0, i8), "ne")
        inner = after.if_then(after.value(is_set, "written"))
        value = inner.load(_element(own, number, found.type, inner), found.type, name)
        inner.store(value, inner.field(start, number * bytes))


def _may_meet(rest: Polynomial, kept: KeptObject, unsure: set[int]) -> bool:
    reach = _reach(rest)
    if reach is None:
        return True
    low, high = ((end - kept.low) // kept.bytes for end in reach)
    return any(low <= number <= high for number in unsure)


def _element(array: SSAValue, number: int | SSAValue, type: Attribute, at: Cursor) -> SSAValue:
    step = number if isinstance(number, int) else Index(number)
    return at.value(ElementOp(array, [step], type), array.name_hint)


def _sum(poly: Polynomial, at: Cursor) -> SSAValue:
    """An i64 with the value of a polynomial."""
    total = at.i64(poly.terms.get((), 0))
    for monomial, factor in poly.terms.items():
        if not monomial:
            continue
        term = at.constant(factor, i64)
        for symbol in monomial:
            assert isinstance(symbol, SSAValue)
            term = at.mul(term, at.to_i64(symbol))
        total = at.add(total, term)
    return total


def _is_known_before(found: _Object) -> bool:
    """Whether the place of the object is known where the first access is made."""
    first = found.first()
    for symbol in found.place.symbols:
        owner = symbol.owner if isinstance(symbol, SSAValue) else None
        inside = isinstance(owner, Operation) and found.loop.is_ancestor(owner)
        if inside and not (isinstance(owner, Operation) and owner.is_before_in_block(first)):
            return False
    return True


def _give_registers(loop: acc.LoopOp, construct: acc.ParallelOp, bytes: int) -> None:
    """
    Lets a thread have the registers to read an object whole, where the size of a block is known and nothing
    else in the iteration may need more.
    """
    ops = list(loop.walk())
    if len(ops) > MOST_OPERATIONS + 4 * bytes or any(
        isinstance(op, llvm.CallOp | scf.WhileOp | scf.IfOp) for op in ops
    ):
        return
    sizes = [constant_value(v) for v in (*construct.num_workers, *construct.vector_length)]
    known = [size for size in sizes if size is not None]
    if len(known) == len(sizes) > 0 and RESIDENT not in construct.attributes:
        blocks = resident_blocks(bytes, prod(known))
        construct.attributes[RESIDENT] = IntegerAttr(blocks, i32)


def _keep_objects(loop: acc.LoopOp, construct: acc.ParallelOp) -> None:
    """Keeps the objects of an iteration of an innermost parallel loop."""
    if len(loop.region.blocks) != 1:
        return
    ops = [op for op in loop.walk() if op is not loop]
    if any(
        isinstance(op, acc.LoopOp | scf.ExecuteRegionOp)
        or op.name.startswith("acc.atomic")
        or (isinstance(op, llvm.CallOp) and not is_pure_call(op))
        for op in ops
    ):
        return
    for base, found in _objects(loop, construct).items():
        entry = base.owner
        if found is None or not isinstance(entry, MAPPING_OPS):
            continue
        if PACKED in entry.attributes or DECODES in entry.attributes:
            continue
        accesses = [found.read(op) for op in found.rests]
        known = [access for access in accesses if access is not None]
        if len(known) < len(accesses):
            continue
        bytes = size_of(found.type)
        if any(f % bytes for rest in found.rests.values() for f in rest.terms.values()):
            continue
        works = any(access.writes for access in known)
        stride = gcd(*found.place.terms.values()) if found.place.terms else 0
        kept = kept_object(known, bytes) if works else read_object(known, bytes, stride)
        if kept is None or not _is_known_before(found) or not _is_apart(base, construct):
            continue
        _keep(found, kept)
        if not works:
            _give_registers(loop, construct, bytes * len(kept.loaded))
        what = "kept by each iteration" if works else "read by each iteration at once"
        text = f"{len(kept.loaded)} elements of '{variable_name(base)}' are {what}"
        note(construct, [(loop, text)])


@dataclass(frozen=True)
class KeepObjectsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "keep-objects"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            if FALLBACK in construct.attributes or has_more_operations(construct, LONGEST):
                continue
            for loop in [op for op in construct.walk() if isinstance(op, acc.LoopOp)]:
                _keep_objects(loop, construct)
