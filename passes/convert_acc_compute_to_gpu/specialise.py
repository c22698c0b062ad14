"""Copies of routines in the device module; for parallel routines one per block shape and calling mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects import llvm
from xdsl.ir import Block, Operation, Region

from ...compiler.base.diagnostics import SourceLoc, error
from ...compiler.base.names import ptx_name
from ..decisions.device_functions import is_device_callable
from ..decisions.loop_partition import Mode
from .barriers import ANY_INTERNAL, accesses
from .context import Kernel
from .routines import DeviceReferences


@dataclass
class Specialiser:
    """
    Makes the device copies of functions. `lower_body` lowers the function's region with a kernel state
    (`launch.py` provides it).
    """

    symbols: DeviceReferences
    lower_body: Callable[[Kernel, Region, Region, Block], None]
    made: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def function(self, name: str, caller: Kernel, call: Operation) -> str:
        """The device function to call for the routine or library function `name`."""
        function = self.symbols.calls.symbols.get(name)
        if not isinstance(function, llvm.FuncOp):
            return name
        if not function.body.blocks:
            if not is_device_callable(name) and name not in self.symbols.calls.routines:
                raise error(
                    SourceLoc.from_attr(call.location),
                    f"function '{name}' is called in device code but has no body here",
                    "add its source file to the command line",
                )
            self.symbols.declare(name)
            return name
        parallel = self.symbols.calls.has_parallelism(name)
        suffix = _suffix(caller) if parallel else ""
        key = name, suffix
        if key not in self.made:
            self.made[key] = self.symbols.device.unique(ptx_name(name + suffix))
            self._make(function, self.made[key], caller, parallel)
        return self.made[key]

    def _make(self, function: llvm.FuncOp, name: str, caller: Kernel, parallel: bool) -> None:
        old = function.body
        entry = Block(arg_types=[a.type for a in old.blocks[0].args])
        region = Region(entry)
        copy = llvm.FuncOp(
            name,
            function.function_type,
            llvm.LinkageAttr("internal"),
            function.CConv,
            body=region,
        )
        copy.location = function.location
        self.symbols.device.add(copy)
        mode = caller.mode if parallel else Mode.THREAD
        k = Kernel(self.symbols.device, name, caller.shape, mode, entry, copy.location)
        k.is_kernel = False
        k.use_redux, k.gang_dims = caller.use_redux, caller.gang_dims
        k.watch = caller.watch
        k.exchange = caller.exchange
        for arg, inner in zip(old.blocks[0].args, entry.args, strict=True):
            inner.name_hint = arg.name_hint
        k.tracker.add(accesses((ANY_INTERNAL,), (ANY_INTERNAL,), leader=False))
        self.lower_body(k, old, region, entry)
        k.finish()


def _suffix(caller: Kernel) -> str:
    """The name suffix of a parallel routine's copy, which names the calling mode and the block shape."""
    lanes = "n" if caller.shape.lanes is None else str(caller.shape.lanes)
    workers = "n" if caller.shape.workers is None else str(caller.shape.workers)
    return f"_{caller.mode.value}_{lanes}x{workers}"
