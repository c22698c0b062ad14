"""
Compress device arrays by rewriting their element type (docs/compression.md).

Takes:  stage scheduled, loops not yet lowered; `accx.packed` and `accx.decodes` on data operations.
Leaves: every `accx.packed` complete (the options fill in formats that clauses leave open). In compute
        constructs, accesses to the arrays that they decode are rewritten: subscripts step over packed
        elements, loads are followed by decoding (shift, or, one fused multiply-add), stores preceded by
        encoding. The coefficients are results of an `accx.coefficients` before the construct (one for each
        member of a structure of arrays that is accessed) and become kernel arguments, which the GPU keeps
        in constant memory. For the GPU, threads of streaming loops over packed arrays take groups of
        iterations (`compress_arrays/wide_groups.py`), and those of stencils windows, whose elements are
        decoded once (`compress_arrays/windows.py`).
Fails:  on a compressed array that is passed to a function, accessed atomically or as another type,
        or whose address is used other than by subscripts.

Options:
  float   kept bits of a float whose clause names no format: 8 to 21 (16)
  double  kept bits of a double whose clause names no format: 8 to 50 (32)
  target  `nvptx` or `host`; the pipeline sets it
  wide    whether streaming loops take groups of iterations, and stencils windows (true)
  group   bytes of a group's widest elements (16)
  rows    rows of a window, at most as many as the schedule puts side by side (2)
  threads the least number of windows that keeps the device busy; with fewer, one result per lane (0: no
  test) centred whether arrays whose clause names no format keep numbers relative to the middle of their
          range (false)
  count   whether stores of numbers that saturate are counted (true), see `count-saturated-stores`

Before:
  %a_dev = acc.present varPtr(%a : !llvm.ptr) varType(f32) -> !llvm.ptr
      {accx.packed = !accx.packed<f32, 0, range>, accx.decodes, name = "a"}
  acc.parallel dataOperands(%a_dev : !llvm.ptr) {
    %p = accx.element %a_dev[%i] of f32 : i64
    %x = llvm.load %p : !llvm.ptr -> f32
After:
  %c0, %c1, %inverse, %offset, %plane, %counter = accx.coefficients %a_dev
      : !llvm.ptr -> f32, f32, f32, f32
  acc.parallel dataOperands(%a_dev : !llvm.ptr) {
    %p = accx.element %a_dev[%i] of i16 : i64
    %code = llvm.load %p : !llvm.ptr -> i16
    ...
    %x = math.fma %t, %c0, %c1 : f32
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc
from xdsl.dialects.builtin import Float32Type, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...compiler.base.diagnostics import UNKNOWN_LOC, error
from ...compiler.base.packed import Code, PackedFormat, check_format
from ...dialects.accx_compress import ESTIMATE, PACKED, PackedType
from ..decisions.compression import PackedAccess, estimate, read_once
from ..decisions.schedule import Target
from ..ir.kernels.outline import DATA_ENTRY
from ..ir.kernels.packed_arrays import packed_arrays
from ..ir.ops.machine import machine_of
from ..ir.values.region_values import RegionSymbols
from .element_code import ElementCode
from .estimates import accesses_of
from .members import MemberRewriter
from .record_copies import spread_copies
from .rewriting import ArrayRewriter
from .wide_groups import find_wide_loop, widen
from .window_code import make_versions, open_window
from .windows import find_window


@dataclass(frozen=True)
class Widths:
    """The size of groups and windows: see the pass's options `group`, `rows` and `threads`."""

    bytes: int = 16
    rows: int = 2
    threads: int = 132 * 2048


def compress_construct(
    construct: acc.ParallelOp, widths: Widths | None, *, count: bool = True, gpu: bool = True
) -> None:
    """
    Rewrites the accesses to all compressed arrays of one construct, then its streaming loops. For a GPU it
    estimates what that gains.
    """
    accesses: set[Operation] = set()
    arrays = packed_arrays(construct)
    formats: dict[SSAValue, PackedType] = {entry.results[0]: type for entry, type in arrays}
    for entry, _ in arrays:
        assert isinstance(entry, DATA_ENTRY)
        spread_copies(construct, entry.acc_var, entry.var_type)
    reads, instructions = accesses_of(construct, formats) if arrays else ([], 0)
    for number, (entry, packed) in enumerate(arrays):
        assert isinstance(entry, DATA_ENTRY)
        name = entry.var_name.data if entry.var_name is not None else "?"
        counted = number if count and packed.format.code != Code.PLAIN else None
        code = ElementCode.before(construct, entry.acc_var, packed, name, counted)
        kind = MemberRewriter if packed.members.data > 1 else ArrayRewriter
        rewriter = kind(name, code, construct)
        rewriter.run(entry.acc_var)
        accesses.update(rewriter.accesses)
    if widths is not None and accesses and widen_all(construct, accesses, widths):
        reads = read_once(reads)
    if gpu:
        _estimate(arrays, reads, instructions)


def widen_all(construct: acc.ParallelOp, packed: set[Operation], widths: Widths) -> bool:
    """
    Makes the construct's loops take windows or groups of iterations where possible; returns whether there
    are windows.
    """
    symbols, bytes = RegionSymbols(construct), widths.bytes
    loops = [inner for inner in construct.walk() if isinstance(inner, acc.LoopOp)]
    found = [find_window(loop, symbols, packed, bytes=bytes, rows=widths.rows) for loop in loops]
    windows = [window for window in found if window is not None]
    versions = make_versions(construct, windows, symbols, widths.threads) if windows else None
    if versions is not None:
        other, copies = versions
        taken = {window.inner for window in windows}
        loops = [loop for loop in loops if loop not in taken]
        _widen([copies[loop] for loop in loops], {copies[op] for op in packed}, bytes, other)
        for window in windows:
            open_window(window, construct, symbols)
    _widen(loops, packed, bytes, construct)
    return versions is not None


def _widen(
    loops: Sequence[Operation], packed: set[Operation], bytes: int, construct: acc.ParallelOp
) -> None:
    for loop in loops:
        assert isinstance(loop, acc.LoopOp)
        wide = find_wide_loop(loop, packed, bytes)
        if wide is not None:
            widen(wide, construct)


def _estimate(
    arrays: list[tuple[Operation, PackedType]], accesses: list[PackedAccess], instructions: int
) -> None:
    """
    Adds a note to the data operation of every compressed array: whether compressing it pays in the
    construct.
    """
    for entry, type in arrays:
        found = estimate(entry.results[0], accesses, instructions)
        if found is not None:
            text = f"{type.format}: {found.text}"
            entry.attributes[ESTIMATE] = StringAttr(text)


@dataclass(frozen=True)
class CompressArraysPass(ModulePass):
    """See the file's docstring."""

    name = "compress-arrays"

    float: int = 16
    double: int = 32
    target: Target | None = None
    wide: bool = True
    group: int = Widths.bytes
    rows: int = Widths.rows
    threads: int = Widths.threads
    count: bool = True
    centred: bool = False

    def __post_init__(self) -> None:
        for width, bits in ((32, self.float), (64, self.double)):
            problem = check_format(PackedFormat(width, Code.RANGE, bits))
            if problem is not None:
                raise error(
                    UNKNOWN_LOC,
                    f"compress-arrays: {problem}",
                    "give another --pass-option 'compress-arrays{float=… double=…}'",
                )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target or machine_of(op).target
        constructs: list[acc.ParallelOp] = []
        for inner in op.walk():
            packed = inner.attributes.get(PACKED)
            if isinstance(packed, PackedType) and not packed.bits.data:
                inner.attributes[PACKED] = self._complete(packed)
            elif isinstance(inner, acc.ParallelOp):
                constructs.append(inner)
        wide = self.wide and target == "nvptx"
        widths = Widths(self.group, self.rows, self.threads) if wide else None
        for construct in constructs:
            compress_construct(construct, widths, count=self.count, gpu=target != "host")

    def _complete(self, packed: PackedType) -> PackedType:
        bits = self.float if isinstance(packed.base, Float32Type) else self.double
        code = "centred" if self.centred else packed.code.data
        return PackedType.of(packed.base, bits, code, packed.members.data)
