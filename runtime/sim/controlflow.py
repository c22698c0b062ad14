"""Generates code for structured branches and loops (see `codegen.py` for the scheme)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import scf
from xdsl.ir import Operation, Region, SSAValue

from .block_graphs import graph, take_turn, terminator
from .codegen import FunctionCompiler, Unsupported, Writer
from .liveness import Flag, Key


def code(f: FunctionCompiler) -> str:
    """The text of the function that `f` compiles."""
    args = [f.define(arg) for arg in f.body.blocks[0].args]
    if f.is_kernel:
        f.uniform.update(f.body.blocks[0].args)
    f.put(f"def {f.name}({', '.join(['rt', 't0', *args])}):")
    with f.indented():
        f.put("depth = rt.local.depth")
        if len(f.body.blocks) > 1:
            graph(f, f.body, returns=True)
        else:
            f.block(f.body.blocks[0])
    return "\n".join(f.lines)


def _branch(
    f: FunctionCompiler,
    region: Region | None,
    threads: str,
    positions: str,
    results: Sequence[SSAValue],
    written: Sequence[Key],
) -> tuple[list[str], dict[Key, str]]:
    """Writes one side of a branch; returns the names of its yielded values, and of the cells it may have
    written."""
    inner: dict[Key, str] = {}
    if region is None or not region.blocks:
        narrowed = f.narrowed(written, positions)
        return [], narrowed
    read = f.following(f.live.uses(region).read)
    needed = list(dict.fromkeys([*read, *written]))
    inner = f.narrowed(needed, positions)
    block = region.blocks[0]
    with f.renamed(inner, threads):
        last = terminator(block)
        f.block(block, last)
        yielded = [f.name_of(v) for v in last.operands] if results else []
        cells = {key: f.name_of(key) for key in written}
    return yielded, cells


def if_op(f: FunctionCompiler, op: Operation) -> None:
    """`scf.if`."""
    assert isinstance(op, scf.IfOp)
    sides: list[Region | None] = [op.true_region, op.false_region]
    if not op.false_region.blocks:
        sides[1] = None
    _choose(f, f.name_of(op.cond), sides, op.results)


def _choose(
    f: FunctionCompiler, condition: str, sides: list[Region | None], results: Sequence[SSAValue]
) -> None:
    regions = [side for side in sides if side is not None]
    written = f.following(f.live.uses(*regions).written)
    outer = f.threads
    t1, t2 = f.fresh("t"), f.fresh("t")
    p1, p2 = f.fresh("p"), f.fresh("p")
    f.put(f"{t1}, {p1}, {t2}, {p2} = split({outer}, {condition})")
    yields: list[list[str]] = []
    cells: list[dict[Key, str]] = []
    needs_other = bool(results or written)
    out = [f.fresh() for _ in [*results, *written]]
    for threads, positions, side, other in ((t1, p1, sides[0], t2), (t2, p2, sides[1], t1)):
        if side is None and not needs_other:
            yields.append([])
            cells.append({})
            continue
        f.put(f"if {threads} is not None:")
        with f.indented():
            y, c = _branch(f, side, threads, positions, results, written)
            yields.append(y)
            cells.append(c)
            values = [*y, *(c[key] for key in written)]
            if values:
                f.put(f"if {other} is None:")
                with f.indented():
                    for target, value in zip(out, values, strict=True):
                        f.put(f"{target} = {value}")
    if needs_other:
        firsts = [*yields[0], *(cells[0][key] for key in written)]
        seconds = [*yields[1], *(cells[1][key] for key in written)]
        f.put(f"if {t1} is not None and {t2} is not None:")
        with f.indented():
            for target, a, b in zip(out, firsts, seconds, strict=True):
                f.put(f"{target} = merge({outer}.n, {p1}, {a}, {p2}, {b})")
    for key, name in zip([*results, *written], out, strict=True):
        f.names[key] = name


def index_switch(f: FunctionCompiler, op: Operation) -> None:
    """`scf.index_switch`: a chain of branches."""
    assert isinstance(op, scf.IndexSwitchOp)
    if op.results:
        raise Unsupported("scf.index_switch with results")
    cases = list(op.cases.get_values())
    _switch(f, f.name_of(op.arg), list(zip(cases, op.case_regions, strict=True)), op.default_region)


def _switch(
    f: FunctionCompiler, value: str, cases: list[tuple[int, Region]], default: Region
) -> None:
    """
    Writes every case for its threads, one after the other; cells are merged after each, which is right
    because each thread takes only one case.
    """
    left = "True_"
    for number, region in cases:
        flag = f.fresh()
        f.put(f"{flag} = {value} == {number}")
        left = f"{left} & ~{flag}"
        _choose(f, flag, [region, None], ())
    flag = f.fresh()
    f.put(f"{flag} = {left}")
    _choose(f, flag, [default, None], ())


def _enter_loop(
    f: FunctionCompiler, regions: Sequence[Region], skip: Sequence[Key]
) -> tuple[dict[Key, str], list[Key]]:
    """Writes the names inside a loop of the values that are split; returns them, and the cells that the
    loop writes."""
    uses = f.live.uses(*regions)
    written = f.following(uses.written)
    keys = [k for k in f.following(uses.read) if k not in skip]
    keys = list(dict.fromkeys([*keys, *written]))
    inner = {key: f.fresh("w" if isinstance(key, Flag) else "v") for key in keys}
    for key, name in inner.items():
        f.put(f"{name} = {f.name_of(key)}")
    return inner, written


def _keep(
    f: FunctionCompiler,
    condition: str,
    threads: str,
    at: str,
    leaving: Sequence[tuple[str, str]],
    kept: Sequence[str],
    outer: str,
) -> None:
    """
    Writes the code by which threads leave the loop if the condition is false. `leaving`: (name that
    collects results, value); `kept`: names of values that are reduced to the remaining threads; `at` names
    positions among the outer threads.
    """
    stays = f.fresh("s")
    f.put(f"{stays} = stay({threads}, {condition})")
    f.put(f"if {stays} is False:")
    with f.indented():
        f.put("break")
    f.put(f"if {stays} is not True:")
    with f.indented():
        staying, left = f.fresh("p"), f.fresh("p")
        f.put(f"{threads}, {staying}, {left} = {stays}")
        for gather, value in leaving:
            f.put(f"{gather} = leave({gather}, {outer}.n, {at}, {left}, {value})")
        f.put(f"{at} = compose({at}, {staying})")
        names = list(dict.fromkeys(kept))
        if names:
            f.put(f"{', '.join(names)}, = takes({staying}, {', '.join(names)})")


def _gathered(
    f: FunctionCompiler, at: str, outer: str, results: Sequence[tuple[Key, str, str]]
) -> None:
    """Writes the values after a loop: those of the last threads, merged with those of threads that left
    before."""
    for key, gather, value in results:
        name = f.fresh()
        f.put(
            f"{name} = {value} if {at} is None else leave({gather}, {outer}.n, {at}, None, {value})"
        )
        f.names[key] = name


def for_op(f: FunctionCompiler, op: Operation) -> None:
    """`scf.for`."""
    assert isinstance(op, scf.ForOp)
    outer = f.threads
    block = op.body.blocks[0]
    iv, *carried_args = block.args
    bounds = (op.lb, op.ub, op.step)
    uniform = all(not f.follows(v) for v in bounds)
    threads, at = f.fresh("t"), f.fresh("p")
    f.put(f"{threads} = {outer}")
    f.put(f"{at} = None")
    inner, written = _enter_loop(f, [op.body], ())
    index, upper, step = f.fresh(), f.fresh(), f.fresh()
    for name, value in zip((index, upper, step), bounds, strict=True):
        f.put(f"{name} = {f.name_of(value)}")
    carried = [f.fresh() for _ in carried_args]
    for name, value in zip(carried, op.iter_args, strict=True):
        f.put(f"{name} = {f.name_of(value)}")
    gathers = [f.fresh("g") for _ in [*carried, *written]]
    for gather in gathers:
        f.put(f"{gather} = None")
    f.put("while True:")
    with f.indented():
        cells = [inner[key] for key in written]
        _keep(
            f,
            f"{index} < {upper}",
            threads,
            at,
            list(zip(gathers, [*carried, *cells], strict=True)),
            [*inner.values(), index, upper, step, *carried],
            outer,
        )
        take_turn(f, threads, op)
        with f.renamed(inner, threads):
            f.names[iv] = index
            if uniform:
                f.uniform.add(iv)
            f.names.update(zip(carried_args, carried, strict=True))
            last = terminator(block)
            f.block(block, last)
            nexts = [f.name_of(v) for v in last.operands]
            after = {key: f.name_of(key) for key in written}
        _move(f, carried, nexts)
        _move(f, cells, [after[key] for key in written])
        f.put(f"{index} = {index} + {step}")
    keys: list[Key] = [*op.results, *written]
    _gathered(f, at, outer, list(zip(keys, gathers, [*carried, *cells], strict=True)))


def _move(f: FunctionCompiler, targets: Sequence[str], sources: Sequence[str]) -> None:
    pairs = [(t, s) for t, s in zip(targets, sources, strict=True) if t != s]
    if pairs:
        f.put(f"{', '.join(t for t, _ in pairs)} = {', '.join(s for _, s in pairs)}")


def while_op(f: FunctionCompiler, op: Operation) -> None:
    """`scf.while`."""
    assert isinstance(op, scf.WhileOp)
    outer = f.threads
    before, after = op.before_region.blocks[0], op.after_region.blocks[0]
    threads, at, turns = f.fresh("t"), f.fresh("p"), f.fresh("n")
    f.put(f"{threads} = {outer}")
    f.put(f"{at} = None")
    f.put(f"{turns} = 0")
    inner, written = _enter_loop(f, [op.before_region, op.after_region], ())
    carried = [f.fresh() for _ in before.args]
    for name, value in zip(carried, op.operands, strict=True):
        f.put(f"{name} = {f.name_of(value)}")
    passed = [f.fresh() for _ in after.args]
    gathers = [f.fresh("g") for _ in [*passed, *written]]
    for gather in gathers:
        f.put(f"{gather} = None")
    f.put("while True:")
    with f.indented():
        cells = [inner[key] for key in written]
        with f.renamed(inner, threads):
            f.names.update(zip(before.args, carried, strict=True))
            condition = cast(scf.ConditionOp, terminator(before))
            f.block(before, condition)
            values = [f.name_of(v) for v in condition.operands[1:]]
            test = f.name_of(condition.operands[0])
            changed = [f.name_of(key) for key in written]
        for name, value in zip(passed, values, strict=True):
            f.put(f"{name} = {value}")
        _move(f, cells, changed)
        _keep(
            f,
            test,
            threads,
            at,
            list(zip(gathers, [*passed, *cells], strict=True)),
            [*inner.values(), *passed],
            outer,
        )
        take_turn(f, threads, op)
        f.put(f"{turns} += 1")
        f.put(f"if {turns} > rt.most_turns: rt.endless({threads}, {f.place(op)})")
        with f.renamed(inner, threads):
            f.names.update(zip(after.args, passed, strict=True))
            last = terminator(after)
            f.block(after, last)
            nexts = [f.name_of(v) for v in last.operands]
            changed = [f.name_of(key) for key in written]
        _move(f, carried, nexts)
        _move(f, cells, changed)
    keys: list[Key] = [*op.results, *written]
    _gathered(f, at, outer, list(zip(keys, gathers, [*passed, *cells], strict=True)))


def execute_region(f: FunctionCompiler, op: Operation) -> None:
    """`scf.execute_region`."""
    region = op.regions[0]
    if len(region.blocks) > 1:
        graph(f, region, returns=False, results=op.results)
        return
    block = region.blocks[0]
    last = terminator(block)
    f.block(block, last)
    for result, value in zip(op.results, last.operands, strict=True):
        f.names[result] = f.name_of(value)
        if not f.follows(value):
            f.uniform.add(result)


def return_op(f: FunctionCompiler, op: Operation) -> None:
    """The return of a function of one block."""
    f.put("rt.local.pop(depth)")
    f.put(f"return {f.name_of(op.operands[0]) if op.operands else 'None'}")


STRUCTURED: dict[str, Writer] = {
    "scf.if": if_op,
    "scf.for": for_op,
    "scf.while": while_op,
    "scf.execute_region": execute_region,
    "scf.index_switch": index_switch,
    "gpu.return": return_op,
    "llvm.return": return_op,
}
