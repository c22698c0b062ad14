"""Code for branches, loops and control-flow graphs (see `codegen.py` for the scheme)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import cf, llvm, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import llvm_ext
from ...dialects.dense import integers
from .codegen import FunctionCompiler, Unsupported
from .liveness import Flag, Key, reverse_postorder


def _terminator(block: Block) -> Operation:
    last = block.last_op
    assert last is not None
    return last


def _branch(
    f: FunctionCompiler,
    region: Region | None,
    threads: str,
    positions: str,
    results: Sequence[SSAValue],
    written: Sequence[Key],
) -> tuple[list[str], dict[Key, str]]:
    """One side of a branch: the names of what it yields, and of the cells it may have written."""
    inner: dict[Key, str] = {}
    if region is None or not region.blocks:
        narrowed = f.narrowed(written, positions)
        return [], narrowed
    read = f.following(f.live.uses(region).read)
    needed = list(dict.fromkeys([*read, *written]))
    inner = f.narrowed(needed, positions)
    block = region.blocks[0]
    with f.renamed(inner, threads):
        last = _terminator(block)
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
    Every case on its threads, in turn; cells are merged back after each, which is right because
    the threads of the cases are different ones.
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
    """Names inside a loop for what follows the threads; and the cells the loop writes."""
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
    Leaves the loop where the condition does not hold. `leaving`: (where results gather, value);
    `kept`: names that must shrink with the threads; `at` names positions among the outer threads.
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
    """After a loop: each key's value is what the last threads have, put with those before."""
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
        with f.renamed(inner, threads):
            f.names[iv] = index
            if uniform:
                f.uniform.add(iv)
            f.names.update(zip(carried_args, carried, strict=True))
            last = _terminator(block)
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
            condition = cast(scf.ConditionOp, _terminator(before))
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
        f.put(f"{turns} += 1")
        f.put(f"if {turns} > rt.patience: rt.endless({threads}, {f.place(op)})")
        with f.renamed(inner, threads):
            f.names.update(zip(after.args, passed, strict=True))
            last = _terminator(after)
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
    last = _terminator(block)
    f.block(block, last)
    for result, value in zip(op.results, last.operands, strict=True):
        f.names[result] = f.name_of(value)
        if not f.follows(value):
            f.uniform.add(result)


class _Graph:
    """A control-flow graph being written: which values cross blocks, and their slots."""

    def __init__(self, f: FunctionCompiler, region: Region, results: Sequence[SSAValue]):
        self.f = f
        self.outer = f.threads
        self.order = reverse_postorder(region)
        self.number = {block: i for i, block in enumerate(self.order)}
        self.results = results
        defined: dict[Key, Block] = {}
        uses = {block: f.live.block_uses(block) for block in self.order}
        for block in self.order:
            defined.update(dict.fromkeys(block.args, block))
            for op in block.ops:
                for result in op.results:
                    defined[result] = block
                    if result in f.live.cells:
                        defined[Flag(result)] = block
        self.uses = uses
        self.slots: dict[Key, str] = {}
        for block in self.order:
            for key in uses[block].read:
                if key in defined and key not in self.slots:
                    self.slots[key] = f.fresh("x")
            for arg in block.args:
                if block is not self.order[0]:
                    self.slots.setdefault(arg, f.fresh("x"))
        self.defined = defined
        self.outside_written = [
            key
            for key in dict.fromkeys(k for block in self.order for k in uses[block].written)
            if key not in defined and key in f.names and f.follows(key)
        ]
        for key in self.outside_written:
            self.slots[key] = f.fresh("x")
        self.result_slots = [f.fresh("x") for _ in results]
        self.pending = f.fresh("q")


def graph(
    f: FunctionCompiler, region: Region, *, returns: bool, results: Sequence[SSAValue] = ()
) -> None:
    """
    Blocks with branches between them. Values that cross blocks live in slots for all threads of the
    graph; each turn of the loop runs the lowest block at which threads wait, on those threads.
    """
    g = _Graph(f, region, results)
    returned = f.fresh("r")
    entry = g.order[0]
    for key, slot in g.slots.items():
        start = f.names.get(key) if key in g.outside_written or key in entry.args else None
        f.put(f"{slot} = {start or 'None'}")
    for slot in g.result_slots:
        f.put(f"{slot} = None")
    if returns:
        f.put(f"{returned} = None")
    f.put(f"{g.pending} = Pending({g.outer}.n, {len(g.order)})")
    f.put(f"{g.pending}.add(0, None)")
    f.put("while True:")
    number, positions, threads = f.fresh("turn"), f.fresh("p"), f.fresh("t")
    with f.indented():
        f.put(f"{number}, {positions} = {g.pending}.next()")
        f.put(f"if {number} < 0: break")
        f.put(
            f"if {g.pending}.turns > rt.patience: rt.endless({g.outer}, {f.place(_terminator(entry))})"
        )
        f.put(f"{threads} = {g.outer}.sub({positions})")
        for index, block in enumerate(g.order):
            f.put(f"{'if' if index == 0 else 'elif'} {number} == {index}:")
            with f.indented():
                _graph_block(g, block, threads, positions, returned)
    if returns:
        f.put("rt.local.pop(depth)")
        f.put(f"return {returned}")
        return
    for key in g.outside_written:
        f.names[key] = g.slots[key]
    for result, slot in zip(results, g.result_slots, strict=True):
        f.names[result] = slot


def _graph_block(g: _Graph, block: Block, threads: str, positions: str, returned: str) -> None:
    f = g.f
    uses = g.uses[block]
    outside = [k for k in f.following(uses.read) if k not in g.slots]
    inner = f.narrowed(outside, positions)
    crossing: list[Key] = [
        k
        for k in [*block.args, *uses.read]
        if k in g.slots and not (k in f.uniform and k in f.names)
    ]
    crossing = [k for k in dict.fromkeys(crossing) if not _is_constant(f, k)]
    before = {key: f.names[key] for key in crossing if key in f.names}
    for key in crossing:
        name = f.fresh("w" if isinstance(key, Flag) else "v")
        f.put(f"{name} = take({positions}, {g.slots[key]})")
        f.names[key] = name
    with f.renamed(inner, threads):
        last = _terminator(block)
        f.block(block, last)
        own = [
            key
            for key in g.slots
            if (g.defined.get(key) is block and key not in block.args) or key in uses.written
        ]
        for key in own:
            if key not in f.names or (key in f.uniform) or _is_constant(f, key):
                continue
            f.put(
                f"{g.slots[key]} = put({g.outer}.n, {g.slots[key]}, {positions}, {f.name_of(key)})"
            )
        _leave_block(g, last, threads, positions, returned)
    for key in g.outside_written:
        if key in before:
            f.names[key] = before[key]


def _is_constant(f: FunctionCompiler, key: Key) -> bool:
    return f.names.get(key, "").startswith("K")


def _numbers(attr: DenseIntOrFPElementsAttr) -> list[int]:
    """The elements of a vector of integers."""
    return [int(cast(int, value)) for value in attr.get_values()]


def _leave_block(g: _Graph, last: Operation, threads: str, positions: str, returned: str) -> None:
    f = g.f
    match last:
        case cf.BranchOp() | llvm.BrOp():
            _jump(g, last.successors[0], last.operands, positions, "None")
        case cf.ConditionalBranchOp():
            yes = last.then_block, last.then_arguments
            no = last.else_block, last.else_arguments
            _fork(g, threads, positions, f.name_of(last.cond), yes, no)
        case llvm.CondBrOp():
            yes = last.successors[0], last.then_arguments
            no = last.successors[1], last.else_arguments
            _fork(g, threads, positions, f.name_of(last.operands[0]), yes, no)
        case cf.SwitchOp():
            values = [] if last.case_values is None else _numbers(last.case_values)
            sizes = integers(last.case_operand_segments)
            operands = iter(last.case_operands)
            groups = [[next(operands) for _ in range(size)] for size in sizes]
            cases = list(zip(values, last.case_blocks, groups, strict=True))
            _many(
                g, last.flag, cases, (last.default_block, last.default_operands), threads, positions
            )
        case llvm_ext.SwitchOp():
            cases = [(n, b, list(o)) for n, b, o in last.cases]
            default = (last.default_destination, last.default_operands)
            _many(g, last.value, cases, default, threads, positions)
        case scf.YieldOp():
            for slot, value in zip(g.result_slots, last.operands, strict=True):
                f.put(f"{slot} = put({g.outer}.n, {slot}, {positions}, {f.name_of(value)})")
        case _ if last.name in ("llvm.return", "gpu.return"):
            if last.operands:
                value = f.name_of(last.operands[0])
                f.put(f"{returned} = put({g.outer}.n, {returned}, {positions}, {value})")
            if f.is_kernel:
                f.put(f"rt.retire({threads})")
        case _ if last.name == "llvm.unreachable":
            f.put(f"rt.retire({threads})")
        case _:
            raise Unsupported(f"terminator '{last.name}'")


def _jump(
    g: _Graph, target: Block, operands: Sequence[SSAValue], positions: str, inner: str
) -> None:
    """Threads at `inner` among those of the block go to `target` with arguments."""
    f = g.f
    where = positions if inner == "None" else f"compose({positions}, {inner})"
    place = f.fresh("p")
    f.put(f"{place} = {where}")
    values = [f.fresh() for _ in operands]
    for name, operand in zip(values, operands, strict=True):
        f.put(f"{name} = take({inner}, {f.name_of(operand)})")
    for arg, name in zip(target.args, values, strict=True):
        f.put(f"{g.slots[arg]} = put({g.outer}.n, {g.slots[arg]}, {place}, {name})")
    f.put(f"{g.pending}.add({g.number[target]}, {place})")


Target = tuple[Block, Sequence[SSAValue]]


def _fork(g: _Graph, threads: str, positions: str, condition: str, yes: Target, no: Target) -> None:
    f = g.f
    t1, p1, t2, p2 = f.fresh("t"), f.fresh("p"), f.fresh("t"), f.fresh("p")
    f.put(f"{t1}, {p1}, {t2}, {p2} = split({threads}, {condition})")
    for side, inner, (target, operands) in ((t1, p1, yes), (t2, p2, no)):
        f.put(f"if {side} is not None:")
        with f.indented():
            _jump(g, target, operands, positions, inner)


def _many(
    g: _Graph,
    flag: SSAValue,
    cases: Sequence[tuple[int, Block, Sequence[SSAValue]]],
    default: Target,
    threads: str,
    positions: str,
) -> None:
    f = g.f
    left = f.fresh()
    f.put(f"{left} = True_")
    for number, block, operands in cases:
        hit = f.fresh()
        f.put(f"{hit} = {f.name_of(flag)} == {number}")
        f.put(f"{left} = {left} & ~{hit}")
        side, inner = f.fresh("t"), f.fresh("p")
        f.put(f"{side}, {inner} = split({threads}, {hit})[:2]")
        f.put(f"if {side} is not None:")
        with f.indented():
            _jump(g, block, operands, positions, inner)
    side, inner = f.fresh("t"), f.fresh("p")
    f.put(f"{side}, {inner} = split({threads}, {left})[:2]")
    f.put(f"if {side} is not None:")
    with f.indented():
        _jump(g, *default, positions, inner)


def return_op(f: FunctionCompiler, op: Operation) -> None:
    """The return of a function of one block."""
    f.put("rt.local.pop(depth)")
    f.put(f"return {f.name_of(op.operands[0]) if op.operands else 'None'}")


STRUCTURED: dict[str, Callable[[FunctionCompiler, Operation], None]] = {
    "scf.if": if_op,
    "scf.for": for_op,
    "scf.while": while_op,
    "scf.execute_region": execute_region,
    "scf.index_switch": index_switch,
    "gpu.return": return_op,
    "llvm.return": return_op,
}
