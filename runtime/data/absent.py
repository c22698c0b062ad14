"""The error for data that a clause requires and that is not present."""

from __future__ import annotations

from ...compiler.base.abi import DataFlag
from ..errors import AccRuntimeError, ErrorClass, HostRange
from .clauses import WORDS, Request
from .present import PresentTable


def not_present(request: Request, table: PresentTable) -> AccRuntimeError:
    """The error for a request whose data is absent from `table`, with what is present of it."""
    clause = WORDS[request.kind]
    if request.flags & DataFlag.IMPLICIT:
        message = (
            f"'{request.name}' is used in the construct, is not present on the device,"
            " and its extent is unknown"
        )
        remedy = (
            f"add a data clause that states its extent, such as copy({request.name}[0:n]),"
            " to this construct or to a data construct around it"
        )
    else:
        message = f"'{request.name}' in {clause} is not present on the device"
        remedy = f"map it first: enter data copyin({request.name}), or a data construct around this"
    near = table.overlapping(request.start, max(request.bytes, 1))
    return AccRuntimeError(
        ErrorClass.NOT_PRESENT,
        message,
        requested=HostRange(request.start, request.bytes),
        overlapping=tuple(e.range() for e in near),
        remedy=remedy,
    )
