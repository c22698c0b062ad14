"""
Inline seq routines with `cache` directives into the loops of compute constructs that call them (OpenACC
3.4, 2.10 and 2.15.1).

One thread runs a seq routine and has nothing to share. The loop that calls it has a thread for each
iteration, whose sections overlap.

Takes:  acc level, after every routine has got its level.
Leaves: in place of each call of such a routine inside a loop of a compute construct, the routine's body,
        recursively for the calls in it. Routines that were inlined lose their directives, and
        `accx.remarks` gives the lines of the calls. `accx.why` of the other routines' directives gives the
        reason why they were not: recursion, another function bound to the routine, a return from the
        middle, or no such call. The pass does nothing for the host, which does not cache.
Fails:  never.

Before:
  llvm.func @window(%i: i32, %r: !llvm.ptr) -> i32 {
    %r_view = acc.cache varPtr(%r) bounds(%bounds) …
    …
    llvm.return %sum : i32
  }
  acc.parallel dataOperands(%a) {
    acc.loop control(%i : i32) = … {
      %sum = llvm.call @window(%i, %a) : (i32, !llvm.ptr) -> i32
After:
  acc.parallel dataOperands(%a) {
    acc.loop control(%i : i32) = … {
      %a_view = acc.cache varPtr(%a) bounds(%bounds) …
      …
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..dialects.accx import WHY
from .decisions.levels import Level
from .ir.data.cached_sections import drop
from .ir.ops.acc_ops import COMPUTE_OPS, callee_of, enclosing, loops_around, source_loc
from .ir.ops.inlining import defined_functions, inline_call, recursive_functions
from .ir.ops.levels import bound_symbol, routine_level
from .ir.ops.machine import machine_of
from .ir.ops.notes import note


@dataclass
class _Routine:
    """
    A seq routine with directives: its function, the lines where it was inlined, and the reason against
    inlining.
    """

    function: llvm.FuncOp
    directives: list[acc.CacheOp]
    lines: list[int]
    why_not: str | None


def _routines(module: ModuleOp) -> dict[str, _Routine]:
    """The seq routines with directives, by name."""
    functions = defined_functions(module)
    routines = [op for op in module.body.block.ops if isinstance(op, acc.RoutineOp)]
    recursive = recursive_functions(functions) if routines else set[str]()
    found: dict[str, _Routine] = {}
    for routine in routines:
        name = routine.func_name.string_value()
        function = functions.get(name)
        if function is None or routine_level(routine) is not Level.SEQ:
            continue
        directives = [op for op in function.walk() if isinstance(op, acc.CacheOp)]
        if not directives or any(isinstance(op, COMPUTE_OPS) for op in function.walk()):
            continue
        why_not = None
        if bound_symbol(routine) is not None:
            why_not = "other code is bound to the routine"
        elif len(function.body.blocks) > 1:
            why_not = "the routine returns from the middle of its body: let it return at its end"
        elif name in recursive:
            why_not = "the routine is recursive"
        found[name] = _Routine(function, directives, [], why_not)
    return found


def _loop_of_construct(op: Operation) -> acc.LoopOp | None:
    """The innermost loop around `op`, if both are in a compute construct."""
    construct = enclosing(op, *COMPUTE_OPS)
    return None if construct is None else next(loops_around(op, construct), None)


def _explain(routine: _Routine) -> None:
    """Adds the remark on the directives of a routine."""
    if not routine.lines:
        why = routine.why_not or "no loop of a compute construct calls it"
        for op in routine.directives:
            op.attributes[WHY] = StringAttr(why)
        return
    lines = ", ".join(str(line) for line in sorted(set(routine.lines)))
    texts: list[tuple[Operation, str]] = []
    for op in routine.directives:
        name = "it" if op.var_name is None else op.var_name.data
        where = f"inlined into the loops that call it, in line {lines}"
        texts.append((op, f"cache({name}) of a seq routine: {where}"))
    note(routine.function, texts)
    for op in reversed(routine.directives):
        drop(op)


@dataclass(frozen=True)
class InlineCachedRoutinesPass(ModulePass):
    """See the contract at the top of this file."""

    name = "inline-cached-routines"

    target: Literal["nvptx", "host"] | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        # Accesses in constructs are checked on the host too.
        target = "nvptx" if machine.check_cache else self.target or machine.target
        if target == "host" or not any(isinstance(o, acc.CacheOp) for o in op.walk()):
            return
        routines = _routines(op)
        work = [inner for inner in op.walk() if isinstance(inner, llvm.CallOp)]
        while work:
            call = work.pop()
            routine = routines.get(callee_of(call) or "")
            loop = _loop_of_construct(call)
            if routine is None or loop is None or routine.why_not is not None:
                continue
            routine.lines.append(source_loc(call).line)
            made = inline_call(call, routine.function, loop.region.blocks[0])
            work += [o for each in made for o in each.walk() if isinstance(o, llvm.CallOp)]
        for routine in routines.values():
            _explain(routine)
