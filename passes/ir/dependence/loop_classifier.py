"""
Classifies the outside scalars of loops that the program declares parallel and writes their clauses into the
IR, with warnings where the program is certainly wrong or should have a clause.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ....compiler.base.diagnostics import error
from ...decisions.levels import Level
from ..ops.acc_ops import (
    COMPUTE_OPS,
    drop_gang,
    enclosing,
    hands_on,
    is_inside,
    reduces_elements,
    source_loc,
    variable_name,
)
from ..ops.building import constant_value
from ..ops.levels import is_parallel, loop_levels
from ..ops.loop_order import make_sequential
from ..ops.messages import Messages, access_notes
from ..values.accesses import root_of
from ..variables.function_scalars import FunctionScalars
from ..variables.reduction_reads import use_of_partial_sum
from ..variables.scalar_classes import ORDERED, ScalarClass
from ..variables.scalar_uses import Decision
from .carried_arrays import Carried, carried_array
from .chosen_elements import warn_of_chosen
from .scattered_updates import warn_of_scattered
from .shared_arrays import give_own_arrays, warn_of_shared

_CARRIED = {
    Carried.PASSED: "depend on each other through elements of",
    Carried.COMBINED: "depend on each other through elements of",
    Carried.SHARED: "assign and read back the same elements of",
    Carried.OVERWRITTEN: "all assign the same elements of",
}


@dataclass
class LoopClassifier:
    """Classifies the scalars of the loops of one function, outer before inner."""

    scalars: FunctionScalars
    messages: Messages
    reduced: set[SSAValue] = field(default_factory=set[SSAValue])
    """Scalars that loops reduce."""
    scattered: set[Operation] = field(default_factory=set[Operation])
    """Updates for which an enclosing loop already has a warning."""

    def loop(self, loop: acc.LoopOp, inside: bool) -> None:
        """
        Classifies the scalars of one parallel loop; `inside`: it is nested in another parallel loop. Raises
        `CompileError` for a loop whose lanes would share an array that only the construct reduces.
        """
        if is_parallel(loop):
            _check_array_reductions(loop)
        ordered: set[str] = set()
        for decision in self.scalars.of(loop):
            if decision.kind is ScalarClass.REDUCTION:
                self.reduce(loop, decision)
            elif decision.kind in ORDERED:
                self._ordered(loop, decision, inside)
                ordered.add(variable_name(self.scalars.variable(decision)))
            else:
                self.scalars.write(loop, decision)
        shared: dict[str, Operation] = {}
        if is_parallel(loop):
            self._check_reductions(loop)
            shared = give_own_arrays(loop, self.messages)
        self._keep_to_gang(loop)
        carried = self._arrays(loop, inside, ordered)
        warn_of_shared(loop, {n: op for n, op in shared.items() if n != carried}, self.messages)

    def _arrays(self, loop: acc.LoopOp, inside: bool, scalars: Container[str]) -> str | None:
        """
        Warns of an array through which iterations certainly depend on each other, although the program
        declares them independent; returns its name. `scalars` have already been warned about.
        """
        if not is_parallel(loop) or hands_on(loop):
            return None
        levels = loop_levels(loop)
        within_gang = inside and Level.GANG not in levels
        lanes = within_gang or Level.WORKER in levels or Level.VECTOR in levels
        gangs = Level.GANG in levels and not lanes
        found = carried_array(loop, lanes=lanes, gangs=gangs)
        if found is None or found.name in scalars:
            warn_of_chosen(loop, scalars, self.messages, lanes=lanes)
            warn_of_scattered(loop, self.scattered, self.messages, lanes=lanes)
            return None
        text = f"iterations of this loop {_CARRIED[found.kind]} '{found.name}'"
        if (
            within_gang
            or _is_alone(loop)
            or isinstance(enclosing(loop, *COMPUTE_OPS), acc.KernelsOp)
        ):
            text += ", so it runs sequentially"
            make_sequential(loop, f"iterations {_CARRIED[found.kind]} '{found.name}'")
        remedy = "write 'loop seq'"
        if found.kind is Carried.COMBINED:
            remedy += ", or combine the values in a scalar with a reduction clause, or use atomic"
        elif found.kind is Carried.SHARED:
            remedy += ", or use a variable that is declared in the loop or private"
        notes = access_notes(found.load, found.store)
        self.messages.warn(source_loc(loop), text, remedy, notes)
        return found.name

    def uses_partial_sum(self, loop: acc.LoopOp) -> bool:
        """
        Whether iterations use the value of a variable that the loop's clauses reduce, other than to update
        it.
        """
        return any(True for _ in self._partial_sums(loop))

    def _partial_sums(self, loop: acc.LoopOp) -> Iterator[tuple[SSAValue, Operation]]:
        if hands_on(loop):
            return
        for operand in loop.reduction_operands:
            if operand.owner in self.scalars.clauses and self.scalars.flow.reads_first(
                loop, operand
            ):
                uses = [use.operation for use in operand.uses if is_inside(use.operation, loop)]
                load = use_of_partial_sum(uses)
                if load is not None:
                    yield operand, load

    def _check_reductions(self, loop: acc.LoopOp) -> None:
        """Warns where iterations use the value of a variable that the loop's clauses reduce."""
        for operand, load in self._partial_sums(loop):
            self._warn_of_partial_sum(loop, operand, load)

    def _warn_of_partial_sum(self, loop: acc.LoopOp, variable: SSAValue, load: Operation) -> None:
        name = variable_name(variable)
        self.messages.warn(
            source_loc(loop),
            f"iterations of this loop use the value of '{name}' while it is reduced: the value that each"
            " sees depends on how iterations are distributed",
            f"use '{name}' after the loop, or write 'loop seq'",
            access_notes(load, None),
        )

    def _keep_to_gang(self, loop: acc.LoopOp) -> None:
        """
        Drops the gang clause of a loop whose result each iteration of the enclosing loop uses: gangs cannot
        share it.
        """
        if Level.GANG not in loop_levels(loop):
            return
        for operand in loop.reduction_operands:
            reduction = operand.owner
            if not isinstance(reduction, acc.ReductionOp):
                continue
            outer = _iteration_of(reduction.var)
            if outer is None or not self.scalars.flow.is_live_after(loop, reduction.var):
                continue
            name = variable_name(reduction.var)
            self.messages.warn(
                source_loc(loop),
                f"every iteration of the loop around has its own '{name}' and uses this loop's result in it,"
                " so gangs cannot share this loop: its gang clause is ignored",
                "put gang on the outer loop, and worker or vector here",
                [(source_loc(outer), "the loop around is here")],
            )
            drop_gang(loop)
            return

    def reduce(self, loop: acc.LoopOp, decision: Decision) -> None:
        """Writes a reduction clause, with a remark naming the clause that the program could have."""
        operator, variable = decision.operator, self.scalars.variable(decision)
        assert operator is not None
        name, outer = variable_name(variable), variable.owner
        given = self.scalars.clauses.get(outer) if isinstance(outer, acc.ReductionOp) else None
        named = any(isinstance(op, acc.ReductionOp) for op in decision.uses)
        if given is None and not named:
            clause = f"reduction({operator}:{name})"
            self.messages.warn(
                source_loc(loop),
                f"generating implicit {clause}: every iteration updates '{name}'",
                f"write {clause}",
                access_notes(decision.read, decision.write),
                only_wall=True,
            )
        if given is not None and given != operator:
            self.messages.warn(
                source_loc(loop),
                f"'{name}' is reduced with '{given}', but updated with '{operator}' here",
                f"write reduction({operator}:{name})",
                access_notes(decision.read, decision.write),
            )
        self.reduced.add(variable)
        self.scalars.reduce(loop, decision, given or operator)

    def _ordered(self, loop: acc.LoopOp, decision: Decision, inside: bool) -> None:
        """
        Warns of a variable that only sequential iterations compute as C does, and makes the loop sequential
        where it may, unless a clause of an enclosing loop says otherwise.
        """
        variable = self.scalars.variable(decision)
        outer = variable.owner
        simple = all(
            isinstance(op, llvm.LoadOp | llvm.StoreOp | acc.ReductionOp) for op in decision.uses
        )
        if isinstance(outer, acc.ReductionOp) and outer in self.scalars.clauses and simple:
            load = use_of_partial_sum(decision.uses)
            if load is not None and not hands_on(loop):
                self._warn_of_partial_sum(loop, variable, load)
            self.scalars.reduce(loop, decision, self.scalars.clauses[outer])
            return
        if hands_on(loop) and not self.scalars.flow.is_live_after(loop, decision.pointer):
            return  # the scan gives each iteration what the ones before have made of it
        name = variable_name(variable)
        in_order = self._may_order(loop, decision, inside)
        if decision.kind is ScalarClass.CARRIED:
            what = "depend" if decision.certain else "may depend"
            text = f"iterations of this loop {what} on each other through the value of '{name}'"
            remedy = (
                f"write private({name}) if each iteration has a value of its own,"
                f" reduction(…:{name}) if they are combined, or 'loop seq'"
            )
        else:
            text = f"the value of '{name}' after this loop is that of the last iteration which assigns it"
            remedy = f"assign '{name}' in every iteration, or write 'loop seq'"
        if in_order:
            text += ", so it runs sequentially"
        self.messages.warn(
            source_loc(loop), text, remedy, access_notes(decision.read, decision.write)
        )
        if in_order:
            make_sequential(loop, f"the value of '{name}' is carried between iterations")

    def _may_order(self, loop: acc.LoopOp, decision: Decision, inside: bool) -> bool:
        """Whether to run the loop sequentially, which gives C's result, rather than as the program says."""
        if hands_on(loop):
            return False
        if isinstance(enclosing(loop, *COMPUTE_OPS), acc.KernelsOp):
            return True
        gang = Level.GANG in loop_levels(loop)
        wanted = self.scalars.flow.is_live_after(loop, decision.pointer)
        return inside and not gang and (decision.certain or wanted)


def _check_array_reductions(loop: acc.LoopOp) -> None:
    """
    Raises an error if threads of a gang share a loop that stores to the gang's copy of an array that its
    construct reduces: a clause on the loop gives each its own (OpenACC 3.4, 2.9.11).
    """
    construct = enclosing(loop, acc.ParallelOp)
    if construct is None or loop_levels(loop) == {Level.GANG} or not reduces_elements(construct):
        return
    sizes = [constant_value(v) for v in (*construct.num_workers, *construct.vector_length)]
    if sizes == [1, 1]:
        return
    for op in loop.walk():
        if isinstance(op, llvm.StoreOp) and root_of(op.ptr) in construct.reduction_operands:
            name = variable_name(root_of(op.ptr))
            raise error(
                source_loc(loop),
                f"threads of a gang share this loop, but not a gang's copy of '{name}', which is reduced",
                f"write the reduction clause for '{name}' on this loop, too, or 'loop seq'",
            )


def _is_alone(loop: acc.LoopOp) -> bool:
    """
    Whether one gang runs the whole construct once this loop is sequential: gangs share nothing else in it.
    """
    construct = enclosing(loop, *COMPUTE_OPS)
    if not isinstance(construct, acc.ParallelOp) or construct.num_gangs:
        return False
    return all(
        is_inside(other, loop) or other is loop or not is_parallel(other)
        for other in construct.walk()
        if isinstance(other, acc.LoopOp)
    )


def _iteration_of(variable: SSAValue) -> acc.LoopOp | None:
    """
    The parallel loop each of whose iterations has its own variable at this address; None if there is none.
    """
    owner = variable.owner
    if isinstance(owner, acc.PrivateOp):
        users = (use.operation for use in variable.uses)
        return next((op for op in users if isinstance(op, acc.LoopOp)), None)
    if not isinstance(owner, llvm.AllocaOp):
        return None
    parent = enclosing(owner, acc.LoopOp, *COMPUTE_OPS)
    return parent if isinstance(parent, acc.LoopOp) and is_parallel(parent) else None
