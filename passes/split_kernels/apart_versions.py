"""
Versions of kernels constructs for arrays that do not overlap. Where loops can be divided, or put inside
others, only if they do not (`term_loops.py`), the first version has these loops; it runs if a test before the
launches finds that no array that the construct writes overlaps another. The second is the construct as it
was.

The test compares addresses of the host's memory: of variables all of it, otherwise what subscripts span, or
the section of a data clause. The arrays that the first version reaches are known to be apart from then on
(`accx.apart`), so that no other test follows.

Before:
  acc.kernels {
    scf.for %i = … {
      t[i] = 0  scf.for %j = … { t[i] += a[i][j] * x[j] }  scf.for %j = … { y[j] += a[i][j] * t[i] }
    }
  }
After:
  %apart = llvm.call @__accopt_spans_apart(%spans, %written, %count)
  scf.if %apart {
    acc.kernels {
      scf.for %i = … { t[i] = 0  scf.for %j = … { t[i] += a[i][j] * x[j] } }
      scf.for %j = … { scf.for %i = … { y[j] += a[i][j] * t[i] } }
    } attributes {accx.apart}
  } else {
    acc.kernels { … }
  }
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import UnitAttr, i64
from xdsl.ir import SSAValue
from xdsl.traits import IsTerminator, SymbolTable

from ...dialects.accx import APART
from ...dialects.accx_compress import PACKED
from ...dialects.volatility import is_ordered
from ..ir.data.host_memory import HostMemory
from ..ir.data.visible_data import visible_entry
from ..ir.loops.array_spans import (
    ArraySpan,
    ArraySpans,
    Untestable,
    test_spans,
    unknown_arrays,
)
from ..ir.ops.acc_ops import (
    ENTRY_OPS,
    MAPPING_OPS,
    PRIVATIZING_OPS,
    EntryOp,
    exits_of,
    is_defined_inside,
    live_ins,
    replace_inside,
    variable_name,
)
from ..ir.ops.building import Cursor, erase
from ..ir.ops.layout import size_of
from ..ir.ops.notes import note
from ..ir.ops.purity import is_pure, is_pure_call
from ..ir.values.addresses import base_of
from ..ir.values.region_values import RegionSymbols, variable_key, variable_of
from .term_loops import sink_terms

_COPIES = ("llvm.intr.memcpy", "llvm.intr.memmove", "llvm.intr.memset")
_ATOMICS = (acc.AtomicReadOp, acc.AtomicWriteOp, acc.AtomicUpdateOp, acc.AtomicCaptureOp)


def apart_version(kernels: acc.KernelsOp, memory: HostMemory) -> acc.KernelsOp | None:
    """
    Makes a version of a kernels construct for arrays that do not overlap, if more loops can be divided or put
    inside others there; returns it, or None. The construct itself is then the other version.
    """
    entries = _entries(kernels)
    if entries is None:
        return None
    trial = Cursor.before(kernels).clone(kernels, {})
    trial.attributes[APART] = UnitAttr()
    _hoist_pointers(trial)
    arrays = _arrays(trial)
    changed = [] if arrays is None else sink_terms(trial)
    if arrays is None or not changed:
        erase(trial)
        return None
    written = [array for array, is_written in arrays.items() if is_written]
    read = [array for array in arrays if array not in written]
    written, read = unknown_arrays(written, read, memory)
    names = ", ".join(f"'{variable_name(array)}'" for array in (*written, *read))
    try:
        condition = _test(trial, written, read)
    except Untestable as untestable:
        text = f"loops stay as written, as {names} may overlap: {untestable}"
        note(kernels, [(place, text) for place in changed])
        erase(trial)
        return None
    text = f"divided, or put inside others, where {names} do not overlap (tested at launch), else as written"
    note(trial, [(place, text) for place in changed])
    _place(kernels, trial, condition, entries)
    return trial


def _entries(kernels: acc.KernelsOp) -> list[EntryOp] | None:
    """
    The data and privatising operations of a construct, in order; None if something else than it and their
    exits in its block uses them.
    """
    block = kernels.parent_block()
    owners = {operand.owner for operand in kernels.operands}
    entries = (
        [op for op in block.ops if op in owners and isinstance(op, ENTRY_OPS)] if block else []
    )
    inside = set(kernels.walk())
    for entry in entries:
        leaves = set(exits_of(entry))
        users = {use.operation for result in entry.results for use in result.uses}
        if PACKED in entry.attributes or not users <= inside | leaves:
            return None
        if any(leave.parent_block() is not block for leave in leaves):
            return None
    return entries


def _hoist_pointers(kernels: acc.KernelsOp) -> None:
    """Loads pointers from variables that the construct does not write before it, each once."""
    symbols = RegionSymbols(kernels)
    at = Cursor.before(kernels)
    loaded: dict[object, SSAValue] = {}
    for op in list(kernels.walk()):
        if not isinstance(op, llvm.LoadOp) or is_ordered(op):
            continue
        variable, key = op.ptr, variable_key(op.ptr)
        if (
            not isinstance(op.dereferenced_value.type, llvm.LLVMPointerType)
            or key in symbols.written
        ):
            continue
        if isinstance(variable.owner, llvm.AddressOfOp):
            variable = at.clone(variable.owner, {}).result if key not in loaded else variable
        elif not isinstance(variable.owner, llvm.AllocaOp) or is_defined_inside(variable, kernels):
            continue
        if key not in loaded:
            name = variable_name(op.dereferenced_value)
            loaded[key] = at.load(variable, op.dereferenced_value.type, name)
        op.dereferenced_value.replace_all_uses_with(loaded[key])
        erase(op)


def _accesses(kernels: acc.KernelsOp) -> Iterator[tuple[SSAValue | None, bool]]:
    """The addresses that a construct accesses, and whether it writes there; None if it may access others."""
    for op in kernels.region.walk():
        match op:
            case llvm.LoadOp():
                pointer = isinstance(op.dereferenced_value.type, llvm.LLVMPointerType)
                yield (None if pointer or is_ordered(op) else op.ptr), False
            case llvm.StoreOp():
                pointer = isinstance(op.value.type, llvm.LLVMPointerType)
                yield (None if pointer or is_ordered(op) else op.ptr), True
            case _ if isinstance(op, _ATOMICS) or op.name in _COPIES:
                yield from (
                    (value, True)
                    for value in op.operands
                    if isinstance(value.type, llvm.LLVMPointerType)
                )
            case acc.ReductionOp():
                yield op.var, True
            case _ if op.name.startswith("acc.") or op.regions or op.has_trait(IsTerminator):
                pass
            case llvm.AllocaOp():
                pass
            case _ if not (is_pure(op) or is_pure_call(op)):
                yield None, True
            case _:
                pass


def _arrays(kernels: acc.KernelsOp) -> dict[SSAValue, bool] | None:
    """
    The pointers from outside, or addresses of global variables, through which a construct reaches memory, and
    whether it writes there; None if it may reach memory in other ways, or one array through two of them.
    """
    found: dict[object, tuple[SSAValue, bool]] = {}
    for pointer, writes in _accesses(kernels):
        if pointer is None:
            return None
        base = base_of(pointer)
        while isinstance(base.owner, acc.CacheOp):
            base = base_of(base.owner.var)
        if is_defined_inside(base, kernels):
            if isinstance(base.owner, (llvm.AllocaOp, *PRIVATIZING_OPS)):
                continue
            if not isinstance(base.owner, llvm.AddressOfOp):
                return None
        elif isinstance(base.owner, acc.PrivateOp | acc.FirstprivateOp):
            continue
        key = variable_key(base)
        known, written = found.get(key, (base, False))
        if known is not base and not isinstance(variable_of(base).owner, llvm.AddressOfOp):
            return None
        found[key] = known, written or writes
    return dict(found.values())


def _object_size(array: SSAValue, spans: ArraySpans) -> SSAValue | None:
    """The size in bytes, computed before the construct, of an array that is a variable."""
    match array.owner:
        case llvm.AllocaOp() as owner:
            return spans.emit.mul(
                spans.emit.symbol(owner.size), spans.emit.i64(size_of(owner.elem_type))
            )
        case llvm.AddressOfOp() as owner:
            found = SymbolTable.lookup_symbol(owner, owner.global_name)
            if not isinstance(found, llvm.GlobalOp):
                raise Untestable(f"the size of '{variable_name(array)}' is not known")
            return spans.emit.i64(size_of(found.global_type))
        case _:
            return None


def _span(array: SSAValue, kernels: acc.KernelsOp, spans: ArraySpans) -> ArraySpan:
    """What a construct accesses of an array: of a variable, the whole."""
    variable = variable_of(array)
    size = _object_size(variable, spans)
    if size is None:
        return spans.span(array, kernels)
    emit, owner = spans.emit, variable.owner
    if isinstance(owner, llvm.AddressOfOp) and is_defined_inside(variable, kernels):
        variable = emit.insert(owner.clone()).result
    begin = emit.value(llvm.PtrToIntOp(variable, i64), f"{variable_name(array)}_begin")
    return ArraySpan(begin, begin, emit.add(begin, size))


def _is_on_device(array: SSAValue, kernels: acc.KernelsOp) -> bool:
    """Whether the host's value of a pointer is an address of the device."""
    variable = variable_of(array)
    if isinstance(variable.owner, acc.UseDeviceOp):
        return True
    entry = array.owner if isinstance(array.owner, MAPPING_OPS) else visible_entry(kernels, array)
    if entry is not None:
        return isinstance(entry, acc.DevicePtrOp)
    if not isinstance(variable.owner, llvm.LoadOp):
        return False
    pointer = variable.owner.ptr.owner
    if not isinstance(pointer, llvm.AddressOfOp):
        return False
    declared = SymbolTable.lookup_symbol(pointer, pointer.global_name)
    return isinstance(declared, llvm.GlobalOp) and "acc.declare" in declared.attributes


def _test(kernels: acc.KernelsOp, written: list[SSAValue], read: list[SSAValue]) -> SSAValue:
    """Emits the test before the construct, by addresses of the host. Raises `Untestable`."""
    arrays = [*written, *read]
    on_device = [array for array in arrays if _is_on_device(array, kernels)]
    if on_device and len(on_device) < len(arrays):
        raise Untestable(f"the host address of '{variable_name(on_device[0])}' is not known")
    spans = ArraySpans(kernels, on_host=True)
    first, second = ([_span(array, kernels, spans) for array in group] for group in (written, read))
    return test_spans(kernels, spans.emit, first, second)


def _place(
    kernels: acc.KernelsOp, first: acc.KernelsOp, condition: SSAValue, entries: list[EntryOp]
) -> None:
    """
    Puts two versions, each with data operations of its own, into an `scf.if`: `first`, and the construct of
    which `entries` are.
    """
    block = kernels.parent_block()
    assert block is not None
    exits = {leave for entry in entries for leave in exits_of(entry)}
    exits = [op for op in block.ops if op in exits]
    then, otherwise = Cursor.before(kernels).if_else(condition)
    values: dict[SSAValue, SSAValue] = {}
    own = [v.owner for v in live_ins(first) if isinstance(v.owner, PRIVATIZING_OPS)]
    for entry in dict.fromkeys((*entries, *own)):
        copy = then.insert(entry.clone())
        for old, new in zip(entry.results, copy.results, strict=True):
            values[old] = new
            replace_inside(first, old, new)
            first.operands = [new if value is old else value for value in first.operands]
    then.move(first)
    for leave in exits:
        then.insert(leave.clone(values))
    for op in (*entries, kernels, *exits):
        otherwise.move(op)
