"""
Whether an `auto` loop is independent: its memory accesses, scalars and calls (OpenACC 3.4, 2.9.6).

`judge_loop` returns a `Verdict`: independent or not, one sentence why, the scalars that must become private
or reductions, and, where a test at run time can decide, what the host must test before the construct: which
arrays do not overlap (`Overlap`), and inequalities between sizes (`Requirement`).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.ir import Operation, SSAValue

from ...decisions.dependence import LoopContext, Requirement, requirement, stays_within
from ...decisions.guarded_dependence import guarded_requirement
from ...decisions.polynomials import Polynomial
from ...decisions.ranges import LoopRange
from ..ops.acc_ops import PRIVATIZING_OPS, bit_width, is_defined_inside, own_copies, variable_name
from ..ops.building import constant_value
from ..ops.loop_bounds import LoopLike, body_of, step_of
from ..values.accesses import (
    LoopAccess,
    comparable,
    is_scalar_variable,
    may_alias,
    root_of,
)
from ..values.loop_symbols import Limit, LoopSymbols
from ..values.region_values import HostExpression, variable_key
from ..variables.loop_scalars import is_live_after
from ..variables.scalar_classes import ScalarClass
from ..variables.scalar_clauses import scalar_type
from ..variables.scalar_uses import Decision
from .access_text import pair_text, spelled_root
from .guarded_accesses import GuardedAccesses
from .loop_accesses import loop_accesses
from .loop_verdicts import Overlap, Verdict
from .pointer_rows import ApartArray, changes_pointers, is_pointed_at, row_access
from .private_arrays import Coverage, first_use_of_array, is_small_array


class _Dependent(Exception):
    """The loop is not independent, for the reason given."""


def root_key(root: SSAValue, loop: LoopLike, symbols: LoopSymbols) -> Hashable | None:
    """A key for a root during the loop; None if the root may change from iteration to iteration."""
    owner = root.owner
    if not is_defined_inside(root, loop):
        if isinstance(owner, llvm.LoadOp):
            key = symbols.pointer_key(owner)
            return variable_key(root) if key is None else key
        return variable_key(root)
    if isinstance(owner, llvm.AddressOfOp):
        return variable_key(root)
    if isinstance(owner, llvm.LoadOp):
        return symbols.pointer_key(owner)
    return None


# The verdict.


@dataclass(frozen=True)
class _AccessPlace:
    """All accesses with the same root, subscripts and ranges, compared as one."""

    access: LoopAccess
    key: Hashable
    writes: bool
    plain: bool
    """At least one of them is not atomic."""
    all: tuple[LoopAccess, ...] = ()


def _places(
    accesses: Sequence[LoopAccess], loop: LoopLike, symbols: LoopSymbols
) -> list[_AccessPlace]:
    """The accesses to arrays, grouped by place."""
    found: dict[Hashable, _AccessPlace] = {}
    for access in accesses:
        key = root_key(access.root, loop, symbols)
        place = (
            access.root if key is None else key,
            access.subscripts,
            access.units,
            access.type,
            access.ranges,
        )
        other = found.get(place)
        found[place] = _AccessPlace(
            access if other is None else other.access,
            key,
            access.writes or (other is not None and other.writes),
            not access.atomic or (other is not None and other.plain),
            (*(() if other is None else other.all), access),
        )
    return list(found.values())


MOST_GUARDED_PAIRS = 64
"""The most pairs of accesses that are compared with their conditions: each costs a few dozen proofs."""


def _divisible(symbol: Hashable, modulus: int) -> tuple[Polynomial, ...]:
    """Polynomials that are at least 0 if a value that the host knows is divisible by a number."""
    remainder = Polynomial.symbol(
        HostExpression(arith.RemSIOp, (Polynomial.symbol(symbol), Polynomial.constant(modulus)))
    )
    return remainder, -remainder


@dataclass(frozen=True)
class _RowPlace:
    """An access that must not overlap rows: to the rows of an array of pointers, or to an array."""

    array: ApartArray
    key: Hashable
    access: LoopAccess


class _Judge:
    """The findings about one loop. `host`, if any, is the construct before which tests may run."""

    def __init__(self, loop: LoopLike, host: Operation | None, part: LoopRange | None = None):
        self.loop = loop
        self.host = host
        self.part = part
        self.symbols = LoopSymbols(loop, host)
        self.requirement: dict[tuple[tuple[Polynomial, ...], ...], None] = {}
        self.overlaps: dict[tuple[Hashable, Hashable], Overlap] = {}
        self.private_arrays: list[SSAValue] = []
        self.known_pairs: dict[Hashable, Requirement | None] = {}
        self.rows: dict[Hashable, ApartArray] = {}
        self.row_accesses: dict[LoopAccess, tuple[LoopAccess, int] | None] = {}

    def known(self, symbol: Hashable) -> bool:
        return self.host is not None and self.symbols.is_known_before(symbol)

    def early(self, symbol: Hashable) -> Hashable | None:
        """
        A symbol for the value that `symbol` has before the construct; None if the host does not know it.
        """
        if self.known(symbol):
            return symbol
        if not isinstance(symbol, SSAValue) or not isinstance(symbol.owner, arith.ExtUIOp):
            return None
        narrow = symbol.owner.input
        value, width = self.symbols.polynomial(narrow), bit_width(narrow.type)
        if value is None or width is None:
            return None
        mask = Polynomial.constant((1 << width) - 1)
        unsigned = HostExpression(arith.AndIOp, (value, mask))
        return unsigned if self.known(unsigned) else None

    def context(self, variable: SSAValue, left: LoopAccess, right: LoopAccess) -> LoopContext:
        """The loops around two accesses, for one variable of the loop."""
        own, later, earlier = self.symbols.own_ranges(variable)
        if self.part is not None and self.part.variable == variable:
            own = self.part
        inner = (*left.ranges, *later)
        others = (*right.ranges, *later)
        step = constant_value(self.symbols.step_of(variable))
        if step is not None and step <= 0:
            step = None
        distance = None if step is not None else self.fixed_step(variable)
        return LoopContext(
            variable,
            step,
            None,
            inner,
            (*earlier, *self.symbols.outer_ranges),
            own,
            None if inner == others else others,
            distance,
        )

    def fixed_step(self, variable: SSAValue) -> Polynomial | None:
        """The step of one of the loop's variables, if it is a polynomial of values from before the loop."""
        step = self.symbols.polynomial(self.symbols.step_of(variable))
        if step is None or not all(map(self.symbols.is_invariant, step.symbols)):
            return None
        return step

    def pairs(self, variable: SSAValue, places: Sequence[_AccessPlace]) -> None:
        """Records the conditions under which all pairs of places are independent, or raises `_Dependent`."""
        for index, left in enumerate(places):
            for right in places[index:]:
                roots = left.access.root, right.access.root
                if any(root in self.private_arrays for root in roots):
                    continue
                if not (left.writes or right.writes) or not (left.plain or right.plain):
                    continue
                try:
                    self.pair(variable, left, right)
                except _Dependent:
                    if roots[0] is not roots[1] or not self.can_be_private(roots[0]):
                        raise
                    self.private_arrays.append(roots[0])

    def can_be_private(self, root: SSAValue) -> bool:
        """Whether every iteration may have its own copy of an array."""
        if not is_small_array(root) or is_defined_inside(root, self.loop):
            return False
        if Coverage(root, self.symbols).reads_first(body_of(self.loop).block.ops):
            return False
        return not is_live_after(self.loop, root, first_use_of_array(self.symbols))

    def stays_within(self, access: LoopAccess, limits: Sequence[Limit]) -> None:
        """
        Records the conditions under which the subscripts of `access` do not wrap around, or raises
        `_Dependent`: wrapped subscripts of different iterations may be equal where their polynomials are
        not.
        """
        block = body_of(self.loop).blocks.first
        assert block is not None
        own, later, _ = self.symbols.own_ranges(block.args[0])
        changing = (*access.ranges, *later, own)
        for poly, width in limits:
            needs = stays_within(poly, width, changing, self.symbols.outer_ranges, self.early)
            if needs is None:
                name = variable_name(access.root)
                raise _Dependent(f"the subscript of '{name}' may wrap around")
            self.requirement |= dict.fromkeys(needs)

    def pair(self, variable: SSAValue, left: _AccessPlace, right: _AccessPlace) -> None:
        """Records the conditions under which two places are independent, or raises `_Dependent`."""
        one, other = left.access, right.access
        name = variable_name(one.root)
        if left.key is None or left.key != right.key:
            types = one.aliased_type, other.aliased_type
            if one.root is not other.root and not may_alias(one.root, other.root, types, self.loop):
                return
            if self.rows_apart(variable, left, right):
                return
        if left.key is None or right.key is None:
            moving = spelled_root((one if left.key is None else other).root)
            advice = self.row_advice(one, other)
            raise _Dependent(f"the pointer '{moving}' changes in every iteration{advice}")
        if left.key != right.key:
            self.overlap(variable, left, right)
            return
        found = self.same_root(variable, one, other)
        if found is None or found:
            guarded = self.guarded(variable, left, right)
            better = guarded is not None and self.has_guards(variable, left, right)
            if found is None or guarded == () or better:
                found = guarded
        if found is None:
            pair = pair_text(one, other, (left.writes, right.writes))
            raise _Dependent(f"iterations may depend on each other through '{name}': {pair}")
        self.requirement |= dict.fromkeys(found)

    def same_root(
        self, variable: SSAValue, one: LoopAccess, other: LoopAccess
    ) -> Requirement | None:
        """
        The requirement under which two accesses through one pointer are independent (empty if that is
        proved); None if no test can establish it.
        """
        sides = comparable(one, other)
        if sides is None:
            return None
        key = variable, sides, one.ranges, other.ranges
        if key not in self.known_pairs:
            first, second, widths = sides
            context = self.context(variable, one, other)
            clauses: Requirement = ()
            found = requirement(first, second, context, self.known, widths)
            if found is None:
                context, clauses = self.signed(context)
                again = requirement(first, second, context, self.known, widths) if clauses else None
                found = None if again is None else (*again, *clauses)
            if found is None:
                exact = self.with_last_values(context)
                if exact != context:
                    again = requirement(first, second, exact, self.known, widths)
                    found = None if again is None else (*again, *clauses)
            self.known_pairs[key] = found
        return self.known_pairs[key]

    @cached_property
    def guarded_accesses(self) -> GuardedAccesses:
        return GuardedAccesses(self.symbols)

    def guarded(
        self, variable: SSAValue, left: _AccessPlace, right: _AccessPlace
    ) -> Requirement | None:
        """
        The requirement under which all accesses of two places are independent because of remainders, choices
        and conditions; None if no test can establish it.
        """
        found: dict[tuple[tuple[Polynomial, ...], ...], None] = {}
        pairs = [
            (one, other)
            for one in left.all
            for other in right.all
            if (one.writes or other.writes) and not (one.atomic and other.atomic)
        ]
        if len(pairs) > MOST_GUARDED_PAIRS:
            return None
        for one, other in pairs:
            if one.units != other.units or (one.width, other.width) != (1, 1):
                return None
            needs = self.guarded_pair(variable, one, other)
            if needs is None:
                return None
            found |= dict.fromkeys(needs)
        return tuple(found)

    def has_guards(self, variable: SSAValue, left: _AccessPlace, right: _AccessPlace) -> bool:
        """Whether remainders, choices or conditions say something about accesses of two places."""
        return any(
            place.zeros or place.holes or place.residues
            for access in (*left.all, *right.all)
            for place in self.guarded_accesses.places(access, variable) or ()
        )

    def guarded_pair(
        self, variable: SSAValue, one: LoopAccess, other: LoopAccess
    ) -> Requirement | None:
        reader = self.guarded_accesses
        lefts, rights = reader.places(one, variable), reader.places(other, variable)
        if lefts is None or rights is None:
            return None
        found: dict[tuple[tuple[Polynomial, ...], ...], None] = {}
        context = self.context(variable, one, other)
        for left in lefts:
            for right in rights:
                needs = guarded_requirement(
                    left,
                    right,
                    context,
                    reader.steps,
                    reader.starts,
                    tuple(reader.fixed.values()),
                    self.known,
                    _divisible,
                )
                if needs is None:
                    return None
                found |= dict.fromkeys(needs)
        return tuple(found)

    def signed(self, context: LoopContext) -> tuple[LoopContext, Requirement]:
        """
        The loops with bounds that widen a value without sign, such as `j <= i` for `i < n`, read as those of
        the value itself, which subscripts contain; and the condition that it is not negative then.
        """
        found: dict[Polynomial, None] = {}

        def read(symbol: Hashable) -> Polynomial:
            owner = symbol.owner if isinstance(symbol, SSAValue) else None
            if isinstance(owner, arith.ExtUIOp) and bit_width(owner.input.type) == 32:
                narrow = self.symbols.polynomial(owner.input)
                if narrow is not None and narrow.symbols and all(map(self.known, narrow.symbols)):
                    found[narrow] = None
                    return narrow
            return Polynomial.symbol(symbol)

        def ranges(loops: tuple[LoopRange, ...]) -> tuple[LoopRange, ...]:
            return tuple(
                LoopRange(loop.variable, loop.lower.mapped(read), loop.last.mapped(read))
                for loop in loops
            )

        bounds = None if context.bounds is None else ranges((context.bounds,))[0]
        right = None if context.right is None else ranges(context.right)
        inner, outer = ranges(context.inner), ranges(context.outer)
        narrowed = replace(context, inner=inner, outer=outer, bounds=bounds, right=right)
        return narrowed, tuple(((poly,),) for poly in found)

    def with_last_values(self, context: LoopContext) -> LoopContext:
        """
        The loops in steps of a constant with the exact last values of their variables, where the host knows
        them: for `j < n` in steps of 8 the last one is 8 * ((n - 1) / 8), so that `j + 7` is in the row if 8
        divides `n`.
        """

        def exact(loop: LoopRange) -> LoopRange:
            assert isinstance(loop.variable, SSAValue)
            step = step_of(loop.variable)
            span = loop.last - loop.lower
            if step is None or step < 2 or not all(map(self.known, span.symbols)):
                return loop
            steps = HostExpression(arith.DivSIOp, (span, Polynomial.constant(step)))
            last = loop.lower + Polynomial.symbol(steps) * step
            return LoopRange(loop.variable, loop.lower, last)

        return replace(
            context,
            inner=tuple(map(exact, context.inner)),
            outer=tuple(map(exact, context.outer)),
            bounds=None if context.bounds is None else exact(context.bounds),
            right=None if context.right is None else tuple(map(exact, context.right)),
        )

    def overlap(self, variable: SSAValue, left: _AccessPlace, right: _AccessPlace) -> None:
        one, other = left.access, right.access
        names = f"'{spelled_root(one.root)}' and '{spelled_root(other.root)}'"
        if not (self.is_testable(one.root) and self.is_testable(other.root)):
            advice = self.row_advice(one, other)
            advice = advice or ": qualify them with restrict, or write 'loop independent'"
            raise _Dependent(f"{names} may overlap{advice}")
        key, known = (left.key, right.key), self.overlaps.get((right.key, left.key))
        if known is not None:
            key = (right.key, left.key)
        else:
            known = self.overlaps.get(key, Overlap(one.root, other.root, ()))
        same = known.same
        if same is not None:
            added = self.same_root(variable, one, other)
            same = None if added is None else tuple(dict.fromkeys((*same, *added)))
        self.overlaps[key] = Overlap(known.left, known.right, same)

    def row_advice(self, one: LoopAccess, other: LoopAccess) -> str:
        """
        The advice to the programmer if one of two accesses is to a row, as the end of a sentence; ""
        otherwise.
        """
        if not any(is_pointed_at(access.root) for access in (one, other)):
            return ""
        if self.keeps_pointers:
            return ": name the rows in a data clause (a[0:n][0:m]), or write 'loop independent'"
        return ": write 'loop independent' if no iteration depends on another"

    def rows_apart(self, variable: SSAValue, left: _AccessPlace, right: _AccessPlace) -> bool:
        """
        Whether two places are independent if rows of arrays of pointers do not overlap; that condition is
        then recorded.
        """
        one, other = self.row_place(left), self.row_place(right)
        if one is None or other is None or not (one.array.levels or other.array.levels):
            return False
        if one.key == other.key:
            found = self.same_root(variable, one.access, other.access)
            if found is None:
                name = spelled_root(left.access.root)
                pair = pair_text(left.access, right.access, (left.writes, right.writes))
                raise _Dependent(f"iterations may depend on each other through '{name}': {pair}")
            self.requirement |= dict.fromkeys(found)
        for place in (one, other):
            known = self.rows.get(place.key, place.array)
            self.rows[place.key] = replace(known, written=known.written or place.array.written)
        return True

    def row_place(self, place: _AccessPlace) -> _RowPlace | None:
        """The part of `place` that must not overlap rows; None if the host cannot find it."""
        row = self.row_access(place.access)
        if row is None and (place.key is None or not self.is_testable(place.access.root)):
            return None
        access, levels = (place.access, 0) if row is None else row
        key = root_key(access.root, self.loop, self.symbols)
        return _RowPlace(ApartArray(access.root, levels, place.writes), (key, levels), access)

    def row_access(self, access: LoopAccess) -> tuple[LoopAccess, int] | None:
        """
        The access as one to rows of an array of pointers that the loop does not change; None if it is not
        one.
        """
        if access not in self.row_accesses:
            found = None if self.host is None else row_access(access, self.symbols, self.host)
            self.row_accesses[access] = found if found and self.keeps_pointers else None
        return self.row_accesses[access]

    @cached_property
    def keeps_pointers(self) -> bool:
        """Whether the construct leaves the pointers in memory that the loop reads unchanged."""
        return self.host is not None and not changes_pointers(self.host, self.loop)

    def is_testable(self, root: SSAValue) -> bool:
        """Whether the host knows, before the construct, the address in `root`."""
        if self.host is None or isinstance(root.owner, PRIVATIZING_OPS):
            return False
        if not is_defined_inside(root, self.host):
            return True
        owner = root.owner
        if isinstance(owner, llvm.AddressOfOp):
            return True
        return isinstance(owner, llvm.LoadOp) and self.symbols.is_host_pointer(owner)


def judge_loop(
    loop: LoopLike,
    host: Operation | None = None,
    scalars: Sequence[Decision] = (),
    *,
    reduced: bool = False,
    part: LoopRange | None = None,
) -> Verdict:
    """
    Whether all iterations of `loop` may run concurrently (OpenACC 3.4, 2.9.6). With `host`, the construct
    that contains it, the answer may depend on tests before that construct. `scalars` are the classified
    scalars from outside; any other scalar that the loop writes makes it dependent. `reduced`: iterations may
    combine the values that they carry. `part`: only the iterations in a range count. The IR is not changed.
    """
    block = body_of(loop).blocks.first
    assert block is not None
    if not block.args or len(body_of(loop).blocks) != 1:
        return Verdict(False, "its body has jumps, so it is not analysed")
    variables = block.args[:1] if isinstance(loop, scf.ForOp) else block.args
    if len(variables) != len(block.args) and not reduced:
        return Verdict(False, "a value is carried between iterations")
    judge = _Judge(loop, host, part)
    own: set[SSAValue] = set()
    if isinstance(loop, acc.LoopOp):
        own = set(own_copies(loop))
    decided = {op for decision in scalars for op in decision.uses}
    own.update(op.acc_var for op in decided if isinstance(op, acc.ReductionOp))
    body = loop_accesses(loop, judge.symbols, own, decided)
    if body.problem is not None:
        return Verdict(False, body.problem)
    try:
        written = _written_scalars(scalars)
        arrays = [access for access in body.accesses if not _is_read_scalar(access)]
        _check_exposed(scalars, arrays)
        places = _places(arrays, loop, judge.symbols)
        for variable in variables:
            judge.pairs(variable, places)
        stored = {root_key(access.root, loop, judge.symbols) for access in arrays if access.writes}
        for access in arrays:
            if access in body.limits and root_key(access.root, loop, judge.symbols) in stored:
                judge.stays_within(access, body.limits[access])
    except _Dependent as reason:
        return Verdict(False, str(reason))
    overlaps = tuple(judge.overlaps.values())
    return Verdict(
        True,
        "no iteration depends on another",
        tuple(judge.private_arrays),
        written,
        overlaps,
        tuple(judge.requirement),
        tuple(judge.rows.values()),
    )


def is_independent(loop: LoopLike, construct: Operation) -> bool:
    """
    Whether no iteration of a loop reaches an element that another one stores, without a test other than what
    the host has found of the construct's arrays.
    """
    verdict = judge_loop(loop, construct, reduced=True)
    return verdict.independent and not (verdict.privates or verdict.scalars or verdict.conditional)


def settle_arrays(
    loop: acc.LoopOp, arrays: Collection[SSAValue]
) -> tuple[list[SSAValue], list[SSAValue]]:
    """
    Two lists from the local `arrays` that the loop's iterations share: those of which every iteration may
    and must have its own copy, and those through which iterations may still depend on each other.
    """
    block = body_of(loop).blocks.first
    if block is None or not block.args or len(body_of(loop).blocks) != 1:
        return [], []
    judge = _Judge(loop, None)
    own = set(own_copies(loop))
    accesses = [a for a in loop_accesses(loop, judge.symbols, own, ()).accesses if a.root in arrays]
    private: list[SSAValue] = []
    shared: list[SSAValue] = []
    for root in arrays:
        places = _places([a for a in accesses if a.root is root], loop, judge.symbols)
        try:
            for variable in block.args:
                judge.pairs(variable, places)
        except _Dependent:
            shared.append(root)
            continue
        if root in judge.private_arrays:
            private.append(root)
    return private, shared


def _is_read_scalar(access: LoopAccess) -> bool:
    """Whether an access only reads a scalar whose address is not known elsewhere."""
    return not access.writes and is_scalar_variable(access.root) and not access.subscripts


def _check_exposed(scalars: Sequence[Decision], arrays: Sequence[LoopAccess]) -> None:
    """
    Raises `_Dependent` if an access through a pointer may reach a scalar, so that iterations may depend on
    each other through it.
    """
    for decision in scalars:
        if not decision.exposed:
            continue
        root = root_of(decision.pointer)
        type_ = scalar_type(root)
        only_read = decision.kind is ScalarClass.SHARED
        for access in arrays:
            if only_read and not access.writes:
                continue
            if access.root is not root and may_alias(
                access.root, root, (access.aliased_type, type_)
            ):
                name = variable_name(decision.pointer)
                raise _Dependent(f"'{variable_name(access.root)}' may point at '{name}'")


def _written_scalars(scalars: Sequence[Decision]) -> tuple[Decision, ...]:
    """The scalars that need a clause. Raises `_Dependent` for those that carry values between iterations."""
    found: list[Decision] = []
    for decision in scalars:
        if decision.kind is ScalarClass.SHARED:
            continue
        name = variable_name(decision.pointer)
        if decision.kind is ScalarClass.CARRIED:
            raise _Dependent(f"the value of '{name}' is carried between iterations")
        if decision.kind is ScalarClass.SOME_LAST:
            raise _Dependent(f"'{name}' keeps the value of the last iteration that assigns it")
        if decision.exposed and isinstance(root_of(decision.pointer).owner, llvm.AllocaOp):
            raise _Dependent(f"'{name}' is assigned, and its address is known elsewhere")
        found.append(decision)
    return tuple(found)
