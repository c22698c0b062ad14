# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (llvmlite has no complete types)
"""
Native code of the runtime itself: LLVM IR with addresses of this process as symbols, so that the object
code is the same in every process and can be taken from the disk cache.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from ...compiler.backend.cache import DiskCache, content_key
from ...compiler.backend.host_code import host_machine, initialize, object_code, processor
from ...compiler.backend.jit import exported_names
from ...compiler.backend.optimize import open_module
from ...compiler.base.memory import require_room
from ...compiler.base.options import OptLevel
from .text import expanded, form_of

_PREFIX = "at."
_OPT_LEVEL = 2
"""The level of code generation without optimisation passes."""
EVERY_CONSTRUCT: OptLevel = 1
"""
The level for what every construct calls: with its small functions inlined, a construct whose data is present
takes less than half of the time, and LLVM 0.1 s more, once for each cache.
"""


class NativeCode:
    """
    The functions of a text of native code (`text.py`) as code in this process, alive with the object. If
    there are `addresses` or `constants`, the text has `str.format` fields: one in `addresses` is replaced by
    that integer constant (an `i64`), one in `constants` by its text; only the latter are part of the cache
    key. `optimize`: as for `native_object`.

    LLVM treats the addresses as those of different variables, so an address inside the same object must be
    written as an offset (`offset_from`).
    """

    def __init__(
        self,
        text: str,
        addresses: Mapping[str, int] | None = None,
        constants: Mapping[str, int | str] | None = None,
        *,
        optimize: OptLevel | None = None,
    ):
        initialize()
        addresses, constants = addresses or {}, constants or {}
        # LLVM assumes that a symbol is not null; the address of a missing routine is.
        symbols = {name: address for name, address in addresses.items() if address}
        fields = {name: _integer(name) if name in symbols else 0 for name in addresses}
        declared = "".join(f"@{_PREFIX}{name} = external global i8\n" for name in symbols)
        ir = text.format(**fields, **constants) if fields or constants else text
        ir += declared
        code = native_object(ir, DiskCache.default("host"), optimize)
        builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name, address in symbols.items():
            builder.import_symbol(_PREFIX + name, address)
        for name in exported_names(ir):
            builder.export_symbol(name)
        require_room()
        self._jit = llvm.create_lljit_compiler(None, use_jit_link=True, suppress_errors=True)
        self._library = builder.link(self._jit, "native")

    def address(self, name: str) -> int:
        """The C address of a function."""
        return self._library[name]

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """The function as a ctypes callable with these ctypes types (`None` for void)."""
        return ctypes.CFUNCTYPE(result, *arguments)(self.address(name))


def offset_from(name: str, offset: int) -> str:
    """The text of a field for the address `offset` bytes after the one called `name` in `addresses`."""
    return f"ptrtoint (ptr getelementptr (i8, ptr @{_PREFIX}{name}, i64 {offset}) to i64)"


def _integer(name: str) -> str:
    return f"ptrtoint (ptr @{_PREFIX}{name} to i64)"


def native_object(ir: str, cache: DiskCache, optimize: OptLevel | None = None) -> bytes:
    """
    The object code of a text without fields, from the cache, or compiled and put there. `optimize`: the
    level of LLVM's optimisation passes; None for none, as a cold start waits for them.
    """
    made_for = astuple(processor())
    key = content_key("native", llvmlite.__version__, *made_for, str(optimize), form_of(ir), ir)
    return cache.get_or_make(key, lambda: _compiled(expanded(ir), optimize))


def _compiled(ir: str, optimize: OptLevel | None) -> bytes:
    if optimize is not None:
        return object_code(ir, optimize)
    machine = host_machine(_OPT_LEVEL)
    header = f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"\n'
    with open_module(header + ir, "runtime's own code") as (module, _):
        return bytes(machine.emit_object(module))
