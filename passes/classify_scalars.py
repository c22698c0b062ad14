"""
Write private and reduction clauses for the scalars of parallel loops, where the program has none (OpenACC
3.4, 2.6.2, 2.9.10 and 2.9.11).

Takes:  acc level, no acc.serial.
Leaves: every parallel loop has clauses for the scalars from outside that it writes: private for those that
        each iteration writes before reading them, reduction for those that iterations only update by one
        operator, whatever loop of the nest has the clause. Last values that are live after the loop are
        stored (`scalar_clauses.py`). A scalar that a parallel construct sets before using it, for
        reductions of loops inside, is private to the construct. The addresses of global scalars are taken
        before the construct. Other scalars are shared, or as the program says. Sequential loops that use
        the value of a variable they reduce work on the variable itself (`reduction_reads.py`). Loops that
        certainly carry values in an array become sequential where one gang, or one iteration of an
        enclosing loop, runs all of their iterations (`carried_arrays.py`).
Warns:  where iterations may depend on each other through a scalar, or certainly do through an array; where
        a loop certainly uses results of other gangs from another loop of the same construct
        (`gang_order.py`); where a value is lost that the program uses later; where device code dereferences
        a host address (`followed_pointers.py`); with -Wall, where a reduction clause is implicit.
Fails:  where threads of a gang share a loop that stores to an array which only its construct reduces.

`split-kernels` classifies the scalars of loops in kernels constructs and of `auto` loops in the same way,
when it decides about each loop, outer before inner. The decisions are in `scalar_classes.py` and
`scalar_uses.py` of `ir/variables`, the analyses they use in `scalar_flow.py` and `reduction_forms.py`.

Before:
  acc.parallel {
    acc.loop … { %0 = llvm.load %s … %1 = arith.addf %0, … llvm.store %1, %s … } attributes {independent = …}
  }
After:
  acc.parallel {
    %s_1 = acc.reduction varPtr(%s) varType(f64) recipe(@reduction_add_f64) {implicit = true, name = "s"}
    acc.loop reduction(%s_1) … { %0 = llvm.load %s_1 … llvm.store %1, %s_1 … } attributes {independent = …}
  }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..compiler.base.names import value_name
from ..dialects.accx import FROM_SERIAL
from .ir.dependence.followed_pointers import warn_of_followed
from .ir.dependence.gang_order import unordered_loops
from .ir.dependence.loop_classifier import LoopClassifier
from .ir.ops.acc_ops import (
    COMPUTE_OPS,
    PRIVATIZING_OPS,
    is_defined_inside,
    is_inside,
    operations_around,
    source_loc,
    variable_name,
)
from .ir.ops.building import erase
from .ir.ops.levels import is_parallel
from .ir.ops.messages import Messages
from .ir.variables.function_scalars import FunctionScalars, global_scalars, is_shared
from .ir.variables.reduction_reads import reduce_in_place
from .ir.variables.scalar_classes import ScalarClass
from .ir.variables.scalar_clauses import add_private, replace_in

_WRITES = (llvm.StoreOp, acc.AtomicWriteOp, acc.AtomicUpdateOp)


def unify_globals(function: llvm.FuncOp, names: frozenset[str]) -> None:
    """
    Makes each construct (or a routine's outermost loop) use one address operation, before it, for each
    global scalar.
    """
    found: dict[tuple[Operation, str], SSAValue] = {}
    for op in list(function.walk()):
        if not isinstance(op, llvm.AddressOfOp) or op.global_name.string_value() not in names:
            continue
        home = _outermost_directive(op)
        if home is None:
            continue
        key = home, op.global_name.string_value()
        if key not in found:
            clone = op.clone()
            clone.location = op.location
            clone.result.name_hint = value_name(variable_name(op.result))
            block = home.parent_block()
            assert block is not None
            block.insert_op_before(clone, home)
            found[key] = clone.result
        op.result.replace_all_uses_with(found[key])
        found[key].name_hint = value_name(variable_name(op.result))
        erase(op)


def _outermost_directive(op: Operation) -> Operation | None:
    """The compute construct around an operation, otherwise the outermost loop directive."""
    around = [
        each for each in operations_around(op) if isinstance(each, (*COMPUTE_OPS, acc.LoopOp))
    ]
    construct = (each for each in around if isinstance(each, COMPUTE_OPS))
    return next(construct, around[-1] if around else None)


@dataclass
class _Function:
    """Classifies the scalars of one function's loops, outer before inner."""

    scalars: FunctionScalars
    messages: Messages
    classifier: LoopClassifier
    construct: Operation | None = None

    def visit(self, op: Operation, inside: bool) -> None:
        """
        Handles `op` and the operations inside it; `inside`: it is in a loop whose iterations may run
        concurrently.
        """
        if isinstance(op, COMPUTE_OPS):
            warn_of_followed(op, self.scalars, self.messages)
            if isinstance(op, acc.KernelsOp):
                return
            self.construct = op
            self.classifier.reduced.clear()
        if isinstance(op, acc.LoopOp):
            if is_parallel(op):
                self.classifier.loop(op, inside)
                inside = True
            elif (
                not inside
                and self.construct is not None
                and FROM_SERIAL in self.construct.attributes
            ):
                self.serial_loop(op)
        for region in op.regions:
            for block in region.blocks:
                for inner in list(block.ops):
                    if inner.regions:
                        self.visit(inner, inside)
        if isinstance(op, COMPUTE_OPS):
            if isinstance(op, acc.ParallelOp):
                self.parallel(op)
                self.unordered(op)
                reduce_in_place(op)
            self.construct = None

    def unordered(self, construct: acc.ParallelOp) -> None:
        """Warns of loops that use results of other gangs from an earlier loop, or replace what they read."""
        for found in unordered_loops(construct):
            does = "assigns" if found.overwrites else "uses"
            others = "use" if found.overwrites else "assign"
            self.messages.warn(
                source_loc(found.later),
                f"gangs do not wait for each other before this loop, which {does} elements of "
                f"'{found.name}' that other gangs {others}",
                "write kernels, or a construct for each loop",
                [
                    (source_loc(found.store), "they are assigned here"),
                    (source_loc(found.access), "they are used here"),
                ],
            )

    def serial_loop(self, loop: acc.LoopOp) -> None:
        """Handles a loop of a serial construct, whose sums may be live on the host."""
        for decision in self.scalars.of(loop):
            variable = self.scalars.variable(decision)
            if decision.kind is not ScalarClass.REDUCTION or variable is not decision.pointer:
                continue
            if self._is_firstprivate(variable):
                self.classifier.reduce(loop, decision)

    def _is_firstprivate(self, variable: SSAValue) -> bool:
        """Whether a scalar is firstprivate to the parallel construct because no clause names it."""
        assert self.construct is not None
        return not (
            isinstance(variable.owner, PRIVATIZING_OPS)
            or is_defined_inside(variable, self.construct)
            or is_shared(variable, self.construct)
        )

    # Constructs.

    def parallel(self, construct: acc.ParallelOp) -> None:
        """
        Makes scalars that a parallel construct sets before using them private, and warns of values that are
        lost.
        """
        for pointer, uses in self.scalars.uses.get(construct, {}).items():
            if not self._is_firstprivate(pointer):
                continue
            reads = self.scalars.flow.reads_first(construct, pointer)
            wanted = self.scalars.flow.is_live_after(construct, pointer)
            named = any(isinstance(op, acc.ReductionOp) and op.var is pointer for op in uses)
            if named or pointer in self.classifier.reduced:
                if not reads and not wanted:
                    copy = add_private(construct, pointer, self.scalars.module)
                    replace_in(
                        [op for op in construct.walk() if op is not construct], pointer, copy
                    )
                continue
            stores = [op for op in uses if isinstance(op, _WRITES)]
            if wanted and stores and self._is_read_elsewhere(pointer, construct):
                name = variable_name(pointer)
                self.messages.warn(
                    source_loc(stores[0]),
                    f"the value assigned to '{name}' here is lost at the end of the construct, "
                    f"in which '{name}' is firstprivate",
                    f"write copy({name}), or a reduction clause, if it is used afterwards",
                    [(source_loc(construct), "the construct is here")],
                )

    def _is_read_elsewhere(self, pointer: SSAValue, construct: Operation) -> bool:
        """Whether a global is used anywhere else in the program."""
        owner = pointer.owner
        if not isinstance(owner, llvm.AddressOfOp):
            return True
        name = owner.global_name.string_value()
        return any(
            isinstance(op, llvm.AddressOfOp)
            and op is not owner
            and op.global_name.string_value() == name
            and not is_inside(op, construct)
            for op in self.scalars.module.walk()
        )


def _has_directives(function: llvm.FuncOp) -> bool:
    return any(isinstance(op, (acc.LoopOp, *COMPUTE_OPS)) for op in function.walk())


@dataclass(frozen=True)
class ClassifyScalarsPass(ModulePass):
    """See the module's description."""

    name = "classify-scalars"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = global_scalars(op)
        messages = Messages(op)
        for function in list(op.body.block.ops):
            if not isinstance(function, llvm.FuncOp) or not _has_directives(function):
                continue
            unify_globals(function, names)
            scalars = FunctionScalars(function, op, names)
            classifier = LoopClassifier(scalars, messages)
            _Function(scalars, messages, classifier).visit(function, inside=False)
        messages.save()
