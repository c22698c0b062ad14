"""
Reads IR from text that users and other tools wrote, and reports mistakes at their place.

xDSL's parser takes time without bound for a string that is not closed, and accepts operations where no
pass looks for them, so both are checked here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import acc, gpu, llvm
from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Operation
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException
from xdsl.utils.lexer import Span

from ...dialects.accx import IR_VERSION, NEXT_PASS, STAGE, VERSION
from ..base.diagnostics import UNKNOWN_LOC, CompileError, SourceLoc, error, without_location
from .ir_parser import IRParser
from .stages import LEGAL_DIALECTS, check_stage
from .upstream_forms import bring_to_form
from .uses import check_symbols, check_uses

_LEXEME = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*+("?)')


def read_ir_text(path: Path) -> str:
    """The text of an IR file. Raises `CompileError` if it cannot be read, or is not UTF-8."""
    try:
        data = path.read_bytes()
    except OSError as e:
        raise error(UNKNOWN_LOC, f"cannot read '{path}': {e.strerror}", "check the path") from e
    return decode(data, str(path))


def decode(data: bytes, name: str) -> str:
    """The text of UTF-8 bytes. Raises `CompileError` at the line of the first byte that is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        column = e.start - data.rfind(b"\n", 0, e.start)
        raise error(
            SourceLoc(name, line, column),
            f"byte {data[e.start]:#04x} is not UTF-8",
            "save the file as UTF-8",
        ) from e


def parse_ir(
    ctx: Context, text: str, name: str, check: Callable[[ModuleOp], None] | None = None
) -> ModuleOp:
    """
    The verified module of a text, on which `check` is called too. Raises `CompileError`, and xDSL's
    `VerifyException`; operations at which they are raised have a location in the text if they have none
    in a source file.
    """
    _check_strings(text, name)
    parser = IRParser(ctx, text, name)
    try:
        module = parser.parse_module()
    except ParseError as e:
        raise error(
            place_in(e.span, name),
            f"cannot parse IR: {e.msg}",
            "check the text at the place shown",
        ) from e
    except RecursionError as e:
        raise error(SourceLoc(name, 1, 1), "the IR is nested too deeply", _FLATTER) from e
    check_version(module, name)
    unknown = _locate(parser.places, text, name)
    _verify(module)
    check_module_level(module)
    bring_to_form(module)
    if check is not None:
        check(module)
    for op in unknown:
        op.location = without_location(SourceLoc.from_attr(op.location))
    return module


_FLATTER = "split the deepest operations into functions"


def _locate(places: dict[Operation, int], text: str, name: str) -> list[Operation]:
    """Gives all operations without a location their place in the text; the result are those."""
    unknown = [op for op in places if isinstance(op.location, UnknownLoc)]
    ends = list(accumulate(len(line) for line in text.splitlines(keepends=True)))
    file = StringAttr(name)
    for op in unknown:
        line = bisect_right(ends, places[op])
        column = places[op] - (ends[line - 1] if line else 0)
        op.location = FileLineColLoc(file, IntAttr(line + 1), IntAttr(column + 1))
    return unknown


def _verify(module: ModuleOp) -> None:
    """Raises `VerifyException` for IR that violates rules of its operations, or of values and symbols."""
    check_symbols(module)
    try:
        module.verify()
    except (VerifyException, DiagnosticException, RecursionError):
        raise
    except Exception as e:
        # xDSL's verifiers expect some properties of one another's operations.
        text = str(e) or type(e).__name__
        raise VerifyException(text).with_traceback(e.__traceback__) from e
    check_uses(module)


def check_version(module: ModuleOp, name: str) -> None:
    """
    Raises `CompileError` for IR that was saved in another version of its form, which may have another
    meaning now. IR without a version and a stage is accepted as hand-written.
    """
    found = module.attributes.get(VERSION)
    if isinstance(found, IntegerAttr):
        said = f"version {found.value.data}"
    elif STAGE in module.attributes:
        said = "a version before versions were numbered"
    else:
        return
    if said != f"version {IR_VERSION}":
        raise error(
            SourceLoc(name, 1, 1),
            f"the IR was saved in {said} of its form; this compiler reads version {IR_VERSION}",
            "save it again from the C files with --emit, or, if it is valid in this version,"
            f" write {VERSION} = {IR_VERSION} : i32",
        )


def place_in(span: Span[str] | Span[bytes], name: str) -> SourceLoc:
    """Where a span of the text of the file `name` begins."""
    before = span.input.content[: span.start]
    text = before.decode(errors="replace") if isinstance(before, bytes) else before
    return _place(text, len(text), name)


def _place(text: str, at: int, name: str) -> SourceLoc:
    return SourceLoc(name, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


def _check_strings(text: str, name: str) -> None:
    for found in _LEXEME.finditer(text):
        if found.group().startswith('"') and not found.group(1):
            place = _place(text, found.start(), name)
            raise error(place, "the string does not end on its line", "close it with '\"'")


def check_saved(module: ModuleOp) -> None:
    """
    Raises `CompileError` if IR that a user wrote or edited violates an invariant of the level that it is
    at (`acc`, if it does not say one). IR that was saved between levels is not checked, nor is that of
    another compiler's levels, which the pipeline refuses.
    """
    said = module.attributes.get(STAGE)
    stage = said.data if isinstance(said, StringAttr) else "acc"
    if NEXT_PASS in module.attributes or stage not in LEGAL_DIALECTS:
        return
    try:
        check_stage(module, stage)
    except CompileError as e:
        (found,) = e.diagnostics
        remedy = f"docs/design.md says what holds at the level '{stage}'"
        raise error(found.loc, found.message.removeprefix("internal: "), remedy) from e


_DEVICE_WORK = (
    acc.ParallelOp,
    acc.SerialOp,
    acc.KernelsOp,
    acc.LoopOp,
    acc.DataOp,
    gpu.LaunchFuncOp,
)


def check_module_level(module: ModuleOp) -> None:
    """Raises `CompileError` for an OpenACC or memory operation outside of functions."""
    for op in module.body.ops:
        inside = op.has_trait(SymbolOpInterface) or op.has_trait(IsolatedFromAbove)
        loose = op.name.startswith(("acc.", "accx.")) or isinstance(op, llvm.LoadOp | llvm.StoreOp)
        if not inside and (loose or isinstance(op, _DEVICE_WORK)):
            raise error(
                SourceLoc.from_attr(op.location),
                f"operation '{op.name}' is not in a function",
                "put it into the body of an llvm.func",
            )
