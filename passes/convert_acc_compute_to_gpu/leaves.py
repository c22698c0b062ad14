"""The contents of private copies: sections of variables, and the scalars that a reduction combines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import acc, llvm
from xdsl.ir import Attribute, Operation, SSAValue

from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects import llvm_ext
from ..ir.ops.acc_ops import PrivatizingOp, has_level, loops_around
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.expressions import parts_of
from ..ir.ops.layout import repeated, size_of
from ..ir.variables.combiners import Combiner, ScalarOperator, Whole
from ..ir.variables.private_storage import section_element
from ..ir.variables.recipe_reading import Recipes, Run, runs_for

ATOMICS = (llvm_ext.AtomicRMWOp, llvm_ext.CmpXchgOp)

MOST_WHOLE_BYTES = 512
"""The most bytes of an object that threads exchange as a value, because its recipe combines it as a whole."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """
    A scalar, or `count` consecutive scalars (an i64 of the kernel's prologue where it is not
    constant), of a reduction variable, `offset` bytes into a copy. `per_row`: the number of scalars in a
    row, for a section of rows whose number is known only at run time. A structure that is combined as a
    whole counts as a scalar.
    """

    combiner: Combiner
    offset: int
    count: int | SSAValue
    per_row: int = 1

    @property
    def type(self) -> Attribute:
        return self.combiner.type

    @property
    def is_operator(self) -> bool:
        """Whether an operator of OpenACC combines the scalars."""
        return isinstance(self.combiner, ScalarOperator)

    def address(self, at: Cursor, variable: SSAValue, index: SSAValue | None = None) -> SSAValue:
        """The address of the scalar (number `index`) in the variable at `variable`."""
        pointer = at.field(variable, self.offset)
        if index is None:
            return pointer
        return at.element(pointer, index, self.type)


@dataclass(frozen=True, slots=True)
class ReductionSpec:
    """
    The contents of an `acc.reduction`: `storage` is the type of a private copy (None for a section whose
    length is known only at run time), `leaves` its scalars.
    """

    op: acc.ReductionOp
    layout: CopyLayout
    storage: Attribute | None
    leaves: tuple[Leaf, ...]

    @property
    def name(self) -> str:
        return "reduction" if self.op.var_name is None else self.op.var_name.data


@dataclass(frozen=True, slots=True)
class CopyLayout:
    """
    A private copy: `length` elements of `element`, which correspond to those from `lower` (None: 0) on of
    the variable. `length` is None for one object that is not a section, and a value of the region for a
    section of a length known only at run time.
    """

    element: Attribute
    length: int | SSAValue | None
    lower: SSAValue | None

    @property
    def storage(self) -> Attribute | None:
        """The type of the copy, or None if its size is known only at run time."""
        if self.length is None:
            return self.element
        if isinstance(self.length, int):
            return llvm.LLVMArrayType(self.length, self.element)
        return None


def copy_layout(op: PrivatizingOp) -> CopyLayout:
    """The copy of a variable or section that a privatising operation asks for."""
    element = section_element(op.var_type, op.bounds)
    if not op.bounds:
        is_array = isinstance(element, llvm.LLVMArrayType)
        return CopyLayout(element, 1 if not is_array and meets_threads(op) else None, None)
    bound = op.bounds[0].owner
    assert isinstance(bound, acc.DataBoundsOp) and bound.extent is not None
    length = constant_value(bound.extent)
    return CopyLayout(element, bound.extent if length is None else length, bound.lowerbound)


def meets_threads(op: Operation) -> bool:
    """
    Whether the variable that `op` makes (an `llvm.alloca` or a privatising operation), which is not an array,
    is one object for several threads: loops shared by workers or lanes inside of its scope access it by
    atomic operations, or write elements of a structure's array that their variables choose. Its copy is then
    a section of one element, which is where arrays are.
    """
    if isinstance(op, acc.ReductionOp):
        return False
    named = [use.operation for use in op.results[0].uses if isinstance(use.operation, acc.LoopOp)]
    scope = {
        *loops_around(op),
        *named,
        *(around for loop in named for around in loops_around(loop)),
    }
    addresses = [op.results[0]]
    while addresses:
        address = addresses.pop()
        for use in address.uses:
            user = use.operation
            if isinstance(user, llvm.GEPOp):
                addresses.append(user.result)
                continue
            shared = [
                loop
                for loop in loops_around(user)
                if loop not in scope and (has_level(loop.worker) or has_level(loop.vector))
            ]
            if shared and (_is_atomic(user, address) or _is_spread(user, address, shared)):
                return True
    return False


def _is_spread(op: Operation, address: SSAValue, loops: Sequence[acc.LoopOp]) -> bool:
    """Whether `op` may write memory at `address`, an element that a variable of one of `loops` chooses."""
    if isinstance(op, llvm.LoadOp) or not isinstance(address.owner, llvm.GEPOp):
        return False
    variables = {argument for loop in loops for argument in loop.region.block.args}
    return not variables.isdisjoint(parts_of(address, lambda part: part in variables))


def _is_atomic(op: Operation, address: SSAValue) -> bool:
    if isinstance(op, llvm.LoadOp | llvm.StoreOp):
        return op.ordering is not None and op.ordering.value.data != 0 and op.ptr is address
    return isinstance(op, ATOMICS) and op.operands[0] is address


def reduction_spec(op: acc.ReductionOp, recipes: Recipes) -> ReductionSpec:
    """
    The contents of the reduction that an operation asks for. Raises `CompileError` for types that cannot be
    reduced on the device.
    """
    layout = copy_layout(op)
    recipe = recipes.reduction(op)
    runs = runs_for(op, recipe, layout.element)
    _check(op, runs)
    if isinstance(layout.length, SSAValue):
        return ReductionSpec(op, layout, None, (_section_leaf(op, layout, runs),))
    if layout.length is not None:
        runs = tuple(repeated(runs, layout.length, size_of(layout.element)))
    leaves = sorted((leaf for run in runs for leaf in _leaves(run)), key=lambda leaf: leaf.offset)
    return ReductionSpec(op, layout, layout.storage, tuple(leaves))


def _leaves(run: Run) -> list[Leaf]:
    """
    The leaves of a run. Each leaf is exchanged in its own loop, so scattered scalars become single leaves.
    """
    if run.count == 1 or run.stride == size_of(run.scalar):
        return [Leaf(run.combiner, run.offset, run.count)]
    return [Leaf(run.combiner, run.offset + i * run.stride, 1) for i in range(run.count)]


def _section_leaf(op: acc.ReductionOp, layout: CopyLayout, runs: tuple[Run, ...]) -> Leaf:
    """The scalars of a section whose length is known only at run time."""
    assert isinstance(layout.length, SSAValue)
    whole = size_of(layout.element)
    if len(runs) != 1 or runs[0].count * size_of(runs[0].scalar) != whole:
        raise error(
            SourceLoc.from_attr(op.location),
            f"the section of reduction variable{_named(op)} has structures, and its length is not"
            " constant",
            "give the section a constant length, or reduce into an array of scalars",
        )
    return Leaf(runs[0].combiner, 0, layout.length, runs[0].count)


def _named(op: acc.ReductionOp) -> str:
    return "" if op.var_name is None else f" '{op.var_name.data}'"


def _check(op: acc.ReductionOp, runs: tuple[Run, ...]) -> None:
    for combiner in (run.combiner for run in runs):
        if isinstance(combiner, Whole) and combiner.bytes > MOST_WHOLE_BYTES:
            raise error(
                SourceLoc.from_attr(op.location),
                f"the recipe of reduction variable{_named(op)} combines {combiner.bytes} bytes at once;"
                f" threads of a GPU can exchange at most {MOST_WHOLE_BYTES}",
                "write the combiner as a loop over the elements, each of which is combined with one",
            )


def with_count(leaf: Leaf, count: SSAValue) -> Leaf:
    """A leaf of `count` scalars."""
    return replace(leaf, count=count)
