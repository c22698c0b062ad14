"""OpenMP's `parallel` and `task` → `accx.team` and `accx.task`; other directives have become plain C
before."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import Block

from ...dialects.accx_teams import TaskOp, TeamOp
from ..base.diagnostics import error
from ..c import ast as c
from ..c.tree import from_outside
from . import bodies
from .function import FunctionState


def emit(fn: FunctionState, s: c.TeamStmt) -> None:
    """Emits the region, with its own copies of the variables in `s.copies`, initialised with their current
    values."""
    check_listed(s)
    fn.b.at(s.loc)
    values = [fn.rvalue(value) for _, value in s.copies]
    numbers = [fn.integer(number, i32) for number in (s.threads, s.several) if number is not None]
    fn.b.at(s.loc)
    block = Block()
    with fn.region(block, flat=False) as region, fn.construct(s.name, "team", s.loc, block):
        for (decl, _), value in zip(s.copies, values, strict=True):
            if fn.in_memory(decl):
                fn.b.store(value, fn.allocate(decl))
            else:
                fn.values[decl] = value
        bodies.emit_body(fn, s.body)
    fn.b.at(s.loc)
    if s.threads is None:
        fn.b.add(TaskOp(numbers[0], region))
        return
    text = f"{s.loc.file}:{s.loc.line}".encode() + b"\0"
    place = fn.symbol_address(fn.module.string(text), "place")
    fn.b.add(TeamOp(numbers[0], numbers[1], place, region))


def check_listed(s: c.TeamStmt) -> None:
    """Raises `CompileError` for a variable from outside that no clause names, under `default(none)`."""
    if s.listed is None:
        return
    for ref in from_outside(s):
        decl = ref.decl
        static = decl.storage is c.Storage.STATIC_LOCAL
        made = decl.name.startswith("__omp_")
        if made or static or decl.name in s.listed or decl.qual.const or decl.is_thread_private:
            continue
        raise error(
            ref.loc,
            f"'{decl.name}' is in no clause of '{s.name}', which has default(none)",
            f"add shared({decl.name}), private({decl.name}) or firstprivate({decl.name})",
            [(s.loc, "the construct is here")],
        )
