"""Runtime calls for constructs of other devices and copies between devices (`dialects/accx_devices.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ....compiler.base.abi import PeerUpdate
from ....dialects.accx_devices import EnterDeviceOp, LeaveDeviceOp, UpdatePeerOp
from ..ops.building import Cursor, erase
from .runtime_calls import RuntimeCalls, synchronous
from .sites import SiteVariable


@dataclass(frozen=True)
class DeviceCalls:
    """
    Lowers these operations in one function. Stack slots are made at `entry`; `site(kind, op, records,
    variables)` adds a site.
    """

    calls: RuntimeCalls
    entry: Cursor
    site: Callable[..., int]

    def lower(self, op: EnterDeviceOp | LeaveDeviceOp | UpdatePeerOp) -> None:
        """Replaces `op` by a call of the runtime."""
        at = Cursor.before(op)
        match op:
            case EnterDeviceOp():
                site = at.i32(self.site("deviceid", op))
                former = self.calls.value(at, "__accopt_enter_device", site, op.number)
                op.former.replace_all_uses_with(former)
            case LeaveDeviceOp():
                self.calls.call(at, "__accopt_leave_device", at.i32(-1), op.former)
            case UpdatePeerOp():
                self._update_peer(op, at)
        erase(op)

    def _update_peer(self, op: UpdatePeerOp, at: Cursor) -> None:
        names = [SiteVariable(name.data) for name in (op.to_name, op.from_name)]
        site = at.i32(self.site("update peer", op, (), names))
        words: dict[str, SSAValue] = {
            "to": self._word(op.to, at),
            "origin": self._word(op.origin, at),
            "to_device": at.to_i64(op.to_device),
            "from_device": at.to_i64(op.from_device),
            "to_bytes": at.i64(op.to_bytes.value.data),
            "from_bytes": at.i64(op.from_bytes.value.data),
            "to_dims": at.i64(len(op.to_bounds) // 3),
            "from_dims": at.i64(len(op.from_bounds) // 3),
            "to_shape": self._shape(op.to_bounds, at),
            "from_shape": self._shape(op.from_bounds, at),
            "queue": synchronous(at) if op.queue is None else at.to_i64(op.queue),
        }
        fields: Sequence[Any] = PeerUpdate._fields_
        memory = self.entry.alloca(llvm.LLVMArrayType(len(fields), i64), "peer")
        for name, *_ in fields:
            at.store(words[name], at.field(memory, getattr(PeerUpdate, name).offset))
        self.calls.call(at, "__accopt_update_peer", site, memory)

    def _shape(self, bounds: Sequence[SSAValue], at: Cursor) -> SSAValue:
        if not bounds:
            return at.i64(0)
        memory = self.entry.alloca(llvm.LLVMArrayType(len(bounds), i64), "shape")
        for index, value in enumerate(bounds):
            at.store(value, at.field(memory, 8 * index))
        return self._word(memory, at)

    @staticmethod
    def _word(pointer: SSAValue, at: Cursor) -> SSAValue:
        return at.value(llvm.PtrToIntOp(pointer, i64))
