"""
Sections through arrays of pointers: `a[0:n][0:m]` of `float **a` (OpenACC 3.4, 2.7.1).

Such a clause means the block of pointers and every row they point to, each row attached to its
pointer. A request for one has the flag `ROWS` and a shape whose dimensions of pointers, which are
followed to the next dimension, have a negative stride; `parts` are the requests it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from .abi import DataFlag, DataKind

if TYPE_CHECKING:
    from .mapping import Request

Triple = tuple[int, int, int]

_BLOCK_KINDS = {
    DataKind.COPY: DataKind.CREATE,
    DataKind.COPYIN: DataKind.CREATE,
    DataKind.COPYOUT: DataKind.CREATE,
}
"""What a clause on the rows asks for the pointers: their values come from attaching the rows."""


def parts(
    request: Request, read_pointer: Callable[[int], int], *, leaving: bool = False
) -> list[Request]:
    """
    The requests that `request` stands for, the block of pointers first; only itself if it has no
    rows. `leaving`: the clause is that of `exit data`, whose `copyout` ends the block's life. An
    update has no block: only rows are moved.
    """
    if not request.flags & DataFlag.ROWS:
        return [request]
    kind = _BLOCK_KINDS.get(request.kind, request.kind)
    if leaving and request.dynamic and request.kind == DataKind.COPYOUT:
        kind = DataKind.DELETE
    plain = replace(request, flags=request.flags & ~DataFlag.ROWS, shape=())
    found = _expand(plain, request.base, request.pointer, request.shape, kind, read_pointer)
    updates = request.kind in (DataKind.UPDATE_SELF, DataKind.UPDATE_DEVICE)
    return [part for part, is_block in found if not (updates and is_block)]


def _expand(
    plain: Request,
    base: int,
    pointer: int,
    dims: Sequence[Triple],
    kind: DataKind,
    read_pointer: Callable[[int], int],
) -> Iterator[tuple[Request, bool]]:
    last = next((i for i, (_, _, stride) in enumerate(dims) if stride < 0), None)
    head = list(dims) if last is None else [(a, n, abs(s)) for a, n, s in dims[: last + 1]]
    offset = sum(lower * stride for lower, _, stride in head)
    if any(extent <= 0 for _, extent, _ in head):
        size = 0
    else:
        size = head[-1][2] + sum((extent - 1) * stride for _, extent, stride in head)
    block = replace(plain, base=base, offset=offset, bytes=size, pointer=pointer)
    if last is None:
        block.shape = tuple(head) if len(head) > 1 else ()
        yield block, False
        return
    block.kind = kind
    yield block, True
    if base == 0 or size == 0:
        return
    for position in product(*(range(lower, lower + extent) for lower, extent, _ in head)):
        address = base + sum(i * stride for i, (_, _, stride) in zip(position, head, strict=True))
        row = read_pointer(address)
        yield from _expand(plain, row, address, dims[last + 1 :], kind, read_pointer)
