"""The list of passes by name. A pass is imported when it is first needed, which saves start-up time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path

from xdsl.passes import ModulePass

PASSES: dict[str, dict[str, str]] = {
    "data": {
        "outline-teams": "OutlineTeamsPass",
        "inline-small-routines": "InlineSmallRoutinesPass",
        "fold-constant-tables": "FoldConstantTablesPass",
        "pass-scalars-by-value": "PassScalarsByValuePass",
        "split-records": "SplitRecordsPass",
        "declare-counters": "DeclareCountersPass",
        "count-while-loops": "CountWhileLoopsPass",
        "compute-inductions": "ComputeInductionsPass",
        "legalize-serial": "LegalizeSerialPass",
        "classify-scalars": "ClassifyScalarsPass",
        "split-pivot-loops": "SplitPivotLoopsPass",
        "split-kernels": "SplitKernelsPass",
        "infer-routines": "InferRoutinesPass",
        "inline-cached-routines": "InlineCachedRoutinesPass",
        "infer-data-attributes": "InferDataAttributesPass",
        "lower-if-clauses": "LowerIfClausesPass",
        "infer-data-regions": "InferDataRegionsPass",
        "guard-against-overlap": "GuardAgainstOverlapPass",
        "share-host-memory": "ShareHostMemoryPass",
        "share-data-regions": "ShareDataRegionsPass",
        "compute-borders-first": "ComputeBordersFirstPass",
        "tell-arrays-apart": "TellArraysApartPass",
    },
    "scheduled": {
        "declare-privates": "DeclarePrivatesPass",
        "free-mapping": "FreeMappingPass",
        "turn-loops": "TurnLoopsPass",
        "hoist-loop-bounds": "HoistLoopBoundsPass",
        "sink-sequential-loops": "SinkSequentialLoopsPass",
        "fuse-sibling-loops": "FuseSiblingLoopsPass",
        "split-numbered-loops": "SplitNumberedLoopsPass",
        "tile-loops": "TileLoopsPass",
        "split-static-gangs": "SplitStaticGangsPass",
        "order-nests": "OrderNestsPass",
        "split-collapsed-loops": "SplitCollapsedLoopsPass",
        "keep-short-rows": "KeepShortRowsPass",
        "join-short-loops": "JoinShortLoopsPass",
        "sign-subscripts": "SignSubscriptsPass",
        "shape-reduced-nests": "ShapeReducedNestsPass",
        "keep-reduced-rows": "KeepReducedRowsPass",
        "order-cached-loops": "OrderCachedLoopsPass",
        "separate-products": "SeparateProductsPass",
        "order-product-loops": "OrderProductLoopsPass",
        "keep-nested-sums": "KeepNestedSumsPass",
        "lower-seq-loops": "LowerSeqLoopsPass",
        "find-shared-sections": "FindSharedSectionsPass",
        "hoist-invariant-loops": "HoistInvariantLoopsPass",
        "tabulate-functions": "TabulateFunctionsPass",
        "choose-lanes": "ChooseLanesPass",
        "schedule-loops": "ScheduleLoopsPass",
    },
    "transformed": {
        "keep-sum-order": "KeepSumOrderPass",
        "expand-scans": "ExpandScansPass",
        "check-cache-sections": "CheckCacheSectionsPass",
        "promote-cache-to-shared": "PromoteCacheToSharedPass",
        "compress-arrays": "CompressArraysPass",
        "keep-sums-in-registers": "KeepSumsInRegistersPass",
        "keep-chosen-elements": "KeepChosenElementsPass",
        "keep-previous-elements": "KeepPreviousElementsPass",
        "split-column-sums": "SplitColumnSumsPass",
        "stage-ordered-sums": "StageOrderedSumsPass",
        "stage-transposed-accesses": "StageTransposedAccessesPass",
        "narrow-counters": "NarrowCountersPass",
        "group-combined-subscripts": "GroupCombinedSubscriptsPass",
        "jam-outer-iterations": "JamOuterIterationsPass",
        "widen-rows": "WidenRowsPass",
        "jam-strided-iterations": "JamStridedIterationsPass",
        "stage-shared-loads": "StageSharedLoadsPass",
        "privatise-atomics": "PrivatiseAtomicsPass",
        "lower-acc-atomics": "LowerAccAtomicsPass",
        "keep-objects": "KeepObjectsPass",
        "align-objects": "AlignObjectsPass",
        "unroll-storing-loops": "UnrollStoringLoopsPass",
        "load-early": "LoadEarlyPass",
        "unroll-inner-loops": "UnrollInnerLoopsPass",
        "count-saturated-stores": "CountSaturatedStoresPass",
        "coarsen-threads": "CoarsenThreadsPass",
        "combine-extremes": "CombineExtremesPass",
        "mark-independent-loops": "MarkIndependentLoopsPass",
        "mark-unchanged-loads": "MarkUnchangedLoadsPass",
    },
    "gpu": {
        "lower-elements": "LowerElementsPass",
        "convert-acc-compute-to-gpu": "ConvertAccComputeToGpuPass",
        "narrow-long-doubles": "NarrowLongDoublesPass",
    },
    "host": {
        "lower-elements": "LowerElementsPass",
        "convert-acc-compute-to-host": "ConvertAccComputeToHostPass",
        "host-mathematics": "HostMathematicsPass",
        "interchange-lanes": "InterchangeLanesPass",
        "stream-stores": "StreamStoresPass",
        "carry-offsets": "CarryOffsetsPass",
        "move-large-locals": "MoveLargeLocalsPass",
    },
    "runtime": {
        "specialize-acc-for-host": "SpecializeAccForHostPass",
        "convert-acc-data-to-runtime": "ConvertAccDataToRuntimePass",
    },
    "nvvm": {
        "lower-scf-to-cf": "LowerScfToCfPass",
        "convert-gpu-to-nvvm": "ConvertGpuToNvvmPass",
        "convert-to-llvm": "ConvertToLlvmPass",
        "name-entries": "NameEntriesPass",
    },
}
"""
Stage → the passes that lead to it, in their order, and their classes: the only list of passes, from which
the pipeline, the help and docs/passes.md are made (`compiler/pipeline.py` has the reasons for the order).
The class is in the module named like the pass with underscores: a file in this folder, or in the folder of
that name.
"""

_FOR_GPUS = ("convert-gpu-to-nvvm",)
"""The passes of a stage of both targets that run for GPUs only."""

IDLE_ON_HOST = frozenset(
    (
        "tabulate-functions",
        "compute-borders-first",
        "sink-sequential-loops",
        "fuse-sibling-loops",
        "split-numbered-loops",
        "sign-subscripts",
        "keep-short-rows",
        "join-short-loops",
        "keep-sum-order",
        "shape-reduced-nests",
        "keep-reduced-rows",
        "order-cached-loops",
        "separate-products",
        "order-product-loops",
        "keep-nested-sums",
        "find-shared-sections",
        "choose-lanes",
        "promote-cache-to-shared",
        "keep-sums-in-registers",
        "keep-chosen-elements",
        "keep-previous-elements",
        "split-column-sums",
        "stage-ordered-sums",
        "group-combined-subscripts",
        "widen-rows",
        "stage-shared-loads",
        "unroll-storing-loops",
        "load-early",
        "mark-unchanged-loads",
        "keep-objects",
        "align-objects",
        "unroll-inner-loops",
        "coarsen-threads",
    )
)
"""Passes that change nothing for the host unless their option `target` names another target."""

IDLE_WITHOUT_DIRECTIVES = frozenset(
    (
        *(name for stage in ("data", "scheduled", "transformed") for name in PASSES[stage]),
        "convert-acc-compute-to-host",
        "host-mathematics",
        "interchange-lanes",
        "carry-offsets",
        "move-large-locals",
        "specialize-acc-for-host",
        "convert-acc-data-to-runtime",
    )
)
"""Passes that change nothing outside of what directives have made."""

PASS_CLASSES = {name: cls for passes in PASSES.values() for name, cls in passes.items()}


def passes_to(stage: str, *, for_gpu: bool) -> tuple[str, ...]:
    """The names of the passes that lead to `stage`, in order."""
    return tuple(name for name in PASSES[stage] if for_gpu or name not in _FOR_GPUS)


def pass_file(name: str) -> Path:
    """The file of the pass `name`."""
    module = name.replace("-", "_")
    here = Path(__file__).parent
    folder = here / module
    return (folder if folder.is_dir() else here) / f"{module}.py"


@cache
def load_pass(name: str) -> type[ModulePass]:
    """The class of the pass `name`. Raises `KeyError` if there is none."""
    path = pass_file(name).relative_to(Path(__file__).parent).with_suffix("")
    module = import_module("." + ".".join(path.parts), __package__)
    cls = getattr(module, PASS_CLASSES[name])
    assert issubclass(cls, ModulePass)
    return cls


def all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Name → loader, in the form that xDSL's driver and plugin interface expect."""
    return {name: (lambda name=name: load_pass(name)) for name in PASS_CLASSES}
