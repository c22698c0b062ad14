"""
The constructs of a program compiled by several copies of this process (`backend/forks.py`), function by
function (`device_parts.py`), and put together again.

What comes out is what this process alone makes of the module, to the byte: kernels, what they share, launch
sites and host functions have the order and the numbers that they have there. Where that is not sure, or where
anything fails, nothing has changed, and this process does it alone, errors and all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.context import Context
from xdsl.dialects import arith, gpu, llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i32
from xdsl.ir import Attribute, Operation

from ..dialects.accx import MESSAGES, SITE, SITES
from .backend.forks import ForkedCopies, copies
from .base.options import CompileOptions
from .base.phases import LOADING, add, phase, waiting
from .device_parts import PartResult, Parts, run_part
from .emit import detach_kernels
from .ir.flat import unflatten
from .llvmir.printer import NVPTX_HEADER, module_flag
from .llvmir.symbols import SymbolText, join
from .pipeline import PassRunner, apply_pass, preload, run_to_stage, stage_of
from .register_pressure import Retry, limits_only, limits_within

_WORTH_COPIES = 3000
"""Operations of constructs (`Parts.sizes`) on which passes work longer than copies of the process cost."""
_SCRATCH = "__accopt_scratch"


class _Clash(Exception):
    """The parts cannot be put together."""


def _may_share(options: CompileOptions) -> bool:
    """Whether the options leave functions to themselves, and ask for nothing but code."""
    return (
        options.target == "nvptx"
        and not options.debug_info
        and not options.check_cache
        and not options.checks_ir
        and limits_only(options)
        and not options.added_passes
        and not options.skipped_passes
    )


def share_device_work(
    ctx: Context,
    module: ModuleOp,
    options: CompileOptions,
    retry: Retry | None = None,
    run_pass: PassRunner = apply_pass,
    use_kernels: Callable[[str], object] = len,
) -> str | None:
    """
    Takes a module that has not passed stage `data` to stage `gpu`, but for its kernels, of which the LLVM IR
    is the result; `retry` keeps what it needs, and `use_kernels` gets that text as soon as it is there. None
    where this process has to do it alone, from stage `data` on at the latest. `run_pass` applies the passes
    that see the whole program.
    """
    number = copies()
    if number < 2 or not _may_share(options) or stage_of(module) not in ("acc", "data"):
        return None
    run_to_stage(ctx, module, "data", options, run_pass)
    parts = Parts(module)
    number = min(number, len(parts.runs))
    if number < 2 or not parts.are_known or sum(parts.sizes) < _WORTH_COPIES:
        return None
    if options.pass_options and not parts.have_own_places():
        return None
    if retry is not None:
        retry.keep(module)
    with phase(LOADING):
        preload(options)
    order = sorted(range(len(parts.runs)), key=lambda i: -parts.sizes[i])
    work = ForkedCopies(
        lambda i: run_part(ctx, parts, i, options, survey=retry is not None), order, number
    )
    with waiting("passes, by function", work.seconds):
        found = work.finish()
    if found is None:
        return None
    results = [found[i] for i in range(len(order))]
    try:
        device = _device_code(results, options)
        merged = _Host(module, parts, results)
    except _Clash:
        return None
    use_kernels(device)
    for result in results:
        add(result.phases)
        if retry is not None:
            retry.side_by_side.add(result.side_by_side)
    merged.put_together(ctx, options)
    return device


def _device_code(results: Sequence[PartResult], options: CompileOptions) -> str:
    """The LLVM IR of the kernels."""
    fronts = [text for result in reversed(results) for text in result.device.front]
    symbols = _once(
        [
            # One array without a length stands for the memory that is asked for at the launch.
            *(text for text in fronts if _is_shared_by_all(text)),
            *(text for text in fronts if not _is_shared_by_all(text)),
            *(text for result in results for text in result.device.kernels),
            *(text for result in results for text in result.device.behind),
            *(text for result in results for text in result.device.later),
        ]
    )
    flag = module_flag(flush_denormals=options.fast_math)
    return join(symbols, NVPTX_HEADER, flag)


def _is_shared_by_all(text: SymbolText) -> bool:
    return " = external " in text.text


def _once(texts: Iterable[SymbolText]) -> list[SymbolText]:
    """Those of one name, which must be the same, once."""
    found: dict[str, SymbolText] = {}
    for text in texts:
        if found.setdefault(text.name, text) != text:
            raise _Clash
    return list(found.values())


class _Host:
    """The host's part of the results, all of it known to fit before the module changes."""

    def __init__(self, module: ModuleOp, parts: Parts, results: Sequence[PartResult]) -> None:
        self.module = module
        self.parts = parts
        functions = [[unflatten(data) for data in result.functions] for result in results]
        self.functions = [function for own in functions for function in own]
        self.declared = _declarations(results)
        self.messages = dict.fromkeys(m for result in results for m in result.messages)
        self.sites: list[Attribute] = []
        sites = [result.sites for result in results]
        first = _common_length(sites)
        self._first = first
        for of_part, own in zip(functions, sites, strict=True):
            for function in of_part:
                _renumber(function, len(self.sites))
            self.sites += own[first:]

    def put_together(self, ctx: Context, options: CompileOptions) -> None:
        """Compiles the rest of the module to the gpu level, and puts the functions into it."""
        block = self.module.body.block
        places: list[Operation] = []
        for function in self.parts.functions:
            place = function.clone_without_regions()
            block.insert_op_before(place, function)
            function.detach()
            places.append(place)
        run_to_stage(ctx, self.module, "gpu", limits_within(options, self.module))
        detach_kernels(self.module)
        declared = _elements(self.module.attributes.get(SITES))
        assert len(declared) == self._first
        self.module.attributes[SITES] = ArrayAttr((*declared, *self.sites))
        said = dict.fromkeys((*_elements(self.module.attributes.get(MESSAGES)), *self.messages))
        if said:
            self.module.attributes[MESSAGES] = ArrayAttr(said)
        for place, function in zip(places, self.functions, strict=True):
            block.insert_op_before(function, place)
            place.detach()
            place.erase()
        for op in self.declared:
            assert block.first_op is not None
            block.insert_op_before(op, block.first_op)


def _common_length(sites: Sequence[tuple[Attribute, ...]]) -> int:
    """How many sites of declared variables there are, with which all lists begin."""
    from ..passes.ir.sites import SiteEntry

    count = 0
    for site in sites[0]:
        if SiteEntry.from_attr(site).kind != "declare":  # pyright: ignore[reportArgumentType]
            break
        count += 1
    if any(own[:count] != sites[0][:count] for own in sites):
        raise _Clash
    return count


def _renumber(function: Operation, by: int) -> None:
    """Adds `by` to the numbers of the launch sites in a function."""
    for op in function.walk() if by else ():
        if isinstance(op, gpu.LaunchFuncOp):
            site = op.attributes.get(SITE)
            assert isinstance(site, IntegerAttr)
            op.attributes[SITE] = IntegerAttr(site.value.data + by, i32)
        elif isinstance(op, llvm.CallOp) and op.callee and op.callee.string_value() == _SCRATCH:
            number = op.args[0].owner
            if not isinstance(number, arith.ConstantOp) or not op.args[0].has_one_use():
                raise _Clash
            assert isinstance(number.value, IntegerAttr)
            site = number.value.value.data + by
            number.properties["value"] = IntegerAttr(site, i32)
            number.result.name_hint = f"c{site}"


def _declarations(results: Sequence[PartResult]) -> list[Operation]:
    """The functions of the runtime that are called by now, in the order in which they were declared."""
    found: dict[str, Operation] = {}
    for stage in ("scheduled", "transformed", "gpu"):
        for result in results:
            for at, data in result.declared:
                if at == stage:
                    op = unflatten(data)
                    assert isinstance(op, llvm.FuncOp)
                    found.setdefault(op.sym_name.data, op)
    return list(found.values())


def _elements(attribute: Attribute | None) -> tuple[Attribute, ...]:
    return attribute.data if isinstance(attribute, ArrayAttr) else ()
