"""
Generates code for regions of several blocks with branches between them.

Threads wait at blocks; each turn runs the first block (in reverse postorder) at which some wait, so threads
that took different branches meet again where the branches join. See `codegen.py` for the scheme.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import cf, llvm, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import llvm_ext
from ...dialects.dense import integers
from .codegen import FunctionCompiler, Unsupported
from .liveness import Flag, Key, reverse_postorder
from .patience import BETWEEN


def terminator(block: Block) -> Operation:
    """The last operation of a block, which every block of a kernel has."""
    last = block.last_op
    assert last is not None
    return last


def take_turn(f: FunctionCompiler, threads: str, op: Operation) -> None:
    """Writes the code for a turn of a loop, which checks the time limit from time to time."""
    f.put("rt.turns += 1")
    f.put(f"if not rt.turns & {BETWEEN - 1}: rt.look({threads}, {f.place(op)})")


class _Graph:
    """A control-flow graph whose code is being written: the values that cross blocks, and their slots."""

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
    Writes the code of blocks with branches between them. Values that cross blocks are kept in slots for all
    threads of the graph; each turn of a loop runs the lowest block at which threads wait, on those threads.
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
            f"if {g.pending}.turns > rt.most_turns: rt.endless({g.outer}, {f.place(terminator(entry))})"
        )
        take_turn(f, g.outer, terminator(entry))
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
        name = f.fresh_for(key)
        f.put(f"{name} = take({positions}, {g.slots[key]})")
        f.names[key] = name
    with f.renamed(inner, threads):
        last = terminator(block)
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
    """Writes the jump of the threads at `inner`, among those of the block, to `target` with arguments."""
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
        _jump_if(g, threads, positions, hit, (block, operands))
    _jump_if(g, threads, positions, left, default)


def _jump_if(g: _Graph, threads: str, positions: str, condition: str, target: Target) -> None:
    f = g.f
    side, inner = f.fresh("t"), f.fresh("p")
    f.put(f"{side}, {inner} = split({threads}, {condition})[:2]")
    f.put(f"if {side} is not None:")
    with f.indented():
        _jump(g, *target, positions, inner)
