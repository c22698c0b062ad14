"""
Warnings for updates of elements that iterations of a parallel loop select by data: `count[kind[i]] += 1`,
`h[i % 4]++`. If two iterations select one element, both may read it before either has assigned it, and one
update is lost (OpenACC 3.4, 2.9.6 and 2.12). Whether that happens depends on the data, hence a warning.

There is no warning where a loop variable is part of a subscript (`own[i * bins + k]`), where both its
quotient and its remainder are, where the new value depends on other elements of the array, where it wraps
around an array of as many elements as iterations (`(i + 1) % n`), where rows begin at positions read from
memory (`first[i] + j`), and where nothing is known of a subscript.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.ir import Operation, SSAValue

from ..ops.acc_ops import (
    COMPUTE_OPS,
    PRIVATIZING_OPS,
    is_defined_inside,
    operations_around,
    own_copies,
    parent_operation,
    source_loc,
    variable_name,
)
from ..ops.building import constant_value
from ..ops.messages import Messages
from ..values.accesses import is_scalar_variable, root_of
from ..values.loop_symbols import LoopSymbols
from ..values.region_values import variable_key
from ..values.subscript_parts import Choice, LoopSubscripts, SubscriptParts, bounds_of_counter
from ..values.value_origins import ValueOrigins
from ..values.value_polynomials import keeps_value
from .chosen_elements import of_one_iteration


def warn_of_scattered(
    loop: acc.LoopOp, told: set[Operation], messages: Messages, *, lanes: bool
) -> None:
    """
    Warns of each array of which iterations may update one element concurrently. `told`: stores that already
    have a warning; new ones are added. `lanes`: threads of one gang share the iterations, and so the gang's
    own arrays.
    """
    names: set[str] = set()
    for store, choice in scattered_updates(loop, lanes=lanes):
        name = variable_name(root_of(store.ptr))
        if store not in told and name not in names:
            names.add(name)
            messages.warn(
                source_loc(loop),
                f"iterations of this loop may update one element of '{name}' at the same time, which loses"
                f" updates: its subscript {choice.value}",
                "write '#pragma acc atomic update' before the update, or 'loop seq'",
                [(source_loc(store), "it is updated here")],
                option="scattered-updates",
            )
        told.add(store)


def scattered_updates(loop: acc.LoopOp, *, lanes: bool) -> Iterator[tuple[llvm.StoreOp, Choice]]:
    """
    The stores of `loop` that update an element which other iterations may update at the same time, each
    with the way the element is selected.
    """
    stores = [op for op in loop.walk() if isinstance(op, llvm.StoreOp)]
    stores = [op for op in stores if _is_shared(root_of(op.ptr), loop, lanes)]
    if not stores:
        return
    finder = _UpdateFinder(loop)
    for store in stores:
        choice = finder.choice(store)
        if choice is not None and finder.is_update(store):
            yield store, choice


def _is_shared(root: SSAValue, loop: acc.LoopOp, lanes: bool) -> bool:
    """Whether concurrent iterations may access the same array through `root`."""
    if is_scalar_variable(root):
        return False
    if isinstance(root.owner, llvm.LoadOp | llvm.AddressOfOp):
        return True
    own = own_copies(loop)
    if root in own or is_defined_inside(root, loop) or isinstance(root.owner, acc.ReductionOp):
        return False
    return lanes or not _of_gang(root)


def _of_gang(root: SSAValue) -> bool:
    """Whether a variable from outside the loop is private to each gang."""
    parent = parent_operation(root)
    if isinstance(parent, PRIVATIZING_OPS):
        return True
    while parent is not None and not isinstance(parent, COMPUTE_OPS):
        parent = parent.parent_op()
    return parent is not None


class _UpdateFinder:
    """Looks at the stores of one loop."""

    def __init__(self, loop: acc.LoopOp):
        self.loop = loop
        self.variables = loop.region.blocks[0].args
        self.origins = ValueOrigins(loop)
        self.subscripts = LoopSubscripts(self.origins)
        self._alike: dict[tuple[SSAValue, SSAValue], bool] = {}

    @cached_property
    def symbols(self) -> LoopSymbols:
        return LoopSymbols(self.loop, None)

    def is_update(self, store: llvm.StoreOp) -> bool:
        """
        Whether the stored value, or the condition of the store, depends on the element's old value, and the
        stored value not on other elements of the array: iterations of such a sweep, which the program
        declares independent, are apart by their order (the colours of Gauss-Seidel's method).
        """
        values = [store.value]
        if self.origins.is_inside(store.value):
            around = operations_around(store, self.loop)
            values += [branch.cond for branch in around if isinstance(branch, scf.IfOp)]
        array = variable_key(root_of(store.ptr))
        sweeps = any(
            variable_key(root_of(load.ptr)) == array and not self.alike(load.ptr, store.ptr)
            for load in self.origins.loads_behind([store.value])
        )
        loads = () if sweeps else self.origins.loads_behind(values)
        return any(self.alike(load.ptr, store.ptr) for load in loads)

    def alike(self, left: SSAValue, right: SSAValue) -> bool:
        """Whether two values are computed by equal expressions."""
        if left is right:
            return True
        one, other = left.owner, right.owner
        if not isinstance(one, Operation) or not isinstance(other, Operation):
            return False
        if type(one) is not type(other) or one.properties != other.properties or one.regions:
            return False
        key = left, right
        if key not in self._alike:
            self._alike[key] = len(one.operands) == len(other.operands) and all(
                self.alike(a, b) for a, b in zip(one.operands, other.operands, strict=True)
            )
        return self._alike[key]

    def choice(self, store: llvm.StoreOp) -> Choice | None:
        """How the store's element is selected, if other iterations may select it too; else None."""
        subscripts = self.subscripts.of_address(store.ptr)
        chosen = [part for part in subscripts if part.choices]
        if not chosen or not all(part.known for part in subscripts):
            return None
        kinds = {choice for part in chosen for choice in part.choices.values()}
        if {Choice.REMAINDER, Choice.QUOTIENT} <= kinds or any(map(self._is_row, chosen)):
            return None
        counters = {counter for part in subscripts for counter in part.counters}
        for variable in self.variables:
            if variable in counters or any(self._goes_round(part, variable) for part in chosen):
                continue
            if not of_one_iteration(store, variable, self.loop, self.symbols):
                return next(iter(chosen[0].choices.values()))
        return None

    def _is_row(self, part: SubscriptParts) -> bool:
        """Whether a subscript counts from where rows of different lengths begin: `first[i] + j`."""
        inner = part.counters.difference(self.variables) if part.plain else ()
        bounds = (bound for counter in inner for bound in bounds_of_counter(counter) or ())
        return any(constant_value(bound) is None for bound in bounds)

    def _goes_round(self, part: SubscriptParts, variable: SSAValue) -> bool:
        """
        Whether a subscript is a remainder that differs in every iteration: `(i + 1) % n`, where the
        loop has at most `n` iterations, or counts up to `n`.
        """
        for value, choice in part.choices.items():
            operation = value.owner
            assert isinstance(operation, Operation)
            if choice is not Choice.REMAINDER:
                continue
            counted, divisor = self.subscripts.parts(operation.operands[0]), operation.operands[1]
            if variable not in counted.counters or not counted.plain:
                continue
            bounds = bounds_of_counter(variable)
            if bounds is not None and self.alike(_origin(bounds[1]), _origin(divisor)):
                return True
            length = self.symbols.polynomial(divisor)
            if length is None:
                continue
            own, _, _ = self.symbols.own_ranges(variable)
            spare = length - own.last - (0 if isinstance(operation, arith.AndIOp) else 1)
            rooms = (spare.as_constant, (spare + own.lower).as_constant)
            if any(room is not None and room >= 0 for room in rooms):
                return True
        return False


def _origin(value: SSAValue) -> SSAValue:
    """The operand of a value's conversions between widths."""
    while keeps_value(value.owner):
        assert isinstance(value.owner, Operation)
        value = value.owner.operands[0]
    return value
