"""Generates code for calls, constants and watches, and has the table of all operations that are not
expressions."""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation

from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects import nvvm
from ...dialects.accx_watch import WatchOp
from .codegen import FunctionCompiler, Unsupported, Writer, scalar_dtype
from .expressions import constant, zero
from .library import LIBRARY
from .mathlib import math_function
from .memory_code import MEMORY
from .thread_code import THREADS
from .types import dtype_of
from .watches import WatchedLoop, WatchedScalar


def inline_asm(f: FunctionCompiler, op: Operation) -> None:
    """Inline assembly, only that which accopt itself generates."""
    assert isinstance(op, llvm.InlineAsmOp)
    if op.asm_string.data != nvvm.COPY:
        raise Unsupported("inline assembly")
    f.result(op, f.name_of(op.operands[0]))


def watch(f: FunctionCompiler, op: Operation) -> None:
    """An event of a watched loop or scalar (`watches.py`)."""
    assert isinstance(op, WatchOp)
    event, number, about = op.event.data, op.number.value.data, op.about.data
    if event in ("read", "write"):
        scalar = WatchedScalar(
            number,
            _text(about["name"]),
            _text(about["what"]),
            _numbers(about["loops"]),
            tuple(map(_text, _list(about["remedies"]))),
        )
        values = _stored(f, op) if event == "write" else ""
        known = f.module.constant(scalar)
        f.put(f"rt.watches.{event}({f.threads}, {known}, {f.place(op)}{values})")
        return
    line = about["line"]
    assert isinstance(line, IntegerAttr)
    inside, shared_by = _text(about["inside"]), _text(about["shared_by"])
    loop = WatchedLoop(number, line.value.data, inside, shared_by, _numbers(about["variables"]))
    f.put(f"rt.watches.{event}({f.threads}, {f.module.constant(loop)})")


def _stored(f: FunctionCompiler, op: WatchOp) -> str:
    """The old and the new value of a copy that is a scalar in registers; empty otherwise."""
    copy, value = op.stored
    known = copy in f.live.cells and dtype_of(value.type) is not None
    return f", {f.name_of(copy) if known else None}, {f.name_of(value) if known else None}"


def _list(attr: Attribute) -> tuple[Attribute, ...]:
    assert isinstance(attr, ArrayAttr)
    return tuple(attr)


def _text(attr: Attribute) -> str:
    assert isinstance(attr, StringAttr)
    return attr.data


def _numbers(attr: Attribute) -> tuple[int, ...]:
    return tuple(number.value.data for number in _list(attr) if isinstance(number, IntegerAttr))


def call(f: FunctionCompiler, op: Operation) -> None:
    """A call of a function of the module (also by its address), of the math library, or of `library.py`."""
    assert isinstance(op, llvm.CallOp)
    text = _called(f, op)
    if op.results:
        f.result(op, text)
    else:
        f.put(text)


def _called(f: FunctionCompiler, op: llvm.CallOp) -> str:
    """The expression for a call."""
    args = [f.name_of(arg) for arg in op.args]
    if op.callee is None:
        pointer, *rest = args
        return f"rt.call({', '.join([f.threads, 'CODE', pointer, f.place(op), *rest])})"
    symbol = op.callee.root_reference.data
    function = f.module.function(symbol)
    name = symbol.removeprefix("__builtin_")
    if function is not None:
        return f"{function}({', '.join(['rt', f.threads, *args])})"
    if name in LIBRARY:
        return f"LIBRARY[{name!r}](rt, {', '.join([f.threads, f.place(op), *args])})"
    if math_function(name) is not None:
        f.derive(op.results[0], op.args)
        result = scalar_dtype(op.results[0].type)
        return f"math_function({name!r})({', '.join(args)}).astype(np.{result})"
    raise error(
        SourceLoc.from_attr(op.location),
        f"'{symbol}' is called in device code; no file of the program defines it, and the simulated GPU"
        " has no such function",
        "define it in one of the source files",
    )


def trap(f: FunctionCompiler, op: Operation) -> None:
    f.put(f"rt.trap({f.threads}, {f.place(op)})")


def nothing(f: FunctionCompiler, op: Operation) -> None:
    """Operations that have no effect in the simulator: copies are performed at once, and threads have no
    clock, so that a pause is none."""


def stack_save(f: FunctionCompiler, op: Operation) -> None:
    f.result(op, "i64(rt.local.depth)")


def unreachable(f: FunctionCompiler, op: Operation) -> None:
    f.put("return None")


def literal(f: FunctionCompiler, op: Operation) -> None:
    """A constant; zero also for undefined values."""
    type, value = op.results[0].type, op.properties.get("value")
    try:
        found = zero(type) if value is None else constant(value, type)
    except ValueError as problem:
        raise Unsupported(str(problem)) from None
    f.names[op.results[0]] = f.module.constant(found)


EFFECTS: dict[str, Writer] = {
    **MEMORY,
    **THREADS,
    "arith.constant": literal,
    "llvm.mlir.constant": literal,
    "llvm.mlir.zero": literal,
    "llvm.mlir.undef": literal,
    "llvm.mlir.poison": literal,
    "llvm.call": call,
    "llvm.intr.trap": trap,
    "llvm.intr.assume": nothing,
    "llvm.intr.stacksave": stack_save,
    "llvm.intr.stackrestore": nothing,
    "llvm.unreachable": unreachable,
    "accx.watch": watch,
    "llvm.inline_asm": inline_asm,
    "nvvm.cp.async.commit.group": nothing,
    "nvvm.cp.async.wait.group": nothing,
    "nvvm.fence.mbarrier.init": nothing,
    "nvvm.fence.proxy": nothing,
    "nvvm.nanosleep": nothing,
}
"""Operation → the function that writes its code."""
