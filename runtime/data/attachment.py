"""
Attached pointers (OpenACC 3.4, 2.6.7 and 2.6.8): a pointer object that is on the device holds the device
address of its target there, while its attachment counter is not zero.
"""

from __future__ import annotations

from collections.abc import Callable

from ..device import Queue
from .actions import DataActions
from .clauses import POINTER_BYTES, Request
from .present import PresentTable


class Attachments:
    """Attaches and detaches pointers of one device's present table."""

    def __init__(
        self, table: PresentTable, actions: DataActions, read_pointer: Callable[[int], int]
    ):
        self._table = table
        self._actions = actions
        self._read_pointer = read_pointer

    def attach(
        self, pointer: int, value: int, target: int, size: int, queue: Queue, request: Request
    ) -> None:
        """
        Attaches the pointer object at host address `pointer`, which holds `value`, to the device
        copy of the `size` bytes at `target`. Nothing happens unless both are present.
        """
        holder = self._table.containing(pointer, POINTER_BYTES)
        if holder is None or value == 0:
            return
        ordering = self._actions.ordering
        ordering.use(holder.users, queue)
        count = holder.attachments.get(pointer, 0)
        if count == 0:
            pointee = self._table.containing(target, size)
            if pointee is None:
                return
            ordering.use(pointee.users, queue)
            address = pointee.device_address(value)
            self._actions.set_pointer("attach", pointer, address, holder, request, queue)
        holder.attachments[pointer] = count + 1
        if count == 0:
            self._table.renew(holder)

    def detach(self, pointer: int, finalize: bool, queue: Queue, request: Request) -> None:
        """Undoes one attach, or all with `finalize`; then restores the host address."""
        holder = self._table.containing(pointer, POINTER_BYTES)
        count = holder.attachments.get(pointer, 0) if holder else 0
        if holder is None or count == 0:
            return
        if count > 1 and not finalize:
            holder.attachments[pointer] = count - 1
            return
        del holder.attachments[pointer]
        self._table.renew(holder)
        value = self._read_pointer(pointer)
        self._actions.set_pointer("detach", pointer, value, holder, request, queue)
