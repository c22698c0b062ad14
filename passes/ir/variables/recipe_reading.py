"""
The reader of recipes (docs/design.md, "Recipes"), for both targets and for passes that analyse reductions.

The regions define a recipe's meaning. An operator is recognised by what the combiner and the initial value
compute; the recipe's name, its `reduction_operator` and the C type are ignored. A combiner that goes
through an object scalar by scalar is read as arithmetic on scalars (`Elementwise`, or the `ScalarOperator`
it is); any other is kept as regions (`Whole`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ....compiler.base.diagnostics import SourceLoc, error
from ....dialects import llvm_ext
from ..ops.acc_ops import PrivatizingOp, RecipeOp, enclosing_module
from ..ops.building import Cursor, constant_value
from ..ops.layout import Elements, elements_of, size_of
from .combiners import Combiner, Elementwise, ScalarExpression, ScalarOperator, Whole
from .scalar_updates import NotElementwise, by_run, has_effects, operator_of, updates_of


@dataclass(frozen=True)
class Run(Elements):
    """Scalars of a reduced object, or the object itself, with the combiner of those of two copies."""

    combiner: Combiner


@dataclass(frozen=True)
class CopyRecipe:
    """
    Makes private copies of objects of type `object`. `init`, except for its operation `copy`, sets the
    initial value, if there is one (`has_init`). `transfer` copies the variable's value (None for
    `private`); `is_bitwise` if it copies all bytes and does nothing else.
    """

    name: str
    object: Attribute
    init: Block
    copy: llvm.AllocaOp
    has_init: bool
    transfer: Block | None = None
    is_bitwise: bool = True

    @property
    def is_plain(self) -> bool:
        """Whether a copy is made by copying bytes, or left uninitialised."""
        return not self.has_init and self.is_bitwise

    def start(self, at: Cursor, place: SSAValue) -> None:
        """Gives the copy at `place` the initial value."""
        at.inline(self.init.ops, {self.copy.res: place})

    def move(self, at: Cursor, variable: SSAValue, place: SSAValue) -> None:
        """Gives the copy at `place` the variable's value."""
        assert self.transfer is not None
        mine, copy = self.transfer.args[:2]
        at.inline(self.transfer.ops, {mine: variable, copy: place})


@dataclass(frozen=True)
class ReductionRecipe:
    """The meaning of a reduction on objects of type `object`, scalar by scalar where possible."""

    name: str
    object: Attribute
    runs: tuple[Run, ...]

    def operator(self) -> ScalarOperator | None:
        """
        The operator of all scalars (with the type of one of them); None if they have different ones or
        another combiner.
        """
        operators = [run.combiner for run in self.runs]
        first = operators[0] if operators else None
        if not isinstance(first, ScalarOperator):
            return None
        same = all(
            isinstance(o, ScalarOperator) and (o.kind, o.unsigned) == (first.kind, first.unsigned)
            for o in operators
        )
        return first if same else None

    def for_unit(self, unit: Attribute) -> tuple[Run, ...] | None:
        """
        The runs of an object of type `unit`, as a section has several: the recipe's own type, or one to
        which the same operator applies. None if the recipe does not define the reduction of such objects.
        """
        if unit == self.object:
            return self.runs
        operator = self.operator()
        if operator is None or not operator.exists:
            return None
        mine = {run.scalar for run in self.runs}
        runs = [
            Run(r.scalar, r.offset, r.count, r.stride, replace(operator, type=r.scalar))
            for r in elements_of(unit, lambda t: t in mine)
        ]
        return tuple(runs) if {run.scalar for run in runs} <= mine else None


def check_object(op: PrivatizingOp, recipe: CopyRecipe | ReductionRecipe, unit: Attribute) -> None:
    """Raises `CompileError` unless `recipe` is for objects of type `unit`, of which `op` makes copies."""
    if unit != recipe.object:
        raise error(
            SourceLoc.from_attr(op.location),
            f"recipe @{recipe.name} makes copies of {recipe.object}, not of {unit}",
            "name a recipe of the variable's type, or of the type of a section's elements",
        )


def runs_for(op: acc.ReductionOp, recipe: ReductionRecipe, unit: Attribute) -> tuple[Run, ...]:
    """`recipe.for_unit`. Raises `CompileError` where that is None."""
    runs = recipe.for_unit(unit)
    if runs is None:
        check_object(op, recipe, unit)
    assert runs is not None
    return runs


@dataclass
class Recipes:
    """The recipes of a module, each read once."""

    module: ModuleOp
    _by_name: dict[str, RecipeOp] = field(default_factory=dict[str, RecipeOp])
    _copies: dict[str, CopyRecipe] = field(default_factory=dict[str, CopyRecipe])
    _reductions: dict[str, ReductionRecipe] = field(default_factory=dict[str, ReductionRecipe])

    @staticmethod
    def around(op: Operation) -> Recipes:
        """The recipes of the module that contains `op`."""
        return Recipes(enclosing_module(op))

    def _named(self, op: PrivatizingOp, kind: type[RecipeOp]) -> RecipeOp:
        name = "" if op.recipe is None else op.recipe.string_value()
        if name not in self._by_name:  # passes add recipes
            for other in self.module.body.block.ops:
                if isinstance(other, RecipeOp):
                    self._by_name.setdefault(other.sym_name.data, other)
        recipe = self._by_name.get(name)
        if not isinstance(recipe, kind):
            raise error(
                SourceLoc.from_attr(op.location),
                f"internal: {op.name} names no {kind.name}",
                f"name one in recipe(…){f': @{name} is not one' if name else ''}",
            )
        return recipe

    def copies(self, op: acc.PrivateOp | acc.FirstprivateOp) -> CopyRecipe:
        """The recipe of a `private` or `firstprivate`. Raises `CompileError` for one we cannot execute."""
        kind = acc.PrivateRecipeOp if isinstance(op, acc.PrivateOp) else acc.FirstprivateRecipeOp
        recipe = self._named(op, kind)
        assert not isinstance(recipe, acc.ReductionRecipeOp)
        name = recipe.sym_name.data
        if name not in self._copies:
            self._copies[name] = _read_copies(recipe, op)
        return self._copies[name]

    def reduction(self, op: acc.ReductionOp) -> ReductionRecipe:
        """The recipe of a `reduction`. Raises `CompileError` for one we cannot execute."""
        recipe = self._named(op, acc.ReductionRecipeOp)
        assert isinstance(recipe, acc.ReductionRecipeOp)
        name = recipe.sym_name.data
        if name not in self._reductions:
            self._reductions[name] = _read_reduction(recipe, op)
        return self._reductions[name]

    def operator(self, op: acc.ReductionOp) -> ScalarOperator | None:
        """The operator of all scalars that `op` reduces, None if its combiner is not one of OpenACC's."""
        return self.reduction(op).operator()


# Private copies.


def _cannot(recipe: RecipeOp, op: PrivatizingOp, what: str, remedy: str) -> Exception:
    place = recipe if SourceLoc.from_attr(recipe.location).line else op
    return error(
        SourceLoc.from_attr(place.location), f"recipe @{recipe.sym_name.data}: {what}", remedy
    )


def _read_init(recipe: RecipeOp, op: PrivatizingOp) -> tuple[Block, llvm.AllocaOp]:
    """The block that makes a copy, and the operation that makes its memory."""
    if any(not inner.has_trait(IsTerminator) for inner in recipe.destroy_region.walk()):
        raise _cannot(
            recipe, op, "its destroy region would not be executed", "leave the region out"
        )
    block = recipe.init_region.block
    end = block.last_op
    made = end.operands[0].owner if end is not None and len(end.operands) == 1 else None
    if not isinstance(made, llvm.AllocaOp) or made.parent_block() is not block:
        raise _cannot(
            recipe,
            op,
            "its init region does not yield memory that it makes",
            "make the copy with llvm.alloca and yield its address; lowerings choose where it lies",
        )
    if constant_value(made.size) != 1:
        raise _cannot(
            recipe,
            op,
            "its copy is not one object",
            "use a type of its own for several: !llvm.array",
        )
    if any(argument.first_use is not None for argument in block.args):
        raise _cannot(
            recipe,
            op,
            "its init region uses the variable, which the device may not have",
            "use a firstprivate recipe, whose copy region gets the variable's value",
        )
    return block, made


def _read_copies(
    recipe: acc.PrivateRecipeOp | acc.FirstprivateRecipeOp, op: PrivatizingOp
) -> CopyRecipe:
    block, made = _read_init(recipe, op)
    name, has_init = recipe.sym_name.data, any(has_effects(inner) for inner in block.ops)
    if isinstance(recipe, acc.PrivateRecipeOp):
        return CopyRecipe(name, made.elem_type, block, made, has_init)
    transfer = recipe.copy_region.block
    bitwise = _is_bitwise(transfer, made.elem_type)
    return CopyRecipe(name, made.elem_type, block, made, has_init, transfer, bitwise)


def _is_bitwise(transfer: Block, type_: Attribute) -> bool:
    """Whether a copy region moves the bytes of a `type_` from the variable to the copy, and no more."""
    variable, copy = transfer.args[:2]
    effects = [op for op in transfer.ops if has_effects(op)]
    match effects:
        case [llvm_ext.MemcpyOp() as move]:
            ends = move.src is variable and move.dst is copy
            return ends and constant_value(move.len) == size_of(type_)
        case [llvm.LoadOp() as load, llvm.StoreOp() as store]:
            ends = load.ptr is variable and store.ptr is copy
            whole = load.dereferenced_value.type == type_
            return ends and whole and store.value is load.dereferenced_value
        case []:
            return size_of(type_) == 0
        case _:
            return False


# Reductions.


def _read_reduction(recipe: acc.ReductionRecipeOp, op: PrivatizingOp) -> ReductionRecipe:
    init, made = _read_init(recipe, op)
    combiner = recipe.combiner_region.block
    end = combiner.last_op
    if end is None or list(end.operands) != [combiner.args[0]]:
        raise _cannot(
            recipe,
            op,
            "its combiner does not yield its first argument",
            "store the result to the first copy, and yield the address of that",
        )
    name, object_ = recipe.sym_name.data, made.elem_type
    try:
        starts = dict(_at_offsets(by_run(updates_of(init, made.res, ()), object_)))
        mine, other = combiner.args[:2]
        folds = by_run(updates_of(combiner, mine, (mine, other)), object_)
        runs = [
            Run(r.scalar, r.offset, r.count, r.stride, _combiner(r, starts, e)) for r, e in folds
        ]
    except NotElementwise:
        whole = Whole(object_, init, made, combiner)
        runs = [Run(object_, 0, 1, size_of(object_), whole)]
    return ReductionRecipe(name, object_, tuple(runs))


def _at_offsets(
    runs: Sequence[tuple[Elements, ScalarExpression]],
) -> Iterator[tuple[tuple[int, int], ScalarExpression]]:
    for run, expression in runs:
        yield (run.offset, run.count), expression


def _combiner(
    run: Elements, starts: dict[tuple[int, int], ScalarExpression], expression: ScalarExpression
) -> Combiner:
    first = starts.get((run.offset, run.count))
    if first is None:
        raise NotElementwise  # the initial values are grouped in another way
    return operator_of(run.scalar, first, expression) or Elementwise(run.scalar, first, expression)
