"""
Emulated hardware cache for sections that are too large for a tile: every thread keeps the elements it read
last in shared memory, each with a tag that identifies the element.

An element's number (its distance from the array's start) chooses a set by its low bits; a set has one
or two ways. A miss reads the array and replaces the older way; a write goes to the array and to the
set. The sets are private to the thread, so no synchronisation is needed: sharing them would need atomic
updates of tag and element (the paper's 6.1).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue

from ...dialects.accx_cache import SharedTileOp
from ..ir.data.cached_code import Values, mapped, scaled
from ..ir.ops.building import Cursor
from ..ir.ops.layout import size_of
from .tiles import Block, Planned, in_tile

TAG_BYTES = 8
EMPTY = -1


@dataclass
class Emulated:
    """The sets of one array: tags and elements, thread by thread within each set and way."""

    planned: Planned
    type: Attribute
    sets: int
    ways: int
    threads: int
    thread: SSAValue
    tags: SSAValue
    data: SSAValue

    @property
    def element_bytes(self) -> int:
        return size_of(self.type)


def bytes_needed(sets: int, ways: int, threads: int, element_bytes: int) -> int:
    """The bytes of shared memory for the sets of all threads of a block."""
    return sets * ways * threads * (TAG_BYTES + element_bytes)


def allocate(at: Cursor, planned: Planned, block: Block, sets: int, ways: int) -> Emulated:
    """Allocates the shared memory of an emulated cache."""
    type_ = planned.cached.element_type
    name = planned.plan.section.name
    count = sets * ways * block.threads
    tags = at.value(SharedTileOp(count * TAG_BYTES, f"{name}_tags"), f"{name}_tags")
    data = at.value(SharedTileOp(count * size_of(type_), f"{name}_lines"), f"{name}_lines")
    return Emulated(planned, type_, sets, ways, block.threads, block.thread, tags, data)


def reset(at: Cursor, cache: Emulated) -> None:
    """Empties the thread's sets, because the array may have changed since they were filled."""
    empty = at.i64(EMPTY)
    for line in range(cache.sets * cache.ways):
        slot = at.add(cache.thread, at.i32(line * cache.threads))
        at.store(empty, in_tile(at, cache.tags, scaled(at, slot, TAG_BYTES)))
        if cache.ways > 1:  # an element may move to the next way before it has been set
            at.store(
                at.zero(cache.type), in_tile(at, cache.data, scaled(at, slot, cache.element_bytes))
            )


@dataclass
class _Line:
    """One way of the set an element belongs to: the addresses of its tag and its element."""

    tag: SSAValue
    data: SSAValue


def _number(at: Cursor, cache: Emulated, pointer: SSAValue, values: Values) -> SSAValue:
    base = mapped(values, cache.planned.cached.base)
    start = at.value(llvm.PtrToIntOp(base, i64))
    here = at.value(llvm.PtrToIntOp(pointer, i64))
    size = at.i64(cache.element_bytes)
    return at.value(arith.DivUIOp(at.sub(here, start), size), "number")


def _lines(at: Cursor, cache: Emulated, number: SSAValue) -> list[_Line]:
    chosen = at.value(arith.AndIOp(number, at.i64(cache.sets - 1)), "set")
    chosen = at.to_integer(chosen, cache.thread.type)  # type: ignore[arg-type]
    first = at.add(scaled(at, chosen, cache.ways * cache.threads), cache.thread)
    found: list[_Line] = []
    for way in range(cache.ways):
        slot = at.add(first, at.i32(way * cache.threads))
        tag = in_tile(at, cache.tags, scaled(at, slot, TAG_BYTES))
        data = in_tile(at, cache.data, scaled(at, slot, cache.element_bytes))
        found.append(_Line(tag, data))
    return found


def load(
    at: Cursor, cache: Emulated, pointer: SSAValue, values: Values, hint: str | None
) -> SSAValue:
    """Emits the load of the element at `pointer`, from the thread's sets if they contain it."""
    number = _number(at, cache, pointer, values)
    lines = _lines(at, cache, number)
    return _look_up(at, cache, lines, 0, number, pointer, hint)


def _look_up(
    at: Cursor,
    cache: Emulated,
    lines: list[_Line],
    way: int,
    number: SSAValue,
    pointer: SSAValue,
    hint: str | None,
) -> SSAValue:
    if way == len(lines):
        value = at.load(pointer, cache.type, hint)
        _insert(at, cache, lines, number, value)
        return value
    tag = at.load(lines[way].tag, i64, "tag")
    hit = at.value(arith.CmpiOp(tag, number, "eq"), "hit")
    (found,) = at.either(
        hit,
        lambda inside: [inside.load(lines[way].data, cache.type, hint)],
        lambda outside: [_look_up(outside, cache, lines, way + 1, number, pointer, hint)],
        [hint],
    )
    return found


def _insert(
    at: Cursor, cache: Emulated, lines: list[_Line], number: SSAValue, value: SSAValue
) -> None:
    """Puts an element in the first way, and moves the previous one to the next way."""
    for older, newer in reversed(list(zip(lines[1:], lines[:-1], strict=True))):
        at.store(at.load(newer.tag, i64), older.tag)
        at.store(at.load(newer.data, cache.type), older.data)
    at.store(number, lines[0].tag)
    at.store(value, lines[0].data)


def store(at: Cursor, cache: Emulated, pointer: SSAValue, value: SSAValue, values: Values) -> None:
    """Emits a store to the array and to the thread's set."""
    at.store(value, pointer)
    number = _number(at, cache, pointer, values)
    lines = _lines(at, cache, number)
    empty = at.i64(EMPTY)
    for line in lines[1:]:
        same = at.value(arith.CmpiOp(at.load(line.tag, i64), number, "eq"))
        at.if_then(same).store(empty, line.tag)
    at.store(number, lines[0].tag)
    at.store(value, lines[0].data)
