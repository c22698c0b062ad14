"""
The stage checker: which dialects and operations are legal at each level of IR.

Run between stages under `--verify` and in tests, it turns what would be a wrong answer later into
a message that names the operation and its place in the C source.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import acc, gpu
from xdsl.dialects.builtin import ModuleOp, UnitAttr, UnrealizedConversionCastOp
from xdsl.ir import Operation

from ...dialects.accx import CACHE_BLOCKS, CONDITIONAL
from ...dialects.accx_element import ElementOp
from ...dialects.accx_teams import TaskOp, TeamOp
from ..base.diagnostics import SourceLoc, error

_ACC_LEVEL = frozenset(("builtin", "llvm", "arith", "math", "scf", "cf", "acc", "accx"))
_HOST_LEVEL = _ACC_LEVEL

LEGAL_DIALECTS: dict[str, frozenset[str]] = {
    "acc": _ACC_LEVEL,
    "data": _ACC_LEVEL,
    "scheduled": _ACC_LEVEL,
    "transformed": _ACC_LEVEL | {"accx"},
    "gpu": _ACC_LEVEL | {"gpu", "nvvm"},
    "host": _HOST_LEVEL,
    "runtime": frozenset(("builtin", "llvm", "arith", "math", "scf", "cf", "gpu", "nvvm")),
    "nvvm": frozenset(("builtin", "llvm", "nvvm", "gpu")),
}
"""Stage → dialects whose operations may occur in it."""

_ATOMICS = (acc.AtomicReadOp, acc.AtomicWriteOp, acc.AtomicUpdateOp, acc.AtomicCaptureOp)
_GONE_FROM: tuple[tuple[str, tuple[type[Operation], ...], str], ...] = (
    ("data", (acc.SerialOp, acc.KernelsOp), "legalize-serial and split-kernels"),
    ("data", (TeamOp, TaskOp), "outline-teams"),
    ("transformed", (ElementOp,), "lower-elements"),
    ("transformed", _ATOMICS, "lower-acc-atomics"),
    ("gpu", (acc.ParallelOp,), "convert-acc-compute-to-gpu"),
    ("host", (acc.ParallelOp,), "convert-acc-compute-to-host"),
    ("runtime", (gpu.LaunchFuncOp,), "convert-acc-data-to-runtime"),
)
"""Stage, operations that no longer occur from it on, and who removes them."""

_ORDER = ("acc", "data", "scheduled", "transformed", "gpu", "host", "runtime", "nvvm")


def _illegal(module: ModuleOp, stage: str) -> Iterator[tuple[Operation, str]]:
    legal = LEGAL_DIALECTS[stage]
    gone = [
        (types, who) for name, types, who in _GONE_FROM if _ORDER.index(name) <= _ORDER.index(stage)
    ]
    for op in module.walk():
        if isinstance(op, UnrealizedConversionCastOp):
            yield op, "a conversion cast was left behind"
        elif op.name.split(".")[0] not in legal:
            yield op, f"its dialect is not legal at stage '{stage}'"
        else:
            for types, who in gone:
                if isinstance(op, types):
                    yield op, f"it should have been removed by {who}"
            yield from ((op, why) for why in _misplaced_marks(op))
            if stage == "scheduled" and isinstance(op, acc.LoopOp) and not is_scheduled(op):
                yield op, "it has neither seq nor a level of parallelism"
            if stage in ("scheduled", "transformed") and isinstance(op, acc.ParallelOp):
                yield from ((op, why) for why in _missing_sizes(op))
            if stage in _WITH_RECIPES and isinstance(op, _PRIVATISING) and op.recipe is None:
                yield op, "it names no recipe"


_WITH_RECIPES = ("acc", "data", "scheduled", "transformed")
_PRIVATISING = (acc.PrivateOp, acc.FirstprivateOp, acc.ReductionOp)


def _missing_sizes(construct: acc.ParallelOp) -> Iterator[str]:
    """What the launch of a scheduled construct lacks: 1 to 3 numbers of gangs, and one of each other size."""
    sizes = (
        ("num_gangs", construct.num_gangs, 3),
        ("num_workers", construct.num_workers, 1),
        ("vector_length", construct.vector_length, 1),
    )
    for name, values, most in sizes:
        if not 1 <= len(values) <= most:
            yield f"it has {len(values)} values of {name}, not {'one' if most == 1 else '1 to 3'}"


_LOOP_MARKS = (CACHE_BLOCKS, CONDITIONAL)


def _misplaced_marks(op: Operation) -> Iterator[str]:
    """What is wrong with the facts that passes leave on loops for each other."""
    for name in _LOOP_MARKS:
        mark = op.attributes.get(name)
        if mark is not None and not (isinstance(op, acc.LoopOp) and isinstance(mark, UnitAttr)):
            yield f"'{name}' is a mark of acc.loop, without a value"


def is_scheduled(loop: acc.LoopOp) -> bool:
    """
    Whether the loop is seq or mapped to at least one level. A mapped loop is also marked
    independent, because `acc.loop` has to carry one of seq, auto and independent.
    """
    mapped = any(level is not None for level in (loop.gang, loop.worker, loop.vector))
    return (loop.seq is not None) != mapped and loop.auto_ is None


def check_stage(module: ModuleOp, stage: str) -> None:
    """Raises `CompileError` naming the first operation of `module` that is illegal at `stage`."""
    for op, why in _illegal(module, stage):
        raise error(
            SourceLoc.from_attr(op.location),
            f"internal: operation '{op.name}' is not legal at stage '{stage}': {why}",
            "please report this program; --print-after-all shows the IR after every pass",
        )
