"""The `gpu.module` that kernels are written to."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import (
    LocationAttr,
)
from xdsl.ir import Attribute, Operation

from ...dialects import nvvm


@dataclass
class DeviceModule:
    """The `gpu.module`, the names in it, and the number of watched loops and scalars (`watches.py`)."""

    op: gpu.ModuleOp
    names: set[str] = field(default_factory=set[str])
    watched_loops: int = 0
    watched_scalars: int = 0

    def unique(self, stem: str) -> str:
        """`stem`, with a number appended if it is taken; the result is then reserved."""
        name, count = stem, 1
        while name in self.names:
            count += 1
            name = f"{stem}_{count}"
        self.names.add(name)
        return name

    def add(self, op: Operation) -> None:
        """Appends a symbol to the module."""
        self.op.body.block.add_op(op)

    def shared_global(self, name: str, type: Attribute, loc: LocationAttr) -> llvm.GlobalOp:
        """A new static variable in shared memory; `name` is a stem."""
        op = llvm.GlobalOp(
            type, self.unique(name), "internal", nvvm.ADDRESS_SPACE_SHARED, alignment=16
        )
        op.location = loc
        block = self.op.body.block
        if block.first_op is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, block.first_op)
        return op
