"""
Interfaces of operations that several threads carry out together, for passes that need not know the
operations.

A clause by which threads compute the result of a sequential loop together is a mark in the loop's body
(`HandsOnOp`), until a pass replaces it by one operation of several threads (`TogetherOp`).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation


class HandsOnOp(IRDLOperation, ABC):
    """
    Marks, in the body of an `acc.loop`, that each iteration takes a value from the one before, but that the
    loop may have levels: the pass that expands the mark keeps the result of the sequential order.
    """


class TogetherOp(IRDLOperation, ABC):
    """
    An operation that all threads running the code carry out together: all of them must reach it. `DONE` is
    a participle for messages, naming what is done to the elements that it reads.
    """

    DONE: ClassVar[str]

    @property
    def read(self) -> Sequence[SSAValue]:
        """The pointers through which it reads."""
        raise NotImplementedError

    @property
    def written(self) -> Sequence[SSAValue]:
        """The pointers through which it writes."""
        raise NotImplementedError
