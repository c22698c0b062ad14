"""
Cache directives around parallel loops: the section belongs to the gang (or worker) as a whole, so the tile
is a gang-private array, which the lowering puts in shared memory, filled by a vector loop. The lowering
inserts barriers as for any private array.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import DenseArrayBase, i1, i8, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from ..decisions.cache_plan import SHARED_LIMIT, SMALL_WINDOW
from ..decisions.declined import Declined
from ..decisions.polynomials import ZERO, Polynomial
from ..ir.data.cached_accesses import (
    Cached,
    CachedAccess,
    Symbols,
    read_accesses,
    read_section,
    usual_turns,
)
from ..ir.data.cached_code import polynomial, split, total
from ..ir.ops.acc_ops import NONE, operations_around
from ..ir.ops.building import Cursor, erase
from .legality import check_accesses
from .limits import mapped_bytes
from .nest import is_partitioned

MAX_FRACTION = 2
"""The fraction of the static shared memory that a gang's private copy may take."""


@dataclass
class GangTile:
    """The private array of one section, with `pitches` bytes between neighbours of each dimension."""

    cached: Cached
    address: SSAValue
    pitches: list[int]


def promote_in_gang(op: acc.CacheOp, parent: Operation, *, trust: bool, always: bool) -> str:
    """
    Rewrites the scope of a directive in code of a gang or worker of `parent`, a construct or routine;
    returns the remark. Raises `Declined` with the reason if the section cannot be cached.
    """
    symbols = Symbols(parent)
    cached = Cached(op, read_section(op, symbols))
    read_accesses(cached, symbols)
    _check(cached, symbols, always)
    if cached.several:
        cached.accesses = [access for access in cached.accesses if access.certain]
    section = cached.section
    pitches = [section.element_bytes]
    for dim in reversed(section.dims[1:]):
        pitches.insert(0, pitches[0] * dim.length)
    size = section.elements * section.element_bytes
    if size * MAX_FRACTION > SHARED_LIMIT:
        raise Declined(f"a copy of {size} bytes for each gang leaves too little shared memory")
    at = Cursor.before(op)
    storage = llvm.LLVMArrayType(size, i8)
    memory = at.value(llvm.AllocaOp(at.i32(1), storage, alignment=16), f"{section.name}_tile")
    tile = GangTile(cached, memory, pitches)
    _fill(at, tile, size)
    proved = all(access.certain for access in cached.accesses)
    for access in cached.accesses:
        _rewrite(tile, access, checked=not (trust or access.certain))
    how = "intelligent" if proved or trust else "conservative"
    writes = any(access.is_store for access in cached.accesses)
    return (
        f"cache({section.name}) in shared memory: {size} bytes for each gang, filled by its threads;"
        f" range-based {how}{'; write-through' if writes else ''}"
    )


def _check(cached: Cached, symbols: Symbols, always: bool) -> None:
    cached.several = isinstance(cached.op.var.owner, acc.CacheOp) or any(
        isinstance(use.operation, acc.CacheOp) for use in cached.op.acc_var.uses
    )
    cached.written = any(access.is_store for access in cached.accesses)
    check_accesses(cached)
    reads: int | None = 0
    for access in cached.accesses:
        if access.element is None:
            raise Declined("not every subscript follows the dimensions of the section")
        if not access.is_store:
            turns = _turns(access.op, cached.op, symbols)
            reads = None if reads is None or turns is None else reads + turns
    if cached.several and not any(access.certain for access in cached.accesses):
        raise Declined(
            "several sections of the scope name the array, and no access is proved to lie in this one"
        )
    if not always and reads is not None and reads <= SMALL_WINDOW:
        raise Declined(
            f"{reads} reads per iteration of the loops inside: the L1 cache already serves them"
        )


def _turns(op: Operation, cache: acc.CacheOp, symbols: Symbols) -> int | None:
    """The number of times one iteration of the parallel loops in the scope runs `op`; None if not known."""
    turns: int | None = 1
    for around in operations_around(op, cache.parent_op()):
        if isinstance(around, scf.ForOp):
            own = usual_turns(around, symbols)
            turns = None if turns is None or own is None else turns * own
        elif isinstance(around, acc.LoopOp) and not is_partitioned(around):
            turns = None
    return turns


def _fill(at: Cursor, tile: GangTile, size: int) -> None:
    """Emits the vector loop over the words of the section that fills the tile."""
    section = tile.cached.section
    word = tile.cached.word
    bytes = word.width.data // 8
    start = ZERO
    for dim in section.dims:
        start = start + dim.lower * dim.stride
    first = polynomial(at, start, {}, i64)
    known = mapped_bytes(at, tile.cached, {})
    block = Block(arg_types=[i32])
    block.args[0].name_hint = "word"
    inside = Cursor.at_end(block, at.loc)
    near = inside.mul(block.args[0], inside.i32(bytes))
    far: SSAValue = first
    rest, column = split(inside, near, section.dims[-1].length * section.element_bytes)
    far = inside.add(far, inside.to_i64(column))
    for dim in reversed(section.dims[:-1]):
        rest, own = split(inside, rest, dim.length)
        stride = polynomial(inside, dim.stride, {}, i64)
        far = inside.add(far, inside.mul(inside.to_i64(own), stride))
    if known is not None:
        low, end = known
        last = inside.sub(end, inside.i64(bytes))
        far = inside.value(arith.MinSIOp(far, last))
        far = inside.value(arith.MaxSIOp(far, low))
    value = inside.load(inside.element(tile.cached.base, far, i8), word, section.name)
    inside.store(value, inside.element(tile.address, near, i8))
    inside.insert(acc.YieldOp())
    at.insert(
        acc.LoopOp(
            region=Region(block),
            lowerbound=[at.i32(0)],
            upperbound=[at.i32(size // bytes)],
            step=[at.i32(1)],
            inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
            independent=NONE,
            vector=NONE,
        )
    )


def _rewrite(tile: GangTile, access: CachedAccess, *, checked: bool) -> None:
    """Redirects one access to the tile; with `checked`, only if its index lies in the section."""
    at = Cursor.before(access.op)
    condition = _in_section(tile, access, at) if checked else None
    if isinstance(access.op, llvm.StoreOp):
        place = at if condition is None else at.if_then(condition)
        place.store(access.op.value, _address(place, tile, access))
    else:
        _read(tile, access, access.op, condition, at)


def _in_section(tile: GangTile, access: CachedAccess, at: Cursor) -> SSAValue | None:
    condition: SSAValue | None = None
    for delta, dim, proved in zip(
        access.deltas, tile.cached.section.dims, access.proved, strict=True
    ):
        if proved:
            continue
        value = polynomial(at, delta, {}, i64)
        own = at.value(arith.CmpiOp(value, at.i64(dim.length), "ult"), "in_section")
        condition = at.both(condition, own)
    return condition


def _read(
    tile: GangTile, access: CachedAccess, op: llvm.LoadOp, condition: SSAValue | None, at: Cursor
) -> None:
    result = op.dereferenced_value
    type_, hint = result.type, result.name_hint
    if condition is None:
        new = at.load(_address(at, tile, access), type_, hint)
    else:
        (new,) = at.either(
            condition,
            lambda inside: [inside.load(_address(inside, tile, access), type_, hint)],
            lambda outside: [outside.load(op.ptr, type_, hint)],
            [hint],
        )
    result.replace_all_uses_with(new)
    erase(op)


def _address(at: Cursor, tile: GangTile, access: CachedAccess) -> SSAValue:
    assert access.element is not None
    poly = Polynomial.constant(access.element.inner)
    for delta, pitch in zip(access.deltas, tile.pitches, strict=True):
        poly = poly + delta * pitch
    offset = total(at, polynomial(at, poly, {}, i32))
    return tile.address if offset is None else at.element(tile.address, offset, i8)
