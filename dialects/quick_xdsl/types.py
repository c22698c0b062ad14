"""
xDSL's classes without the cost of abstract ones: `isinstance` checks inheritance only, and classes whose
objects are equal only to themselves use Python's identity comparison and hash.
"""

from __future__ import annotations

from abc import ABCMeta

from xdsl.ir import Attribute, core
from xdsl.irdl import operations as irdl


class _PlainMeta(ABCMeta):
    """The metaclass of an abstract class without virtual subclasses: membership is inheritance."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


def _make_plain(cls: type) -> None:
    """Gives `cls` and its subclasses the plain metaclass; later subclasses inherit it."""
    if type(cls) is ABCMeta:
        cls.__class__ = _PlainMeta
    for derived in type.__subclasses__(cls):
        _make_plain(derived)


def install() -> None:
    nodes = core._IRNode  # pyright: ignore[reportPrivateUsage]
    for cls in (Attribute, core.IRWithUses, core.IRWithName, nodes, irdl.OperandOrResultDef):
        _make_plain(cls)
    for cls in (core.SSAValue, core.Use, nodes):
        for name in ("__eq__", "__hash__"):
            setattr(cls, name, getattr(object, name))
