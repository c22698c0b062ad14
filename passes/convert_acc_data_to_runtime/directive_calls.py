"""
Executable directives (OpenACC 3.4, 2.14, 2.16) as runtime calls, and the queues and waits of data directives.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc
from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ...compiler.base.abi import ASYNC_NOVAL, NOT_GIVEN, DeviceOperation, DeviceType
from ..ir.kernels.outline import WaitArgument, queue_value, wait_argument
from ..ir.kernels.runtime_calls import synchronous
from ..ir.kernels.sites import SiteKind
from ..ir.ops.building import Cursor, erase
from .data_groups import DataGroups

_DEVICE_TYPES = {
    acc.DeviceType.NONE: DeviceType.DEFAULT,
    acc.DeviceType.STAR: DeviceType.DEFAULT,
    acc.DeviceType.DEFAULT: DeviceType.DEFAULT,
    acc.DeviceType.HOST: DeviceType.HOST,
    acc.DeviceType.MULTICORE: DeviceType.HOST,
    acc.DeviceType.NVIDIA: DeviceType.NVIDIA,
    acc.DeviceType.RADEON: DeviceType.RADEON,
}


@dataclass
class DirectiveCalls:
    """Lowers the executable directives of one host function; `groups` has its launch sites."""

    groups: DataGroups

    def queue_of(self, op: acc.DataOp | acc.UpdateOp, at: Cursor) -> SSAValue:
        """The queue of a directive's async clause, after emitting its wait clause."""
        queue = queue_value(
            at, list(op.async_operands), op.async_operands_device_type, op.async_only
        )
        waited = wait_argument(
            list(op.wait_operands),
            op.wait_operands_device_type,
            op.wait_operands_segments,
            op.has_wait_devnum,
            op.wait_only,
        )
        self._wait_clause(op, at, queue, waited, op.if_cond)
        return queue

    def start(
        self,
        op: acc.EnterDataOp | acc.ExitDataOp,
        async_operand: SSAValue | None,
        async_attr: Attribute | None,
        condition: SSAValue | None,
    ) -> tuple[Cursor, SSAValue]:
        """The queue of `enter data` or `exit data`, and a cursor after the wait of its wait clause."""
        at = Cursor.before(op)
        queue = _queue(at, async_operand, async_attr)
        wait: WaitArgument | None = None
        if op.wait_operands:
            wait = WaitArgument(tuple(op.wait_operands), op.wait_devnum)
        elif op.wait_attr is not None:
            wait = WaitArgument((), None)
        self._wait_clause(op, at, queue, wait, condition)
        return at, queue

    def _wait_clause(
        self,
        op: Operation,
        at: Cursor,
        queue: SSAValue,
        wait: WaitArgument | None,
        condition: SSAValue | None,
    ) -> None:
        """Emits the wait of `queue` that a wait clause or directive asks for."""
        if wait is None:
            return
        inner = at if condition is None else at.if_then(condition)
        site = self.groups.site("wait", op)
        self.groups.calls.wait(inner, self.groups.entry(), site, wait, queue)

    def wait(self, op: acc.WaitOp) -> None:
        """Lowers `wait`."""
        at = Cursor.before(op)
        queue = _queue(at, op.async_operand, op.async_attr)
        wait = WaitArgument(tuple(op.wait_operands), op.wait_devnum)
        self._wait_clause(op, at, queue, wait, op.if_cond)
        erase(op)

    def init(
        self, op: acc.InitOp | acc.ShutdownOp, operation: DeviceOperation, kind: SiteKind
    ) -> None:
        """Lowers `init` and `shutdown`."""
        at = Cursor.before(op)
        inner = at if op.if_cond is None else at.if_then(op.if_cond)
        types = op.device_types
        given = [] if not isinstance(types, ArrayAttr) else list(types.data)
        site = self.groups.site(kind, op)
        for type in given or [None]:
            self.groups.calls.device(
                inner, site, operation, _device_type(inner, type), _number(inner, op.device_num)
            )
        erase(op)

    def set(self, op: acc.SetOp) -> None:
        """Lowers `set`."""
        at = Cursor.before(op)
        inner = at if op.if_cond is None else at.if_then(op.if_cond)
        site = self.groups.site("set", op)
        if op.device_num is not None or op.device_type is not None:
            self.groups.calls.device(
                inner, site, DeviceOperation.SET_TYPE_AND_NUMBER,
                _device_type(inner, op.device_type), _number(inner, op.device_num),
            )  # fmt: skip
        if op.default_async is not None:
            self.groups.calls.device(
                inner, site, DeviceOperation.SET_DEFAULT_ASYNC,
                inner.i64(NOT_GIVEN), inner.to_i64(op.default_async),
            )  # fmt: skip
        erase(op)


def _queue(at: Cursor, operand: SSAValue | None, bare: Attribute | None) -> SSAValue:
    if operand is not None:
        return at.to_i64(operand)
    return at.i64(ASYNC_NOVAL) if bare is not None else synchronous(at)


def _device_type(at: Cursor, type: Attribute | None) -> SSAValue:
    known = isinstance(type, acc.DeviceTypeAttr) and type.data is not acc.DeviceType.NONE
    assert type is None or isinstance(type, acc.DeviceTypeAttr)
    return at.i64(int(_DEVICE_TYPES[type.data]) if known and type is not None else NOT_GIVEN)


def _number(at: Cursor, value: SSAValue | None) -> SSAValue:
    return at.i64(NOT_GIVEN) if value is None else at.to_i64(value)
