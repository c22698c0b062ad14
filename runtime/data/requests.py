"""Converts data records of compiled code to requests of data clauses."""

from __future__ import annotations

import ctypes
from typing import Any

from ...compiler.base.abi import RECORD_BYTES, RECORD_FORMAT, DataFlag, DataKind
from ..compression.arrays import PackedRequest
from ..sites import COMPUTE, Site
from .clauses import Request
from .sections import Triple

_unpack_record = RECORD_FORMAT.unpack_from


def read_shape(address: int, dims: int) -> tuple[Triple, ...]:
    """The lower bound, extent and stride of each of `dims` dimensions."""
    words = (ctypes.c_int64 * (3 * dims)).from_address(address) if dims else ()
    return tuple((words[i], words[i + 1], words[i + 2]) for i in range(0, 3 * dims, 3))


def read_request(site: Site, buffer: ctypes.Array[Any], index: int) -> Request:
    """Record `index` of the array in `buffer`, for the clauses of `site`."""
    base, offset, size, pointer, device, kind, flags, variable, dims, shape = _unpack_record(
        buffer, index * RECORD_BYTES
    )
    triples: tuple[Triple, ...] = ()
    packed: PackedRequest | None = None
    if flags & DataFlag.COMPRESSED:
        packed, shape = PackedRequest.read(shape)
    if dims > 0 and shape:
        triples = read_shape(shape, dims)
        if any(extent <= 0 for _, extent, _ in triples):
            size = 0
    return Request(
        base,
        offset,
        size,
        DataKind(kind),
        flags,
        pointer,
        device,
        site.variable(variable),
        triples,
        str(site.place),
        packed,
        site.place.construct == COMPUTE,
    )
