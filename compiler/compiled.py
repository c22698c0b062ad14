"""The result of compilation: code for the host and the device, and the table of launch sites."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from .base.diagnostics import Diagnostic, DiagnosticSink, from_plain, to_plain
from .base.options import CompileOptions

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation

    from .c.preprocess import PreprocessedSource


PlainValue: TypeAlias = "str | int | list[PlainValue] | dict[str, PlainValue]"


@dataclass(frozen=True)
class Executable:
    """
    A compiled program, ready for `Program`: `host_ir` is LLVM IR text, `ptx` the device code (empty
    unless the target is a GPU and there are constructs), `sites` the site table as plain
    dictionaries, `kernels` the `gpu.module` that the simulator runs, `sources` the preprocessed files.
    """

    host_ir: str
    ptx: str
    sites: tuple[dict[str, Any], ...]
    options: CompileOptions
    kernels: Operation | None = None
    sources: tuple[PreprocessedSource, ...] = ()


def _plain(attr: Attribute) -> PlainValue:
    """An attribute of the site table as a plain Python value."""
    from xdsl.dialects import builtin

    from ..dialects.dense import integers

    match attr:
        case builtin.StringAttr():
            return attr.data
        case builtin.IntegerAttr():
            return attr.value.data
        case builtin.SymbolRefAttr():
            return attr.string_value()
        case builtin.ArrayAttr():
            return [_plain(a) for a in attr.data]
        case builtin.DenseArrayBase():
            return list(integers(attr))
        case builtin.DictionaryAttr():
            return {k: _plain(v) for k, v in attr.data.items()}
        case _:
            raise TypeError(f"{attr} is not allowed in the site table")


def site_table(module: ModuleOp) -> tuple[dict[str, Any], ...]:
    """The module attribute `accx.sites` as plain dictionaries."""
    from ..dialects.accx import SITES

    attr = module.attributes.get(SITES)
    if attr is None:
        return ()
    table = _plain(attr)
    assert isinstance(table, list)
    return tuple(entry for entry in table if isinstance(entry, dict))


def executable_to_json(executable: Executable, diagnostics: Sequence[Diagnostic]) -> bytes:
    """The cache's form of an executable, with its warnings, without `kernels` and `sources`."""
    fields = {
        "host_ir": executable.host_ir,
        "ptx": executable.ptx,
        "sites": executable.sites,
        "diagnostics": [to_plain(each) for each in diagnostics],
    }
    return json.dumps(fields).encode()


def executable_from_json(data: bytes, options: CompileOptions, sink: DiagnosticSink) -> Executable:
    """The executable from the cache's form; adds the warnings of its compilation to `sink` again."""
    fields = json.loads(data)
    sink.diagnostics += map(from_plain, fields["diagnostics"])
    return Executable(fields["host_ir"], fields["ptx"], tuple(fields["sites"]), options)
