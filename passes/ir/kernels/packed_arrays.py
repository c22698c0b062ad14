"""Finding the compressed arrays of a construct."""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.ir import Operation

from ....dialects.accx_compress import DECODES, PACKED, PackedType
from .outline import DATA_ENTRY


def packed_arrays(construct: acc.ParallelOp) -> list[tuple[Operation, PackedType]]:
    """
    The data operations of the compressed arrays that the construct's kernel decodes, with their packed
    types.
    """
    found: list[tuple[Operation, PackedType]] = []
    for operand in construct.data_clause_operands:
        entry = operand.owner
        if isinstance(entry, DATA_ENTRY) and DECODES in entry.attributes:
            packed = entry.attributes[PACKED]
            assert isinstance(packed, PackedType)
            found.append((entry, packed))
    return found
