"""
Compiles the constructs of a program in several copies of this process (`backend/forks.py`), by groups of
functions (`device_parts.py`), and merges the results.

The result is identical to that of this process alone: kernels, shared declarations, launch sites and host
functions have the same order and numbers. If that is not certain, or if anything fails, the module is
unchanged, and this process compiles it alone and reports the errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module

from xdsl.context import Context
from xdsl.dialects import arith, gpu, llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i32
from xdsl.ir import Attribute, Operation

from ..dialects.accx import MESSAGES, SITE, SITES
from .backend.forks import ForkedCopies, copies
from .base.options import CompileOptions
from .base.phases import LOADING, add, phase, waiting
from .device_parts import PartResult, Parts, listed, run_part
from .emit import detach_kernels
from .ir.flat import unflatten
from .llvmir.printer import NVPTX_HEADER, module_flag
from .llvmir.symbols import SymbolText, join
from .pipeline import PassRunner, apply_pass, preload, run_to_stage, stage_of
from .register_pressure import Retry, limits_only, limits_within

_WORTH_COPIES = 3000
"""The number of operations in constructs (`Parts.sizes`) from which passes take longer than making copies
of the process."""
_SCRATCH = "__accopt_scratch"


class _Clash(Exception):
    """The results of the parts cannot be merged."""


def _may_share(options: CompileOptions) -> bool:
    """Whether the options allow separate compilation of functions, and ask only for code."""
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
    Takes a module from stage `data` or an earlier one to stage `gpu`, without its kernels, and returns the
    kernels' LLVM IR. `retry` keeps what it needs, and `use_kernels` gets the LLVM IR as soon as it is
    likely to be this. Returns None if this process must compile the module alone; it is then at stage
    `data` or earlier. `run_pass` applies the passes that need the whole program.
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
    with phase(LOADING):
        # LLVM, which `use_kernels` needs.
        import_module(f"{__name__.rpartition('.')[0]}.backend.ptx")
    with waiting("passes, by function", work.seconds):
        found = work.finish()
    if found is None:
        return None
    results = [found[i] for i in range(len(order))]
    try:
        device = _device_code(results, options)
        use_kernels(device)
        merged = _Host(module, parts, results)
    except _Clash:
        return None
    for result in results:
        add(result.phases)
        if retry is not None:
            retry.side_by_side.add(result.side_by_side)
    merged.put_together(ctx, options)
    return device


def _device_code(results: Sequence[PartResult], options: CompileOptions) -> str:
    """The LLVM IR of the kernels of all parts."""
    fronts = [text for result in reversed(results) for text in result.device.front]
    symbols = _once(
        [
            # One array without a length represents the shared memory requested at the launch.
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
    """The symbols without duplicates. Raises `_Clash` if two of one name differ."""
    found: dict[str, SymbolText] = {}
    for text in texts:
        if found.setdefault(text.name, text) != text:
            raise _Clash
    return list(found.values())


class _Host:
    """The host code in the results; all of it is checked to fit before the module is changed."""

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
        """Takes the rest of the module to the gpu level, and inserts the functions of the parts."""
        block = self.module.body.block
        places: list[Operation] = []
        for function in self.parts.functions:
            place = function.clone_without_regions()
            block.insert_op_before(place, function)
            function.detach()
            places.append(place)
        run_to_stage(ctx, self.module, "gpu", limits_within(options, self.module))
        detach_kernels(self.module)
        declared = listed(self.module, SITES)
        assert len(declared) == self._first
        self.module.attributes[SITES] = ArrayAttr((*declared, *self.sites))
        said = dict.fromkeys((*listed(self.module, MESSAGES), *self.messages))
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
    """The number of sites of declared variables, with which all lists begin."""
    from ..passes.ir.kernels.sites import SiteEntry

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
    """The runtime functions that the parts call, in the order in which they were declared."""
    found: dict[str, Operation] = {}
    for stage in ("scheduled", "transformed", "gpu"):
        for result in results:
            for at, data in result.declared:
                if at == stage:
                    op = unflatten(data)
                    assert isinstance(op, llvm.FuncOp)
                    found.setdefault(op.sym_name.data, op)
    return list(found.values())
