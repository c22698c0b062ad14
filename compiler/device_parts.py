"""
Splits a program into parts for separate compilation: a part is a module with a few consecutive functions
that have compute constructs, and with all that the passes from the data level to the gpu level need. The
result of a part is plain data, which is kept by the content of the module, so that an edit of a function
compiles its part and those whose lines it moves.

A part has the functions, copies of the functions, variables and recipes that its constructs name, and
declarations of the functions that it only calls. What passes decide about a construct follows from these
alone.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects import acc, arith, gpu, llvm, scf
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, Region

from ..dialects.accx import MESSAGES, SITES
from ..dialects.nvvm import ADDRESS_SPACE_SHARED
from ..passes.ir.kernels.outline import symbol_table
from ..passes.ir.ops.acc_ops import RecipeOp
from ..passes.ir.ops.levels import bound_symbol
from ..passes.schedule_loops.schedule_choices import construct_keys
from .backend.cache import DiskCache, content_key
from .base.options import CompileOptions
from .base.phases import Phase, apart, phase
from .fingerprint import compiler_fingerprint
from .ir.flat import content, flatten
from .llvmir.printer import print_symbols
from .llvmir.symbols import SymbolText
from .pipeline import run_to_stage
from .register_pressure import SideBySide, limits_within

_DEVICE_STAGES = ("scheduled", "transformed", "gpu")


@dataclass(frozen=True)
class DeviceTexts:
    """
    Device code in the order of a module: variables in shared memory; kernels with the symbols that they are
    the first to name; the symbols after them at the gpu level; and those that are declared later.
    """

    front: tuple[SymbolText, ...]
    kernels: tuple[SymbolText, ...]
    behind: tuple[SymbolText, ...]
    later: tuple[SymbolText, ...]


@dataclass(frozen=True)
class PartResult:
    """
    The result of a part. `functions` are at the gpu level (`ir/flat.py`); `declared` are the runtime
    functions that it calls, each with the stage at which the first call was inserted. `sites` and
    `messages` are those of the part's module.
    """

    functions: tuple[bytes, ...]
    declared: tuple[tuple[str, bytes], ...]
    sites: tuple[Attribute, ...]
    messages: tuple[Attribute, ...]
    device: DeviceTexts
    side_by_side: SideBySide
    phases: Phase


class Parts:
    """The parts of a module at stage `data`. `functions` are those with constructs, in the module's
    order."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.functions: list[llvm.FuncOp] = []
        sizes: list[int] = []
        self.are_known = True
        """Whether parts can be made: the module contains only functions, variables, recipes and
        routines."""
        for op in module.body.block.ops:
            if isinstance(op, llvm.FuncOp):
                size = _size(op)
                if size:
                    self.functions.append(op)
                    sizes.append(size)
            elif not isinstance(op, llvm.GlobalOp | acc.RoutineOp | RecipeOp):
                self.are_known = False
        self.runs = _runs(sizes)
        """The functions of each part, by number."""
        self.sizes = [sum(sizes[i] for i in run) for run in self.runs]
        """The estimated work for each part, in operations."""
        self._symbols = symbol_table(module)
        self._bound = {
            op.func_name.string_value(): bound_symbol(op)
            for op in module.body.block.ops
            if isinstance(op, acc.RoutineOp)
        }
        self._ops = list(module.body.block.ops)
        self._declarations: dict[Operation, Operation] = {
            op: op.clone_without_regions() for op in self.functions
        }

    def have_own_places(self) -> bool:
        """Whether the constructs of different functions have different places (file name and line), so that
        limits by place are unique."""
        places = [
            {key.partition("#")[0] for key in construct_keys(function).values()}
            for function in self.functions
        ]
        return sum(map(len, places)) == len(set[str]().union(*places))

    def part(self, index: int) -> ModuleOp:
        """Removes the functions of part number `index` from the module, and returns the part's module."""
        functions = [self.functions[i] for i in self.runs[index]]
        whole: set[Operation] = set()
        for function in functions:
            for construct in function.walk():
                if isinstance(construct, acc.ParallelOp):
                    whole |= self._reached(construct)
        if not self._declarations.keys().isdisjoint(whole):
            raise NotImplementedError("device code that calls a function with constructs")
        whole.update(functions)
        whole |= {
            op
            for op in self._symbols.values()
            if isinstance(op, llvm.GlobalOp) and "acc.declare" in op.attributes
        }
        outside = self._named_by(whole)
        ops: list[Operation] = []
        for op in self._ops:
            if op in functions:
                op.detach()
                ops.append(op)
            elif isinstance(op, acc.RoutineOp):
                routine = self._symbols.get(op.func_name.string_value())
                if routine in whole or routine in outside:
                    ops.append(op.clone())
            elif op in whole or (op in outside and not isinstance(op, llvm.FuncOp)):
                ops.append(op.clone())
            elif op in outside:
                ops.append(self._declarations.get(op, op).clone_without_regions())
        attributes = {k: v for k, v in self.module.attributes.items() if k not in (MESSAGES, SITES)}
        part = ModuleOp(Region(Block(ops)), attributes)
        part.location = self.module.location
        return part

    def _reached(self, construct: Operation) -> set[Operation]:
        """The operations of the module that a construct uses, directly or indirectly."""
        found: dict[Operation, None] = {}
        pending = [construct]
        while pending:
            for name in _names(pending.pop()):
                for symbol in (name, self._bound.get(name)):
                    op = None if symbol is None else self._symbols.get(symbol)
                    if op is not None and op not in found:
                        found[op] = None
                        pending.append(op)
        return set(found)

    def _named_by(self, ops: Iterable[Operation]) -> set[Operation]:
        found: set[Operation] = set()
        for op in ops:
            found.update(self._symbols[name] for name in _names(op) if name in self._symbols)
        for op in [op for op in found if not isinstance(op, llvm.FuncOp)]:
            found |= self._reached(op)
        return found - set(ops)


def _runs(sizes: Sequence[int]) -> list[list[int]]:
    """Groups of consecutive functions, by index, whose total size is small."""
    runs: list[list[int]] = []
    so_far = 0
    for number, size in enumerate(sizes):
        if runs and so_far + size <= _SMALL_PART:
            runs[-1].append(number)
            so_far += size
        else:
            runs.append([number])
            so_far = size
    return runs


_SMALL_PART = 400
"""The number of operations from which passes take longer than making a part and sending it back."""


def _size(function: llvm.FuncOp) -> int:
    """
    The estimated work of passes on the constructs of a function, in operations: more than its present
    operations, as kernels get code around them, and tiles of cached sections need much more code than their
    uses.
    """
    return sum(
        _KERNEL + _size_of_construct(construct)
        for construct in function.walk()
        if isinstance(construct, acc.ParallelOp)
    )


_KERNEL = 30
_TILE = 300
"""Operations that a kernel adds, and that a cached section adds."""
_PRODUCT = 2000
"""Operations of the versions of a product with tiles (`find-shared-sections`)."""
_LOOPS = (acc.LoopOp, scf.ForOp)


def _size_of_construct(construct: acc.ParallelOp) -> int:
    inner = list(construct.walk())
    size = len(inner) + _TILE * sum(isinstance(op, acc.CacheOp) for op in inner)
    product = (
        size < _SMALL
        and any(isinstance(op, arith.MulfOp) for op in inner)
        and any(isinstance(op, _LOOPS) and _depth(op) >= 3 for op in inner)
    )
    return size + _PRODUCT * product


def _depth(loop: Operation | None) -> int:
    """The number of variables of `loop` and the loops immediately around it."""
    depth = 0
    while isinstance(loop, _LOOPS):
        depth += len(loop.region.blocks[0].args) if isinstance(loop, acc.LoopOp) else 1
        loop = loop.parent_op()
    return depth


_SMALL = 100
"""The most operations of a product."""


def _names(op: Operation) -> Iterator[str]:
    """The symbols that an operation and the operations inside it name."""
    for inner in op.walk():
        for attribute in (*inner.properties.values(), *inner.attributes.values()):
            yield from _names_in(attribute)


def _names_in(attribute: Attribute) -> Iterator[str]:
    if isinstance(attribute, SymbolRefAttr):
        yield attribute.root_reference.data
    elif isinstance(attribute, ArrayAttr):
        for inner in attribute.data:
            yield from _names_in(inner)


def run_part(
    ctx: Context, parts: Parts, index: int, options: CompileOptions, *, survey: bool
) -> PartResult:
    """Takes part `index` to the gpu level and its kernels to LLVM IR, now or before; `survey` also counts
    iterations side by side."""
    names = [parts.functions[i].sym_name.data for i in parts.runs[index]]
    with apart() as phases:
        part = parts.part(index)
        options = limits_within(options, part)
        fixed = [compiler_fingerprint(), options.key(), "survey" if survey else "", *names]
        made: list[PartResult] = []

        def make() -> bytes:
            made.append(found := _run(ctx, part, names, options, survey=survey))
            return zlib.compress(pickle.dumps(found, pickle.HIGHEST_PROTOCOL), 1)

        key = content_key("part", *fixed, content(part))
        data = DiskCache.default("parts").get_or_make(key, make)
        found = made[0] if made else pickle.loads(zlib.decompress(data))
    return replace(found, phases=phases)


def _run(
    ctx: Context,
    part: ModuleOp,
    names: Sequence[str],
    options: CompileOptions,
    *,
    survey: bool,
) -> PartResult:
    """The result of a part with functions of these `names`."""
    known = set(symbol_table(part))
    side_by_side = SideBySide()
    declared: list[tuple[str, bytes]] = []

    def after_stage(stage: str, module: ModuleOp) -> None:
        if survey:
            side_by_side.see(stage, module)
        # Passes insert new functions before all others.
        new = [op for n, op in symbol_table(module).items() if n not in known]
        for op in reversed([op for op in new if isinstance(op, llvm.FuncOp)]):
            known.add(op.sym_name.data)
            declared.append((stage, flatten(op)))

    run_to_stage(ctx, part, _DEVICE_STAGES[-1], options, after_stage=after_stage)
    texts = _device_texts(ctx, part, options)
    symbols = symbol_table(part)
    return PartResult(
        tuple(flatten(symbols[name]) for name in names),
        tuple(declared),
        listed(part, SITES),
        listed(part, MESSAGES),
        texts,
        side_by_side,
        Phase("part"),
    )


def _device_texts(ctx: Context, part: ModuleOp, options: CompileOptions) -> DeviceTexts:
    """The device code of a part at stage `gpu`."""
    (kernels,) = [op for op in part.body.block.ops if isinstance(op, gpu.ModuleOp)]
    kernels.detach()
    names = [_symbol_name(op) for op in kernels.body.block.ops]
    last = max(i for i, op in enumerate(kernels.body.block.ops) if isinstance(op, gpu.FuncOp))
    with_kernels, after = set(names[: last + 1]), set(names[last + 1 :])
    device = ModuleOp([kernels], dict(part.attributes))
    device.location = part.location
    run_to_stage(ctx, device, "nvvm", options)
    if any(not isinstance(op, gpu.ModuleOp) for op in device.body.block.ops):
        raise NotImplementedError("device code that needs something of the host")
    front: list[SymbolText] = []
    ordered: list[SymbolText] = []
    behind: list[SymbolText] = []
    later: list[SymbolText] = []
    with phase("LLVM IR of kernels"):
        texts = print_symbols(
            device,
            target="nvptx",
            contract=options.fma,
            contract_sequential=options.fma,
            relaxed=options.fast_math,
            flush_denormals=options.fast_math,
        )
    for op, text in zip(kernels.body.block.ops, texts, strict=True):
        if isinstance(op, llvm.GlobalOp) and op.addr_space.value.data == ADDRESS_SPACE_SHARED:
            front.append(text)
        elif text.name in with_kernels:
            ordered.append(text)
        elif text.name in after:
            behind.append(text)
        else:
            later.append(text)
    return DeviceTexts(tuple(front), tuple(ordered), tuple(behind), tuple(later))


def _symbol_name(op: Operation) -> str:
    name = op.get_attr_or_prop("sym_name")
    assert isinstance(name, StringAttr)
    return name.data


def listed(module: ModuleOp, name: str) -> tuple[Attribute, ...]:
    """The elements of a list that is an attribute of the module; empty without it."""
    attribute = module.attributes.get(name)
    return attribute.data if isinstance(attribute, ArrayAttr) else ()
