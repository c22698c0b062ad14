"""Generates code for structured branches and loops (see `codegen.py` for the scheme)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue

from .block_graphs import graph, take_turn, terminator
from .codegen import FunctionCompiler, Unsupported, Writer
from .liveness import Key


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
) -> list[str]:
    """Writes one side of a branch, which may be missing; returns the names of its yielded values, then those
    of the cells `written` by either side."""
    if region is None:
        return list(f.narrowed(written, positions).values())
    read = f.following(f.live.uses(region).read)
    needed = list(dict.fromkeys([*read, *written]))
    inner = f.narrowed(needed, positions)
    block = region.blocks[0]
    with f.renamed(inner, threads):
        last = terminator(block)
        f.block(block, last)
        return [f.name_of(key) for key in [*(last.operands if results else ()), *written]]


def if_op(f: FunctionCompiler, op: Operation) -> None:
    """`scf.if`."""
    assert isinstance(op, scf.IfOp)
    other = op.false_region if op.false_region.blocks else None
    _choose(f, f.name_of(op.cond), [op.true_region, other], op.results)


def _choose(
    f: FunctionCompiler, condition: str, sides: list[Region | None], results: Sequence[SSAValue]
) -> None:
    regions = [side for side in sides if side is not None]
    written = f.following(f.live.uses(*regions).written)
    outer = f.threads
    t1, t2 = f.fresh("t"), f.fresh("t")
    p1, p2 = f.fresh("p"), f.fresh("p")
    f.put(f"{t1}, {p1}, {t2}, {p2} = split({outer}, {condition})")
    found: list[list[str]] = []
    out = [f.fresh() for _ in [*results, *written]]
    for threads, positions, side, other in ((t1, p1, sides[0], t2), (t2, p2, sides[1], t1)):
        if side is None and not out:
            continue
        f.put(f"if {threads} is not None:")
        with f.indented():
            values = _branch(f, side, threads, positions, results, written)
            found.append(values)
            if values:
                f.put(f"if {other} is None:")
                with f.indented():
                    for target, value in zip(out, values, strict=True):
                        f.put(f"{target} = {value}")
    if out:
        f.put(f"if {t1} is not None and {t2} is not None:")
        with f.indented():
            for target, a, b in zip(out, *found, strict=True):
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


def _copies(f: FunctionCompiler, values: Sequence[Key]) -> list[str]:
    """Writes variables that begin with the values; returns their names."""
    names = [f.fresh() for _ in values]
    for name, value in zip(names, values, strict=True):
        f.put(f"{name} = {f.name_of(value)}")
    return names


class _Loop:
    """
    A loop whose code is being written: `threads` names those that are in it, which are at `at` among the
    `outer` ones; `inner` has the names in it of the values that are split; `cells` are those of the cells
    that it writes (`written`).
    """

    def __init__(self, f: FunctionCompiler, regions: Sequence[Region]):
        self.f = f
        self.outer = f.threads
        self.threads, self.at = f.fresh("t"), f.fresh("p")
        f.put(f"{self.threads} = {self.outer}")
        f.put(f"{self.at} = None")
        uses = f.live.uses(*regions)
        self.written = f.following(uses.written)
        keys = list(dict.fromkeys([*f.following(uses.read), *self.written]))
        self.inner = {key: f.fresh_for(key) for key in keys}
        for key, name in self.inner.items():
            f.put(f"{name} = {f.name_of(key)}")
        self.cells = [self.inner[key] for key in self.written]
        self._left: list[str] = []
        """The values that threads have when they leave: names of results, and of cells."""
        self._gathers: list[str] = []
        """The names that collect them."""

    def begin(self, results: Sequence[str]) -> None:
        """Writes the head of the loop; `results` are the names of its values in the last iteration."""
        self._left = [*results, *self.cells]
        self._gathers = [self.f.fresh("g") for _ in self._left]
        for gather in self._gathers:
            self.f.put(f"{gather} = None")
        self.f.put("while True:")

    @contextmanager
    def body(self, block: Block, args: Sequence[str]) -> Generator[Operation]:
        """Writes a block of the loop, whose arguments have these names. In the context, names are those at
        its end, the given operation; then the cells are as the block leaves them."""
        f = self.f
        with f.renamed(self.inner, self.threads):
            f.names.update(zip(block.args, args, strict=True))
            last = terminator(block)
            f.block(block, last)
            yield last
            changed = [f.name_of(key) for key in self.written]
        _move(f, self.cells, changed)

    def keep(self, condition: str, kept: Sequence[str]) -> None:
        """
        Writes the code by which threads leave the loop if the condition is false; `kept` are the names of
        further values that are reduced to the remaining threads.
        """
        f = self.f
        stays = f.fresh("s")
        f.put(f"{stays} = stay({self.threads}, {condition})")
        f.put(f"if {stays} is False:")
        with f.indented():
            f.put("break")
        f.put(f"if {stays} is not True:")
        with f.indented():
            staying, left = f.fresh("p"), f.fresh("p")
            f.put(f"{self.threads}, {staying}, {left} = {stays}")
            for gather, value in zip(self._gathers, self._left, strict=True):
                f.put(f"{gather} = leave({gather}, {self.outer}.n, {self.at}, {left}, {value})")
            f.put(f"{self.at} = compose({self.at}, {staying})")
            names = ", ".join(dict.fromkeys([*self.inner.values(), *kept]))
            if names:
                f.put(f"{names}, = takes({staying}, {names})")

    def end(self, results: Sequence[Key]) -> None:
        """Writes the values after the loop: those of the last threads, merged with those of threads that
        left before."""
        f, at = self.f, self.at
        keys = [*results, *self.written]
        for key, gather, value in zip(keys, self._gathers, self._left, strict=True):
            last = f"leave({gather}, {self.outer}.n, {at}, None, {value})"
            name = f.fresh()
            f.put(f"{name} = {value} if {at} is None else {last}")
            f.names[key] = name


def _move(f: FunctionCompiler, targets: Sequence[str], sources: Sequence[str]) -> None:
    pairs = [(t, s) for t, s in zip(targets, sources, strict=True) if t != s]
    if pairs:
        f.put(f"{', '.join(t for t, _ in pairs)} = {', '.join(s for _, s in pairs)}")


def for_op(f: FunctionCompiler, op: Operation) -> None:
    """`scf.for`."""
    assert isinstance(op, scf.ForOp)
    block = op.body.blocks[0]
    bounds = (op.lb, op.ub, op.step)
    f.derive(block.args[0], bounds)
    loop = _Loop(f, [op.body])
    index, upper, step = _copies(f, bounds)
    carried = _copies(f, op.iter_args)
    loop.begin(carried)
    with f.indented():
        loop.keep(f"{index} < {upper}", [index, upper, step, *carried])
        take_turn(f, loop.threads, op)
        with loop.body(block, [index, *carried]) as last:
            nexts = [f.name_of(v) for v in last.operands]
        _move(f, carried, nexts)
        f.put(f"{index} = {index} + {step}")
    loop.end(op.results)


def while_op(f: FunctionCompiler, op: Operation) -> None:
    """`scf.while`."""
    assert isinstance(op, scf.WhileOp)
    before, after = op.before_region.blocks[0], op.after_region.blocks[0]
    turns = f.fresh("n")
    f.put(f"{turns} = 0")
    loop = _Loop(f, [op.before_region, op.after_region])
    carried = _copies(f, op.operands)
    passed = [f.fresh() for _ in after.args]
    loop.begin(passed)
    with f.indented():
        with loop.body(before, carried) as condition:
            test = f.name_of(condition.operands[0])
            for name, value in zip(passed, condition.operands[1:], strict=True):
                f.put(f"{name} = {f.name_of(value)}")
        loop.keep(test, passed)
        take_turn(f, loop.threads, op)
        f.put(f"{turns} += 1")
        f.put(f"if {turns} > rt.most_turns: rt.endless({loop.threads}, {f.place(op)})")
        with loop.body(after, passed) as last:
            nexts = [f.name_of(v) for v in last.operands]
        _move(f, carried, nexts)
    loop.end(op.results)


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
        f.derive(result, [value])


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
