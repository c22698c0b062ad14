"""
Copies of whole structures from and to compressed arrays, rewritten as copies of their numbers.

`p = points[i]` may be one `memcpy` in IR, which would copy packed numbers as plain ones; each number has to
be decoded or encoded, as in an access to a member. (`split-records` has rewritten the copies that are faster
by scalars.)
"""

from __future__ import annotations

from xdsl.dialects import acc, llvm
from xdsl.ir import Attribute, SSAValue

from ...dialects.accx_element import ElementOp
from ...dialects.llvm_ext import MemcpyOp, MemmoveOp
from ..decisions.record_copies import MOST_SCALARS
from ..ir.ops.building import Cursor, constant_value, erase
from ..ir.ops.layout import size_of
from ..ir.values.addresses import steps_of
from ..ir.values.record_parts import TypedObject, common_parts, copy_parts


def spread_copies(construct: acc.ParallelOp, array: SSAValue, element: Attribute) -> None:
    """
    Replaces copies of constant size in `construct` from or to elements of `array`, which are of type
    `element`, by loads and stores. Longer copies than of `MOST_SCALARS` are refused later.
    """
    work = [(array, element)]
    while work:
        pointer, type = work.pop()
        for use in list(pointer.uses):
            op = use.operation
            if not construct.is_ancestor(op) or op is construct:
                continue
            match op:
                case llvm.GEPOp() | ElementOp() if use.index == 0:
                    *_, last = steps_of(op)
                    work.append((op.result, last.selected))
                case MemcpyOp() | MemmoveOp():
                    _spread(op, type)
                case _:
                    pass


def _spread(op: MemcpyOp | MemmoveOp, type: Attribute) -> None:
    bytes = constant_value(op.len)
    size = size_of(type)
    if bytes is None or bytes == 0 or bytes % size != 0:
        return
    target, source = (TypedObject(place, type, bytes // size) for place in (op.dst, op.src))
    parts = common_parts(target, source, MOST_SCALARS)
    if parts is not None:
        copy_parts(Cursor.before(op), target, source, parts)
        erase(op)
