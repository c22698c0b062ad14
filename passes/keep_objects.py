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

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Set
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
from .decisions.polynomials import Monomial, Polynomial, product
from .decisions.unrolling import OWN_OPERATIONS
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


def _places(
    around: list[scf.ForOp], known: dict[SSAValue, int], wanted: Set[Hashable]
) -> Iterator[dict[SSAValue, int]]:
    """
    The values of the variables of loops, outermost first, in all their iterations; of those that are not
    `wanted`, and on which no bounds depend, in the first.
    """
    if not around:
        yield known
        return
    (variable, *bounds), *_ = bounds_of(around[0])
    ends = [_value(bound, known) for bound in bounds]
    lower, upper, step = ends
    if lower is None or upper is None or step is None or step <= 0:
        raise ValueError("bounds that are not known")
    values = range(lower, upper, step)
    inner = {
        v for loop in around[1:] for bound in bounds_of(loop)[0][1:] for v in _variables(bound)
    }
    for value in values if variable in wanted or variable in inner else values[:1]:
        yield from _places(around[1:], {**known, variable: value}, wanted)


def _variables(value: SSAValue) -> Set[Hashable]:
    """The values that a loop's bound is computed from."""
    poly = from_value(value, lambda at: at if isinstance(at, BlockArgument) else None)
    return Polynomial({}).symbols if poly is None else poly.symbols


@dataclass(frozen=True)
class _Rows:
    """
    The rows of an object that is a block of a larger matrix: the bytes from one to the next, and those that
    each has in the object, from `first` on.
    """

    distance: Polynomial
    bytes: int
    first: int


@dataclass
class _Object:
    """
    The accesses of an iteration of `loop` to an object of the array `base`, at `place` bytes from it, and
    the bytes from there to each (as if `rows`, if the object has such, followed one another immediately).
    """

    loop: acc.LoopOp
    base: SSAValue
    place: Polynomial
    type: Attribute
    rests: dict[Access, Polynomial] = field(default_factory=dict[Access, Polynomial])
    rows: _Rows | None = None

    def apart(self, construct: acc.ParallelOp) -> int:
        """The bytes by which the objects of two iterations are apart, at least; 0 if they may overlap."""
        steps: list[int] = []
        across: list[int] = []
        for monomial, factor in self.place.terms.items():
            moving = [s for s in monomial if isinstance(s, SSAValue) and _varies(s, construct)]
            if not moving:
                continue
            whole = factor * prod(map(_step_of, moving))
            if self.rows is not None and set(self.rows.distance.symbols) <= set(monomial):
                across.append(whole // gcd(*self.rows.distance.terms.values()))
            else:
                steps.append(whole)
        if self.rows is None:
            return gcd(*steps) if steps else 0
        reaches = [reach for rest in self.rests.values() if (reach := _reach(rest)) is not None]
        low, high = min(low for low, _ in reaches), max(high for _, high in reaches)
        count = (
            (high - self.rows.first) // self.rows.bytes
            - (low - self.rows.first) // self.rows.bytes
            + 1
        )
        beside = gcd(*steps) >= self.rows.bytes if steps else True
        below = gcd(*across) >= count if across else True
        return count * self.rows.bytes if beside and below else 0

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

    def unrolled(self) -> int:
        """The operations after the loops whose variables are in the subscripts of an access are unrolled."""
        most = 0
        for op, rest in self.rests.items():
            around = [
                each for each in operations_around(op, self.loop) if isinstance(each, scf.ForOp)
            ]
            wanted = [loop for loop in around if loop.body.block.args[0] in rest.symbols]
            if wanted:
                inside = around[: around.index(wanted[-1]) + 1]
                trips = [most_trips(bounds_of(each)[0]) or UNKNOWN_TRIPS for each in inside]
                most = max(most, prod(trips) * sum(1 for _ in inside[0].body.block.ops))
        return most

    def _certain(self, rest: Polynomial, around: list[Operation]) -> frozenset[int]:
        loops = [each for each in reversed(around) if isinstance(each, scf.ForOp)]
        if len(loops) < len(around):
            return frozenset()
        found: set[int] = set()
        try:
            for number, known in enumerate(_places(loops, {}, rest.symbols)):
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


def _varies(symbol: SSAValue, construct: acc.ParallelOp) -> bool:
    """Whether iterations may have different values of a symbol."""
    return is_defined_inside(symbol, construct)


def _step_of(symbol: SSAValue) -> int:
    """The difference of the values that iterations have of a symbol: a multiple of this."""
    owner = symbol.owner
    loop = owner.parent_op() if isinstance(symbol, BlockArgument) else None
    if not isinstance(loop, acc.LoopOp):
        return 1
    bounds = next((each for each in bounds_of(loop) if each[0] is symbol), None)
    known = None if bounds is None else constant_value(bounds[3])
    return known if known is not None and known > 0 else 1


def _objects(loop: acc.LoopOp, construct: acc.ParallelOp) -> dict[SSAValue, _Object | None]:
    """
    The objects by array; None for an array with accesses that are not known to be in the same object, or
    that are not loads and stores of one type.
    """
    places: dict[SSAValue, dict[Access, Polynomial] | None] = {}
    exact = ExactReader()
    mapped = set(construct.data_clause_operands)
    for op in loop.walk():
        if isinstance(op, ADDRESS_OPS):
            continue
        for operand in op.operands:
            base = base_of(operand)
            if base not in mapped:
                continue
            known = places.setdefault(base, {})
            if known is None:
                continue
            plain = isinstance(op, Access) and operand is op.ptr and not is_ordered(op)
            place = distance_from_base(operand, exact) if plain and not is_punned(operand) else None
            if place is None or not isinstance(op, Access):
                places[base] = None
                continue
            known[op] = place
    if exact.wraps:
        return dict.fromkeys(places)
    return {
        base: None if known is None else _object(loop, base, known)
        for base, known in places.items()
    }


def _object(loop: acc.LoopOp, base: SSAValue, places: dict[Access, Polynomial]) -> _Object | None:
    """The object that all accesses to an array are in; None if there is no such."""
    distance = _row_distance(loop, places.values())
    ((row, bytes_below),) = [((), 1)] if distance is None else distance.terms.items()
    found: _Object | None = None
    columns: list[Polynomial] = []
    numbers: list[Polynomial] = []
    for op, place in places.items():
        moving: dict[Monomial, int] = {}
        below: dict[Monomial, int] = {}
        for monomial, factor in place.terms.items():
            inside = [symbol for symbol in monomial if _moves_within(symbol, loop)]
            if distance is not None and (inside or monomial == row) and len(monomial) > len(inside):
                below[product(inside)] = factor // bytes_below
            elif inside:
                moving[monomial] = factor
        columns.append(Polynomial({**moving, **_constant_of(place)}))
        numbers.append(Polynomial(below))
        rest = columns[-1] if distance is None else columns[-1] + numbers[-1] * distance
        fixed = place - rest
        found = found or _Object(loop, base, fixed, _type(op))
        if found.place != fixed or found.type != _type(op):
            return None
        found.rests[op] = rest
    if found is None or distance is None:
        return found
    reaches = [_reach(column) for column in columns]
    known = [reach for reach in reaches if reach is not None]
    if len(known) < len(reaches):
        return None
    first = min(low for low, _ in known)
    bytes = max(high for _, high in known) - first + size_of(found.type)
    found.rows = _Rows(distance, bytes, first)
    for op, column, number in zip(places, columns, numbers, strict=True):
        found.rests[op] = column + number * bytes
    return found


def _constant_of(poly: Polynomial) -> dict[Monomial, int]:
    return {(): poly.terms[()]} if () in poly.terms else {}


def _row_distance(loop: acc.LoopOp, places: Iterable[Polynomial]) -> Polynomial | None:
    """
    The bytes from one row of an object to the next, if its accesses are in rows of a length that is known at
    run time only: what variables of the iteration are multiplied with, or accesses differ by, always the
    same. None for others.
    """
    lengths: dict[Monomial, set[int]] = {}
    differs: set[Monomial] = set()
    places = list(places)
    times = Counter(term for place in places for term in place.terms.items())
    for place in places:
        for monomial, factor in place.terms.items():
            inside = [symbol for symbol in monomial if _moves_within(symbol, loop)]
            if len(inside) < len(monomial):
                rest = product(s for s in monomial if s not in inside)
                lengths.setdefault(rest, set()).add(factor)
                if inside or times[monomial, factor] < len(places):
                    differs.add(rest)
    if len(differs) != 1:
        return None
    (length,) = differs
    return Polynomial({length: gcd(*lengths[length])})


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
    rows = found.rows
    below = before.i64(0) if rows is None else _sum(rows.distance, before)

    def address(number: int, at: Cursor) -> SSAValue:
        """The address of an element in memory."""
        if rows is None:
            return at.field(start, number * bytes)
        row, column = divmod(kept.low + number * bytes - rows.first, rows.bytes)
        down = at.offset(found.base, at.add(place, at.mul(below, at.i64(row))))
        return at.field(down, rows.first + column)

    flags = None
    if kept.unsure:
        flags = start_of_block.alloca(llvm.LLVMArrayType(kept.count, i8), f"{name}_written")
        for number in kept.unsure:
            before.store(before.constant(0, i8), _element(flags, number, i8, before))
    for number in kept.loaded:
        load = before.insert(llvm.LoadOp(address(number, before), found.type), name)
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
    rows = () if found.rows is None else found.rows.distance.symbols
    for symbol in (*found.place.symbols, *rows):
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
        if works and found.rows is not None:
            continue  # rows that are shorter than the object's would overlap
        if works:
            kept = kept_object(known, bytes)
        else:
            once = any(isinstance(op, llvm.CallOp) for op in ops)
            long = found.unrolled() > OWN_OPERATIONS
            kept = read_object(known, bytes, found.apart(construct), once=once, long=long)
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
