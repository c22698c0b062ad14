"""
What operations say of themselves where threads work together, for passes that need not know which they are.

A clause that lets threads compute together what a loop does in order is a mark in the loop's body
(`HandsOnOp`), until a pass carries it out and leaves one operation of several threads (`TogetherOp`).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation


class HandsOnOp(IRDLOperation, ABC):
    """
    Marks, in the body of an `acc.loop`, that each iteration takes a value from the one before, and that the
    loop may have levels all the same: whoever expands the mark keeps the result of C's order.
    """


class TogetherOp(IRDLOperation, ABC):
    """
    Is carried out by all threads that run the code, as one: they arrive together, and none may leave it out.
    `DONE` is what is done to the elements it reads, a participle, for messages.
    """

    DONE: ClassVar[str]

    @property
    def read(self) -> Sequence[SSAValue]:
        """The pointers that it reads through."""
        raise NotImplementedError

    @property
    def written(self) -> Sequence[SSAValue]:
        """The pointers that it writes through."""
        raise NotImplementedError
