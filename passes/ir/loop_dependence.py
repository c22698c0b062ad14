"""
Whether an `auto` loop is independent: its memory accesses, scalars and calls (OpenACC 3.4, 2.9.6).

`judge_loop` returns a `Verdict`: independent or not, one sentence why, the scalars that must become
private or reductions for it to hold, and what the host has to find out before the construct where that
is possible: which arrays do not overlap (`Overlap`), and inequalities between sizes (`Requirement`).
"""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.accx import LAST_VALUE
from ...dialects.accx_element import ElementOp
from ..decisions.dependence import LoopContext, Requirement, requirement, stays_within
from ..decisions.polynomials import Polynomial
from .acc_ops import PRIVATIZING_OPS, bit_width, called, is_defined_inside, variable_name
from .accesses import (
    BYTES,
    LoopAccess,
    comparable,
    is_scalar_variable,
    may_alias,
    root_of,
    subscripts_of,
)
from .building import constant_value
from .callees import is_harmless, reads_of_call
from .loop_scalars import wanted_after
from .loop_symbols import Limit, LoopLike, LoopSymbols, body_of
from .private_arrays import Coverage, first_use_of_array, is_small_array
from .region_values import HostExpression, variable_key
from .scalar_classes import ScalarClass
from .scalar_clauses import scalar_type
from .scalar_uses import Decision


@dataclass(frozen=True)
class Overlap:
    """
    Two arrays, by their roots, that must not overlap; or must be one array if then `same` holds (None:
    that does not help).
    """

    left: SSAValue
    right: SSAValue
    same: Requirement | None = None


@dataclass(frozen=True)
class Verdict:
    """
    The answer on one loop; `why` is a sentence for remarks. `scalars` need clauses for it to hold, and
    the arrays `privates`. With `overlaps` or `requirement`, the loop is independent where the host finds
    that they hold.
    """

    independent: bool
    why: str
    privates: tuple[SSAValue, ...] = ()
    scalars: tuple[Decision, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    requirement: Requirement = ()

    @property
    def conditional(self) -> bool:
        return bool(self.overlaps or self.requirement)


_FAR = 1 << 32


@dataclass
class _Body:
    accesses: list[LoopAccess] = field(default_factory=list[LoopAccess])
    limits: dict[LoopAccess, tuple[Limit, ...]] = field(
        default_factory=dict[LoopAccess, "tuple[Limit, ...]"]
    )
    problem: str | None = None


class _Dependent(Exception):
    """The loop is not independent, for the reason given."""


# Collecting accesses.


def _collect(
    loop: LoopLike, symbols: LoopSymbols, own: set[SSAValue], scalars: Container[Operation]
) -> _Body:
    """The accesses of a loop's body but those to `scalars`, which are decided on their own."""
    body = _Body()
    for op in body_of(loop).walk():
        if op in scalars or LAST_VALUE in op.attributes:
            continue
        match op:
            case llvm.LoadOp():
                _add(body, op, op.ptr, op.dereferenced_value.type, False, loop, symbols, own)
            case llvm.StoreOp():
                _add(body, op, op.ptr, op.value.type, True, loop, symbols, own)
            case llvm.CallOp():
                if not is_harmless(op) and not _add_reads(body, op, loop, symbols, own):
                    name = called(op)
                    body.problem = f"it calls '{name}', which may have effects"
            case acc.AtomicReadOp():
                _add(body, op, op.x, op.element_type, False, loop, symbols, own)
                _add(body, op, op.v, op.element_type, True, loop, symbols, own)
            case acc.AtomicWriteOp():
                _add(body, op, op.x, op.expr.type, True, loop, symbols, own)
            case acc.AtomicUpdateOp():
                type_ = op.region.block.args[0].type
                _add(body, op, op.x, type_, True, loop, symbols, own)
            case _ if op.name.startswith("llvm.") and _may_write(op):
                body.problem = f"it contains '{op.name}'"
            case _:
                pass
    return body


def _add_reads(
    body: _Body, call: llvm.CallOp, loop: LoopLike, symbols: LoopSymbols, own: set[SSAValue]
) -> bool:
    """Counts what a called function reads, somewhere in its arrays; False if it may do anything."""
    reads = reads_of_call(call)
    if reads is None:
        return False
    for read in reads:
        if read.parameter is None:
            return False  # a global, for which the construct has no value to compare
        root = root_of(call.args[read.parameter])
        if root in own:
            continue
        if is_defined_inside(root, loop) and isinstance(root.owner, llvm.AllocaOp):
            continue
        ranges = symbols.inner_ranges(call)
        body.accesses.append(LoopAccess(call, root, (None,), (BYTES,), read.type, False, ranges))
    return True


def _may_write(op: Operation) -> bool:
    return op.name.split(".")[1].startswith(("intr.mem", "atomic", "cmpxchg", "inline_asm"))


def _add(
    body: _Body,
    op: Operation,
    pointer: SSAValue,
    type_: Attribute,
    writes: bool,
    loop: LoopLike,
    symbols: LoopSymbols,
    own: set[SSAValue],
) -> None:
    root = root_of(pointer)
    while root not in own and is_defined_inside(root, loop):
        if not isinstance(root.owner, acc.ReductionOp):
            break
        root = root_of(root.owner.var)  # what an inner loop's copies are combined into
    own_copy = isinstance(root.owner, llvm.AllocaOp | acc.PrivateOp | acc.FirstprivateOp)
    if root in own or (is_defined_inside(root, loop) and own_copy):
        return
    symbols.limits.clear()
    subscripts, units = subscripts_of(pointer, symbols)
    subscripts = tuple(None if p is None or _wraps_at_once(p) else p for p in subscripts)
    limits = tuple(dict.fromkeys(symbols.limits))
    atomic = isinstance(op, acc.AtomicReadOp | acc.AtomicWriteOp | acc.AtomicUpdateOp)
    is_target = not (isinstance(op, acc.AtomicReadOp) and writes)
    body.accesses.append(
        LoopAccess(
            op,
            root,
            subscripts,
            units,
            type_,
            writes,
            symbols.inner_ranges(op),
            atomic and is_target,
        )
    )
    if limits:
        body.limits[body.accesses[-1]] = limits


def _wraps_at_once(poly: Polynomial) -> bool:
    """Whether elements lie further apart than any array is long, so that a subscript has to wrap."""
    return any(abs(coefficient) >= _FAR for monomial, coefficient in poly.terms.items() if monomial)


def root_key(root: SSAValue, loop: LoopLike, symbols: LoopSymbols) -> Hashable | None:
    """What identifies a root during the loop; None if it may change from iteration to iteration."""
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


def _spelled(root: SSAValue) -> str:
    """A root as C spells it: a variable, or an element that is a pointer."""
    element = root.owner.ptr.owner if isinstance(root.owner, llvm.LoadOp) else None
    if not isinstance(element, ElementOp):
        return variable_name(root)
    text = _spelled(element.ptr)
    for index in element.steps():
        named = index if isinstance(index, int) else index.value.name_hint
        text += "[...]" if named is None else f"[{named}]"
    return text


# The verdict.


@dataclass(frozen=True)
class _AccessPlace:
    """Accesses that lie at the same place in every respect, as one."""

    access: LoopAccess
    key: Hashable
    writes: bool
    plain: bool
    """Not all of them are atomic."""


def _places(
    accesses: Sequence[LoopAccess], loop: LoopLike, symbols: LoopSymbols
) -> list[_AccessPlace]:
    """The accesses to arrays, each place once."""
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
        )
    return list(found.values())


class _Judge:
    """What is found out about one loop; `host`, if any, is the construct before which tests may run."""

    def __init__(self, loop: LoopLike, host: Operation | None):
        self.loop = loop
        self.host = host
        self.symbols = LoopSymbols(loop, host)
        self.requirement: dict[tuple[tuple[Polynomial, ...], ...], None] = {}
        self.overlaps: dict[tuple[Hashable, Hashable], Overlap] = {}
        self.private_arrays: list[SSAValue] = []
        self.known_pairs: dict[Hashable, Requirement | None] = {}

    def known(self, symbol: Hashable) -> bool:
        return self.host is not None and self.symbols.is_known_before(symbol)

    def early(self, symbol: Hashable) -> Hashable | None:
        """The symbol that has the value of `symbol` before the construct."""
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
        inner = (*left.ranges, *later)
        others = (*right.ranges, *later)
        step = constant_value(self.symbols.step_of(variable))
        if step is not None and step <= 0:
            step = None
        return LoopContext(
            variable,
            step,
            None,
            inner,
            (*earlier, *self.symbols.outer_ranges),
            own,
            None if inner == others else others,
        )

    def pairs(self, variable: SSAValue, places: Sequence[_AccessPlace]) -> None:
        """Takes note of what all pairs of places need, or raises `_Dependent`."""
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
        return not wanted_after(self.loop, root, first_use_of_array(self.symbols))

    def stays_within(self, access: LoopAccess, limits: Sequence[Limit]) -> None:
        """
        Takes note of what keeps the subscripts of `access` from wrapping around, or raises `_Dependent`:
        wrapped subscripts of different iterations may meet where their polynomials do not.
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
        """Takes note of what two places need, or raises `_Dependent`."""
        one, other = left.access, right.access
        name = variable_name(one.root)
        if left.key is None or right.key is None:
            types = one.type, other.type
            if one.root is not other.root and not may_alias(one.root, other.root, types):
                return
            moving = _spelled((one if left.key is None else other).root)
            raise _Dependent(f"the pointer '{moving}' changes in every iteration")
        if left.key != right.key:
            self.overlap(variable, left, right)
            return
        found = self.same_root(variable, one, other)
        if found is None:
            raise _Dependent(f"iterations may depend on each other through '{name}'")
        self.requirement |= dict.fromkeys(found)

    def same_root(
        self, variable: SSAValue, one: LoopAccess, other: LoopAccess
    ) -> Requirement | None:
        """What keeps two accesses through one pointer apart."""
        sides = comparable(one, other)
        if sides is None:
            return None
        key = variable, sides, one.ranges, other.ranges
        if key not in self.known_pairs:
            first, second, widths = sides
            context = self.context(variable, one, other)
            self.known_pairs[key] = requirement(first, second, context, self.known, widths)
        return self.known_pairs[key]

    def overlap(self, variable: SSAValue, left: _AccessPlace, right: _AccessPlace) -> None:
        one, other = left.access, right.access
        if not may_alias(one.root, other.root, (one.type, other.type)):
            return
        names = f"'{_spelled(one.root)}' and '{_spelled(other.root)}'"
        if not (self.is_testable(one.root) and self.is_testable(other.root)):
            raise _Dependent(
                f"{names} may overlap: qualify them with restrict, or write 'loop independent'"
            )
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

    def is_testable(self, root: SSAValue) -> bool:
        """Whether the host knows before the construct where `root` points."""
        if self.host is None or isinstance(root.owner, PRIVATIZING_OPS):
            return False
        if not is_defined_inside(root, self.host):
            return True
        owner = root.owner
        if isinstance(owner, llvm.AddressOfOp):
            return True
        return isinstance(owner, llvm.LoadOp) and self.symbols.is_host_pointer(owner)


def judge_loop(
    loop: LoopLike, host: Operation | None = None, scalars: Sequence[Decision] = ()
) -> Verdict:
    """
    Whether all iterations of `loop` may run at once. With `host`, the construct it stands in, the
    answer may depend on what can be tested in front of that. `scalars`: what the scalars from outside
    are to the loop; others that it writes make it dependent. The IR is not changed.
    """
    block = body_of(loop).blocks.first
    assert block is not None
    if not block.args or len(body_of(loop).blocks) != 1:
        return Verdict(False, "its body has jumps, so it is not analysed")
    if isinstance(loop, scf.ForOp) and loop.iter_args:
        return Verdict(False, "iterations pass on a value")
    judge = _Judge(loop, host)
    own: set[SSAValue] = set()
    if isinstance(loop, acc.LoopOp):
        own = {*loop.private_operands, *loop.reduction_operands, *loop.firstprivate_operands}
    decided = {op for decision in scalars for op in decision.uses}
    own.update(op.acc_var for op in decided if isinstance(op, acc.ReductionOp))
    body = _collect(loop, judge.symbols, own, decided)
    if body.problem is not None:
        return Verdict(False, body.problem)
    try:
        written = _written_scalars(scalars)
        arrays = [access for access in body.accesses if not _is_read_scalar(access)]
        _check_exposed(scalars, arrays)
        places = _places(arrays, loop, judge.symbols)
        for variable in block.args:
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
    )


def settle_arrays(
    loop: acc.LoopOp, arrays: Collection[SSAValue]
) -> tuple[list[SSAValue], list[SSAValue]]:
    """
    Of local `arrays` that the iterations of a loop share: those of which every iteration may have its own
    and has to, and those through which iterations may depend on each other all the same.
    """
    block = body_of(loop).blocks.first
    if block is None or not block.args or len(body_of(loop).blocks) != 1:
        return [], []
    judge = _Judge(loop, None)
    own = {*loop.private_operands, *loop.reduction_operands, *loop.firstprivate_operands}
    accesses = [a for a in _collect(loop, judge.symbols, own, ()).accesses if a.root in arrays]
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
    """Whether nothing but this loop's reads touch a scalar: others know its address otherwise."""
    return not access.writes and is_scalar_variable(access.root) and not access.subscripts


def _check_exposed(scalars: Sequence[Decision], arrays: Sequence[LoopAccess]) -> None:
    """Raises `_Dependent` where a pointer may point at a scalar that iterations pass on by way of it."""
    for decision in scalars:
        if not decision.exposed:
            continue
        root = root_of(decision.pointer)
        type_ = scalar_type(root)
        only_read = decision.kind is ScalarClass.SHARED
        for access in arrays:
            if only_read and not access.writes:
                continue
            if access.root is not root and may_alias(access.root, root, (access.type, type_)):
                name = variable_name(decision.pointer)
                raise _Dependent(f"'{variable_name(access.root)}' may point at '{name}'")


def _written_scalars(scalars: Sequence[Decision]) -> tuple[Decision, ...]:
    """The scalars that need a clause. Raises `_Dependent` for those that iterations pass on."""
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
