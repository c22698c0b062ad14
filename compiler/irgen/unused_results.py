"""
Calls of runtime routines whose result is not used.

`acc_copyin` and similar routines return the device address, and a program that knows device addresses may
use them in ways that the runtime does not see (docs/devices.md, "When the host waits"). Where the result is
not used, the call is replaced by one of the asynchronous routine with `acc_async_sync`, which does the same
and returns nothing (OpenACC 3.4, 3.2.20 and 3.2.21).
"""

from __future__ import annotations

from dataclasses import replace

from ..base.abi import ASYNC_SYNC
from ..c import ast as c
from ..c.types import INT, VOID, FunctionType
from .function import FunctionState

_ASYNCHRONOUS = {
    **dict.fromkeys(("acc_copyin", "acc_present_or_copyin", "acc_pcopyin"), "acc_copyin_async"),
    **dict.fromkeys(("acc_create", "acc_present_or_create", "acc_pcreate"), "acc_create_async"),
}


def without_result(fn: FunctionState, e: c.Call) -> c.Call:
    """A call with the same effect as `e` but without a result; `e` itself if there is no such routine."""
    if not isinstance(e.callee, c.FunctionRef):
        return e
    called = e.callee.decl
    name = _ASYNCHRONOUS.get(called.name)
    type = called.type
    if name is None or len(type.params) != 2 or called.is_static or fn.module.is_defined(called):
        return e
    queue = c.IntConst(type=INT, loc=e.loc, value=ASYNC_SYNC)
    own = FunctionType(VOID, (*type.params, INT))
    callee = replace(e.callee, type=own, decl=replace(called, name=name, type=own))
    return replace(e, type=VOID, callee=callee, args=[*e.args, queue], function_type=own)
