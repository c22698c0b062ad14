"""
The `acc_*` routines of `openacc.h` (OpenACC 3.4, section 3), with the C calling convention.

`ROUTINES` is the table of all of them: name → signature and the method of `DeviceRoutines` or
`DataRoutines` that performs it. In a signature `i` is an int (also enumerations), `p` a pointer, `z` a
size_t, `v` nothing; the result comes first. A routine whose name ends in `_async` takes one more int and
returns nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from .compression.api import SIGNATURES as COMPRESSION_ROUTINES
from .compression.api import CompressionRoutines
from .data_routines import DataRoutines
from .device_routines import DeviceRoutines
from .errors import ProgramPlace

if TYPE_CHECKING:
    from .program import Runtime

_C_TYPES: dict[str, Any] = {
    "v": None,
    "i": ctypes.c_int,
    "p": ctypes.c_int64,
    "z": ctypes.c_size_t,
    "d": ctypes.c_double,
    "f": ctypes.c_float,
}


@dataclass(frozen=True, slots=True)
class Routine:
    """C signature (result first) and the name of the method that performs the routine."""

    signature: str
    method: str


ROUTINES: dict[str, Routine] = {
    "acc_get_num_devices": Routine("ii", "get_num_devices"),
    "acc_set_device_type": Routine("vi", "set_device_type"),
    "acc_get_device_type": Routine("i", "get_device_type"),
    "acc_set_device_num": Routine("vii", "set_device_num"),
    "acc_get_device_num": Routine("ii", "get_device_num"),
    "acc_get_property": Routine("ziii", "get_property"),
    "acc_get_property_string": Routine("piii", "get_property_string"),
    "acc_init": Routine("vi", "init"),
    "acc_init_device": Routine("vii", "init_device"),
    "acc_shutdown": Routine("vi", "shutdown"),
    "acc_shutdown_device": Routine("vii", "shutdown_device"),
    "acc_async_test": Routine("ii", "async_test"),
    "acc_async_test_device": Routine("iii", "async_test"),
    "acc_async_test_all": Routine("i", "async_test_all"),
    "acc_async_test_all_device": Routine("ii", "async_test_all"),
    "acc_wait": Routine("vi", "wait"),
    "acc_wait_device": Routine("vii", "wait"),
    "acc_wait_all": Routine("v", "wait_all"),
    "acc_wait_all_device": Routine("vi", "wait_all"),
    "acc_wait_async": Routine("vii", "wait_async"),
    "acc_wait_device_async": Routine("viii", "wait_async"),
    "acc_wait_all_async": Routine("vi", "wait_all_async"),
    "acc_wait_all_device_async": Routine("vii", "wait_all_async"),
    "acc_wait_any": Routine("iip", "wait_any"),
    "acc_wait_any_device": Routine("iipi", "wait_any"),
    "acc_get_default_async": Routine("i", "get_default_async"),
    "acc_set_default_async": Routine("vi", "set_default_async"),
    "acc_async_wait": Routine("vi", "wait"),
    "acc_async_wait_all": Routine("v", "wait_all"),
    "acc_get_current_cuda_device": Routine("p", "get_current_cuda_device"),
    "acc_get_current_cuda_context": Routine("p", "get_current_cuda_context"),
    "acc_get_cuda_stream": Routine("pi", "get_cuda_stream"),
    "acc_set_cuda_stream": Routine("iip", "set_cuda_stream"),
    "acc_on_device": Routine("ii", "on_device"),
    "acc_malloc": Routine("pz", "malloc"),
    "acc_free": Routine("vp", "free"),
    "acc_copyin": Routine("ppz", "copyin"),
    "acc_copyin_async": Routine("vpzi", "copyin_async"),
    "acc_present_or_copyin": Routine("ppz", "copyin"),
    "acc_pcopyin": Routine("ppz", "copyin"),
    "acc_create": Routine("ppz", "create"),
    "acc_create_async": Routine("vpzi", "create_async"),
    "acc_present_or_create": Routine("ppz", "create"),
    "acc_pcreate": Routine("ppz", "create"),
    "acc_copyout": Routine("vpz", "copyout"),
    "acc_copyout_async": Routine("vpzi", "copyout"),
    "acc_copyout_finalize": Routine("vpz", "copyout_finalize"),
    "acc_copyout_finalize_async": Routine("vpzi", "copyout_finalize"),
    "acc_delete": Routine("vpz", "delete"),
    "acc_delete_async": Routine("vpzi", "delete"),
    "acc_delete_finalize": Routine("vpz", "delete_finalize"),
    "acc_delete_finalize_async": Routine("vpzi", "delete_finalize"),
    "acc_update_device": Routine("vpz", "update_device"),
    "acc_update_device_async": Routine("vpzi", "update_device"),
    "acc_update_self": Routine("vpz", "update_self"),
    "acc_update_self_async": Routine("vpzi", "update_self"),
    "acc_map_data": Routine("vppz", "map_data"),
    "acc_unmap_data": Routine("vp", "unmap_data"),
    "acc_deviceptr": Routine("pp", "deviceptr"),
    "acc_hostptr": Routine("pp", "hostptr"),
    "acc_is_present": Routine("ipz", "is_present"),
    "acc_memcpy_to_device": Routine("vppz", "memcpy_to_device"),
    "acc_memcpy_to_device_async": Routine("vppzi", "memcpy_to_device"),
    "acc_memcpy_from_device": Routine("vppz", "memcpy_from_device"),
    "acc_memcpy_from_device_async": Routine("vppzi", "memcpy_from_device"),
    "acc_memcpy_device": Routine("vppz", "memcpy_device"),
    "acc_memcpy_device_async": Routine("vppzi", "memcpy_device"),
    "acc_memcpy_d2d": Routine("vppzii", "memcpy_d2d"),
    "acc_memcpy_d2d_async": Routine("vppziii", "memcpy_d2d"),
    "acc_update_peer": Routine("vpipiz", "update_peer"),
    "acc_attach": Routine("vp", "attach"),
    "acc_attach_async": Routine("vpi", "attach"),
    "acc_detach": Routine("vp", "detach"),
    "acc_detach_async": Routine("vpi", "detach"),
    "acc_detach_finalize": Routine("vp", "detach_finalize"),
    "acc_detach_finalize_async": Routine("vpi", "detach_finalize"),
    "acc_prof_register": Routine("vipi", "prof_register"),
    "acc_prof_unregister": Routine("vipi", "prof_unregister"),
    "acc_prof_lookup": Routine("pp", "prof_lookup"),
}


def api_callbacks(runtime: Runtime) -> dict[str, Any]:
    """A ctypes callback for every routine; the caller keeps them alive."""
    routines = DeviceRoutines(runtime), DataRoutines(runtime)
    compression = CompressionRoutines(runtime)
    result: dict[str, Any] = {}
    table = [
        (name, known.signature, getattr(each, known.method))
        for name, known in ROUTINES.items()
        for each in routines
        if hasattr(each, known.method)
    ]
    for name, (signature, method) in COMPRESSION_ROUTINES.items():
        table.append((name, signature, getattr(compression, method)))
    for name, signature, method in table:
        types = [_C_TYPES[letter] for letter in signature]
        result[name] = ctypes.CFUNCTYPE(*types)(partial(_call, runtime, ProgramPlace(name), method))
    return result


def _call(runtime: Runtime, place: ProgramPlace, method: Callable[..., Any], *args: int) -> Any:
    """Runs one routine; errors get the routine's name as their place."""
    try:
        return method(*args)
    except BaseException as error:
        return runtime.failures.die(error, place)
    finally:
        runtime.count_work()
