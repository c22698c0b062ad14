"""
Reads IR from text that users and other tools wrote, and reports mistakes at their place.

xDSL's parser takes time without bound for a string that is not closed, and accepts operations where no
pass looks for them, so both are checked here.
"""

from __future__ import annotations

import re
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import acc, gpu, llvm
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.parser import Parser
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from ...dialects.accx import IR_VERSION, NEXT_PASS, STAGE, VERSION
from ..base.diagnostics import UNKNOWN_LOC, CompileError, SourceLoc, error
from .stages import check_stage

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


def parse_ir(ctx: Context, text: str, name: str) -> ModuleOp:
    """The verified module of a text. Raises `CompileError`, and xDSL's `VerifyException`."""
    _check_strings(text, name)
    try:
        module = Parser(ctx, text, name).parse_module()
    except ParseError as e:
        raise error(
            place_in(e.span, name),
            f"cannot parse IR: {e.msg}",
            "check the text at the place shown",
        ) from e
    check_version(module, name)
    module.verify()
    check_module_level(module)
    return module


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


def check_saved(module: ModuleOp, stage: str) -> None:
    """
    Raises `CompileError` if IR that a user wrote or edited violates an invariant of the level that it is
    at. IR that was saved between levels is not checked.
    """
    if NEXT_PASS in module.attributes:
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
