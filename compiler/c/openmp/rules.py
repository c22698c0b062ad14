"""
Tables of the supported OpenMP directives with the clauses that each may have (OpenMP 4.5, chapter 2), and
the remedies named for those that are not supported.
"""

from __future__ import annotations

_LISTS = ("private", "firstprivate")
_PARALLEL = (*_LISTS, "num_threads", "if", "default", "shared", "reduction", "copyin", "proc_bind")
_FOR = (*_LISTS, "lastprivate", "reduction", "schedule", "collapse")
_SECTIONS = (*_LISTS, "lastprivate", "reduction")
_SIMD = ("private", "lastprivate", "reduction", "collapse", "safelen", "simdlen", "aligned")
_SIMD_FUNCTION = ("simdlen", "linear", "aligned", "uniform", "inbranch", "notinbranch")
_TASK = (*_LISTS, "shared", "default", "if", "final", "untied", "mergeable", "priority")
_TASKLOOP = (*_TASK, "grainsize", "num_tasks", "collapse", "nogroup")
_ORDER = ("seq_cst", "acq_rel", "release", "acquire", "relaxed", "hint")


def _joined(*clauses: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for some in clauses for name in some))


CLAUSES: dict[str, tuple[str, ...]] = {
    "parallel": _PARALLEL,
    "for": (*_FOR, "nowait"),
    "parallel for": _joined(_PARALLEL, _FOR),
    "simd": (*_SIMD, "linear"),
    "declare simd": _SIMD_FUNCTION,
    "for simd": _joined(_FOR, _SIMD, ("nowait",)),
    "parallel for simd": _joined(_PARALLEL, _FOR, _SIMD),
    "sections": (*_SECTIONS, "nowait"),
    "parallel sections": _joined(_PARALLEL, _SECTIONS),
    "section": (),
    "single": (*_LISTS, "copyprivate", "nowait"),
    "master": (),
    "masked": ("filter",),
    "critical": ("hint",),
    "atomic": ("read", "write", "update", "capture", *_ORDER),
    "barrier": (),
    "flush": _ORDER,
    "threadprivate": (),
    "task": (*_TASK, "depend"),
    "taskloop": _TASKLOOP,
    "taskloop simd": _joined(_TASKLOOP, _SIMD),
    "taskgroup": (),
    "taskwait": (),
    "taskyield": (),
}
"""Directive → its clauses. The longest matching name is taken."""

STAND_ALONE = frozenset(
    ("barrier", "flush", "taskwait", "taskyield", "threadprivate", "declare simd")
)
"""Directives without a statement."""

LISTS = frozenset(
    (
        *_LISTS,
        *("lastprivate", "shared", "copyin", "copyprivate", "reduction"),
        *("aligned", "linear", "uniform"),
    )
)
"""Clauses whose argument is a list of variables."""

BARE = frozenset(
    ("nowait", "nogroup", "untied", "mergeable", "inbranch", "notinbranch", *CLAUSES["atomic"])
) - {"hint"}
"""Clauses without an argument."""

REDUCTIONS = ("+", "-", "*", "&", "|", "^", "&&", "||", "min", "max")

UNSUPPORTED: dict[str, str] = {
    "target": "use #pragma acc: device code is written in OpenACC",
    "teams": "use #pragma acc parallel: device code is written in OpenACC",
    "distribute": "use #pragma acc parallel: device code is written in OpenACC",
    "declare": "write the code of the declared function or mapper where it is used",
    "ordered": "take the ordered part out of the loop, or make the loop sequential",
    "cancel": "set a flag, and test it in the iterations",
    "cancellation": "set a flag, and test it in the iterations",
    "loop": "use #pragma omp for",
    "scope": "use #pragma omp parallel",
    "scan": "use #pragma acc loop scan, or a sequential loop",
    "requires": "remove it",
}
"""Directives that are errors, and what to write instead."""

UNSUPPORTED_CLAUSES: dict[str, str] = {
    "ordered": "take the ordered part out of the loop, or make the loop sequential",
    "linear": "compute the variable from the loop's counter",
    "depend": "use #pragma omp taskwait between tasks that depend on one another",
    "in_reduction": "sum up with an atomic update",
    "task_reduction": "sum up with an atomic update",
    "allocate": "remove it",
    "order": "remove it",
    "nontemporal": "remove it",
    "reduction": "sum up with an atomic update",
    "lastprivate": "store the last value yourself",
    "detach": "use #pragma omp taskwait",
    "affinity": "remove it",
    "compare": "write a critical section",
    "fail": "write a critical section",
}
"""Clauses of supported directives that are errors, and what to write instead."""
