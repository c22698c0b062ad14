"""
Programs that exercise the GPU lowering, with the results of the corresponding C programs.

Each has several launch shapes: one thread, one warp, several warps, workers that share a warp,
lengths that are not a power of two.
"""

from __future__ import annotations

from gpu_program import Cases, Program
from gpu_programs_loops import loops
from gpu_programs_memory import memory
from gpu_programs_reductions import reductions


def programs() -> list[Program]:
    """All programs, the same ones every time."""
    found = Cases()
    loops(found)
    reductions(found)
    memory(found)
    return found.programs
