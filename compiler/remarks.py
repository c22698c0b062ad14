"""
Remarks: how the compiler mapped every construct and loop, and why (`--remarks`).

They are read from the IR of stage `transformed`, where constructs, data operations and loops are still
whole and hold all decisions. So no pass needs a side channel, and IR saved at an earlier stage gives the
same remarks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from ..dialects.accx import DATA_REGION, REMARKS, WHY
from ..dialects.accx_compress import ESTIMATE
from ..passes.ir.ops.schedules import schedule_of
from .base.diagnostics import Diagnostic, DiagnosticSink, Severity, SourceLoc
from .base.options import TargetName

REMARKS_STAGE = "transformed"

_GPU_AXES = {"gang": "blockIdx", "worker": "threadIdx.y", "vector": "threadIdx.x"}
_HOST_AXES = {"gang": "CPU threads", "worker": "in order", "vector": "SIMD"}


_SIZE_HINTS = ("num_gangs", "num_workers", "vector_length")
"""Name hints of launch sizes that passes compute."""


def _size_text(value: SSAValue) -> str:
    """A launch size as text: the number, or the name of the run-time value."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp):
        return str(owner.value).split(":")[0].strip()
    named = value.name_hint is not None and value.name_hint not in _SIZE_HINTS
    return str(value.name_hint) if named else "computed at run time"


def _construct_remark(op: acc.ParallelOp) -> str:
    gangs = " × ".join(_size_text(v) for v in op.num_gangs)
    workers = ", ".join(_size_text(v) for v in op.num_workers)
    lanes = ", ".join(_size_text(v) for v in op.vector_length)
    return f"kernel with num_gangs({gangs}) num_workers({workers}) vector_length({lanes})"


def _loop_remark(op: acc.LoopOp, axes: Mapping[str, str]) -> str:
    levels = [
        name
        for name, attr in (("gang", op.gang), ("worker", op.worker), ("vector", op.vector))
        if attr is not None
    ]
    if not levels:
        text = "loop runs sequentially"
    else:
        text = "loop mapped to " + ", ".join(f"{n} ({axes[n]})" for n in levels)
    dim = schedule_of(op).gang_dim
    if dim > 1:
        text += f", gang dimension {dim}"
    why = op.attributes.get(WHY)
    return f"{text}: {why.data}" if isinstance(why, StringAttr) else text


_DATA_OPS = frozenset(
    f"acc.{name}"
    for name in ("copyin", "create", "present", "firstprivate", "private", "reduction", "nocreate")
)


def _implicit_remark(op: Operation) -> str | None:
    implicit = op.properties.get("implicit")
    if implicit is None or not getattr(getattr(implicit, "value", None), "data", 0):
        return None
    clause = op.properties.get("dataClause")
    name = op.properties.get("name")
    if not isinstance(clause, acc.DataClauseAttr) or not isinstance(name, StringAttr):
        return None
    spelled = clause.data.value.removeprefix("acc_")
    return f"implicit {spelled}({name.data})"


def _compression_remark(op: Operation) -> str | None:
    text, name = op.attributes.get(ESTIMATE), op.properties.get("name")
    if isinstance(text, StringAttr) and isinstance(name, StringAttr):
        return f"'{name.data}' is kept as {text.data}"
    return None


def _remark(op: Operation, axes: Mapping[str, str]) -> str | None:
    match op:
        case acc.DataOp() | scf.ForOp() | scf.WhileOp() | scf.ExecuteRegionOp() if isinstance(
            region := op.attributes.get(DATA_REGION), StringAttr
        ):
            return region.data
        case acc.ParallelOp():
            return _construct_remark(op)
        case acc.LoopOp():
            return _loop_remark(op, axes)
        case scf.ForOp() if isinstance(why := op.attributes.get(WHY), StringAttr):
            return f"loop runs sequentially: {why.data}"
        case _ if op.name in _DATA_OPS:
            return _compression_remark(op) or _implicit_remark(op)
        case _:
            return None


def _noted(op: Operation) -> Iterator[Diagnostic]:
    """The notes of passes on a construct or function (`passes/ir/ops/notes.py`), as remarks."""
    notes = op.attributes.get(REMARKS)
    for note in notes if isinstance(notes, ArrayAttr) else ():
        assert isinstance(note, DictionaryAttr)
        text, file = note.data["text"], note.data["file"]
        line, column = note.data["line"], note.data["column"]
        assert isinstance(text, StringAttr) and isinstance(file, StringAttr)
        assert isinstance(line, IntegerAttr) and isinstance(column, IntegerAttr)
        loc = SourceLoc(file.data, line.value.data, column.value.data)
        yield Diagnostic(Severity.REMARK, loc, text.data)


def _all(module: ModuleOp, axes: Mapping[str, str]) -> Iterator[Diagnostic]:
    for op in module.walk():
        if isinstance(op, acc.ParallelOp | llvm.FuncOp):
            yield from _noted(op)
        text = _remark(op, axes)
        if text is not None:
            yield Diagnostic(Severity.REMARK, SourceLoc.from_attr(op.location), text)


def adds_remarks(sink: DiagnosticSink, target: TargetName) -> Callable[[str, ModuleOp], None]:
    """A function that is called with each stage and its module, and adds the program's remarks to `sink`."""

    def after_stage(stage: str, module: ModuleOp) -> None:
        if stage == REMARKS_STAGE:
            sink.diagnostics += remarks_of(module, target)

    return after_stage


def remarks_of(module: ModuleOp, target: TargetName) -> list[Diagnostic]:
    """
    The remarks on a module at stage `REMARKS_STAGE`, in source order per file. Equal remarks of several
    versions of a construct are given once.
    """
    axes = _HOST_AXES if target == "host" else _GPU_AXES
    once = dict.fromkeys(_all(module, axes))
    return sorted(once, key=lambda d: (d.loc.file, d.loc.line))
