"""
Atomic updates by many threads, one after the other in the order of their numbers.

A result is the value just before the thread's own update. Threads that update different places do
so at once; for one place, all updates are one running reduction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .arithmetic import maxu, minu, select
from .values import Array, Value, spread, starts_of_runs

Update = Callable[[Array, Array], Array]

_PLAIN: dict[str, np.ufunc] = {
    "add": np.add,
    "fadd": np.add,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "max": np.maximum,
    "min": np.minimum,
    "fmax": np.fmax,
    "fmin": np.fmin,
}
"""Updates that are a ufunc of NumPy, which can apply and accumulate them directly."""


def _inc_wrap(old: Array, value: Array) -> Array:
    return select(minu(old, value) == value, old.dtype.type(0), old + old.dtype.type(1))


def _dec_wrap(old: Array, value: Array) -> Array:
    wrapped = (old == 0) | (minu(old, value) != old)
    return select(wrapped, value, old - old.dtype.type(1))


_OTHERS: dict[str, Update] = {
    "xchg": lambda old, value: value,
    "sub": lambda old, value: old - value,
    "fsub": lambda old, value: old - value,
    "nand": lambda old, value: ~(old & value),
    "umax": maxu,
    "umin": minu,
    "uinc_wrap": _inc_wrap,
    "udec_wrap": _dec_wrap,
}

KINDS = frozenset(_PLAIN) | frozenset(_OTHERS)
"""The updates that the simulator supports, by their names in LLVM IR."""


def update(kind: str, view: Array, index: Array, value: Value, wanted: bool) -> Array | None:
    """
    Updates `view[index]` for every thread. Returns the results if they are `wanted`, otherwise None.
    """
    values = spread(len(index), value)
    ufunc = _PLAIN.get(kind)
    if ufunc is not None and not wanted:
        ufunc.at(view, index, values)
        return None
    apply: Update = ufunc if ufunc is not None else _OTHERS[kind]
    order, starts, counts = _groups(index)
    if len(starts) == len(index):
        old = view[index]
        view[index] = apply(old, values)
        return old
    result = np.empty(len(index), view.dtype)
    if ufunc is not None and len(starts) <= int(counts.max()):
        _accumulate(ufunc, view, index, values, result, (order, starts, counts))
    else:
        _in_rounds(apply, view, index, values, result, (order, starts, counts))
    return result


def _groups(index: Array) -> tuple[Array, Array, Array]:
    """An order that sorts equal indices into groups, the start of each group, and its length."""
    order = np.argsort(index, kind="stable")
    starts = starts_of_runs(index[order])
    counts = np.diff(np.append(starts, len(index)))
    return order, starts, counts


def _accumulate(
    ufunc: np.ufunc,
    view: Array,
    index: Array,
    values: Array,
    result: Array,
    groups: tuple[Array, Array, Array],
) -> None:
    """Performs the updates as one running reduction for each place."""
    order, starts, counts = groups
    for start, count in zip(starts, counts, strict=True):
        members = order[start : start + count]
        place = index[members[0]]
        chain = np.concatenate((view[place : place + 1], values[members]))
        chain = ufunc.accumulate(chain, dtype=view.dtype)
        result[members] = chain[:-1]
        view[place] = chain[-1]


def _in_rounds(
    apply: Update,
    view: Array,
    index: Array,
    values: Array,
    result: Array,
    groups: tuple[Array, Array, Array],
) -> None:
    """Performs the updates in rounds: in round k, that of the k-th thread of every place."""
    for members in _rounds(groups):
        places = index[members]
        old = view[places]
        result[members] = old
        view[places] = apply(old, values[members])


def _rounds(groups: tuple[Array, Array, Array]) -> Iterator[Array]:
    """The members of each round: the first of every group, then the second ones, and so on."""
    order, starts, counts = groups
    turn = 0
    while len(starts):
        yield order[starts + turn]
        turn += 1
        more = counts > turn
        starts, counts = starts[more], counts[more]


def compare_exchange(view: Array, index: Array, expected: Value, new: Value) -> tuple[Array, Array]:
    """
    `cmpxchg` for every thread: the old values, and whether each was replaced. Values are compared
    bit by bit.
    """
    n = len(index)
    expecteds, news = spread(n, expected), spread(n, new)
    result = np.empty(n, view.dtype)
    success = np.zeros(n, np.bool_)
    for members in _rounds(_groups(index)):
        places = index[members]
        old = view[places]
        equal = old == expecteds[members]
        result[members] = old
        success[members] = equal
        view[places] = np.where(equal, news[members], old)
    return result, success
