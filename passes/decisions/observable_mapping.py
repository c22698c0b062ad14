"""
Whether a program can observe which gang, worker or lane runs an iteration.

Where it cannot, levels and sizes are advice (OpenACC 3.4, 2.5.10 to 2.5.12 and 2.9): a conforming program
has the same results with any mapping, so the construct is scheduled like one that leaves it open.
"""

from __future__ import annotations

from dataclasses import dataclass

from .levels import Level
from .loop_tree import LoopNode


@dataclass(frozen=True)
class GangCode:
    """
    The parts of a construct other than its loops' iterations. `gangs`: its num_gangs, None for a value
    known only at run time, 0 without the clause. `redundant`: code that every gang runs has effects.
    `private`: gangs have private variables (those of loops belong to iterations).
    `cached`: gangs cache sections for loops inside, or for a single loop. `static`: a loop says which gang
    runs which chunk. `sized_inside`: a size is computed within the construct.
    """

    gangs: int | None = 0
    redundant: bool = False
    private: bool = False
    cached: bool = False
    static: bool = False
    sized_inside: bool = False


def why_kept(code: GangCode, roots: list[LoopNode]) -> str | None:
    """The reason to keep levels and sizes as written; None if no difference could be observed."""
    nodes = [node for root in roots for node in root.walk()]
    reasons = {
        "the program requests one gang": code.gangs == 1,
        "the number of gangs of several loops may be one": code.gangs is None and len(roots) > 1,
        "every gang runs code outside of gang loops": code.redundant
        or not (all(map(_shared, roots)) or _runs_once(code, roots)),
        "gangs have variables of their own": code.private,
        "gangs cache sections": code.cached,
        "a loop says which gang runs which chunk": code.static,
        "a routine that it calls has gang, worker or vector level": any(
            node.routine > Level.SEQ for node in nodes
        ),
        "a size is computed in the construct": code.sized_inside,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _shared(root: LoopNode) -> bool:
    """Whether gangs share, or may share, the iterations of an outermost loop."""
    return root.parallel and (not root.levels or Level.GANG in root.levels)


def _runs_once(code: GangCode, roots: list[LoopNode]) -> bool:
    """
    Whether a construct is a single loop over workers or lanes, run by every gang. Without `num_gangs` its
    result is that of one gang, as it is if gangs share the iterations.
    """
    return code.gangs == 0 and len(roots) == 1 and roots[0].parallel
