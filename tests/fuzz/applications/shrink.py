"""Makes a failing unit smaller: removes one decision at a time, as long as it fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from .model import Unit
from .rules import problem


def simpler(unit: Unit) -> Iterator[Unit]:
    """Units with one decision less, the largest steps first."""
    yield from _without_scalars(unit)
    yield replace(unit, chains=1)
    yield replace(unit, twice=False)
    yield from _without_loop(unit)
    yield replace(unit, mapping="")
    yield replace(unit, arrays="global")
    yield replace(unit, sizes="")
    yield replace(unit, private_counters=())
    for k, loop in enumerate(unit.loops):
        plain = {"type": "int", "top": True, "runtime": False, "form": 0}
        yield unit.with_loop(k, **plain)
        for change in ({"together": ""}, {"words": ()}, {"levels": ()}):
            yield unit.with_loop(k, **change)
        if loop.directive and not (k == 0 and unit.combined):
            yield unit.with_loop(k, directive=False, levels=(), words=(), together="")
    yield from _plainer_scalars(unit)


def _without_scalars(unit: Unit) -> Iterator[Unit]:
    for name in ("accumulators", "temporaries"):
        members = getattr(unit, name)
        for k in range(len(members)):
            yield replace(unit, **{name: members[:k] + members[k + 1 :]})


def _without_loop(unit: Unit) -> Iterator[Unit]:
    """The unit without its innermost loop, if no scalar has its home or its only update there."""
    if unit.depth == 1:
        return
    last = unit.depth - 1
    accumulators = tuple(
        replace(
            a,
            depths=tuple(sorted({min(d, last - 1) for d in a.depths})),
            named=tuple(k for k in a.named if k < last),
        )
        for a in unit.accumulators
    )
    temporaries = tuple(
        replace(t, home=min(t.home, last - 1), named=tuple(k for k in t.named if k < last))
        for t in unit.temporaries
    )
    counters = tuple((k, v) for k, v in unit.private_counters if v < last)
    yield replace(
        unit,
        loops=unit.loops[:-1],
        accumulators=accumulators,
        temporaries=temporaries,
        private_counters=counters,
    )


def _plainer_scalars(unit: Unit) -> Iterator[Unit]:
    plain_a = {"type": "int", "spelling": 0, "storage": "top", "data": "", "operator": "+"}
    plain_t = {"type": "int", "form": "plain", "storage": "top"}
    for members, plain, field in (
        (unit.accumulators, plain_a, "accumulators"),
        (unit.temporaries, plain_t, "temporaries"),
    ):
        for k, member in enumerate(members):
            changes = [{key: value} for key, value in plain.items()]
            changes += [
                {"named": member.named[:n] + member.named[n + 1 :]}
                for n in range(len(member.named))
            ]
            if field == "accumulators" and len(unit.accumulators[k].depths) > 1:
                changes += [{"depths": unit.accumulators[k].depths[1:]}]
            for change in changes:
                changed = replace(member, **change)
                yield replace(unit, **{field: (*members[:k], changed, *members[k + 1 :])})


def shrink(unit: Unit, fails: Callable[[Unit], bool], tries: int = 60) -> Unit:
    """A smaller unit for which `fails` is also true, after at most `tries` tries."""
    again = True
    while again:
        again = False
        for candidate in simpler(unit):
            if candidate == unit or problem(candidate) is not None:
                continue
            if tries <= 0:
                return unit
            tries -= 1
            if fails(candidate):
                unit, again = candidate, True
                break
    return unit
