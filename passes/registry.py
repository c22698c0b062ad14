"""Every pass by name, loaded only when asked for (importing all of them costs start-up time)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from xdsl.passes import ModulePass

PASS_CLASSES = {
    "outline-teams": "OutlineTeamsPass",
    "inline-small-routines": "InlineSmallRoutinesPass",
    "legalize-serial": "LegalizeSerialPass",
    "classify-scalars": "ClassifyScalarsPass",
    "split-kernels": "SplitKernelsPass",
    "infer-routines": "InferRoutinesPass",
    "inline-cached-routines": "InlineCachedRoutinesPass",
    "infer-data-attributes": "InferDataAttributesPass",
    "lower-if-clauses": "LowerIfClausesPass",
    "infer-data-regions": "InferDataRegionsPass",
    "guard-against-overlap": "GuardAgainstOverlapPass",
    "share-host-memory": "ShareHostMemoryPass",
    "free-mapping": "FreeMappingPass",
    "hoist-loop-bounds": "HoistLoopBoundsPass",
    "tile-loops": "TileLoopsPass",
    "split-static-gangs": "SplitStaticGangsPass",
    "split-collapsed-loops": "SplitCollapsedLoopsPass",
    "join-reduced-loops": "JoinReducedLoopsPass",
    "order-cached-loops": "OrderCachedLoopsPass",
    "order-product-loops": "OrderProductLoopsPass",
    "lower-seq-loops": "LowerSeqLoopsPass",
    "find-shared-sections": "FindSharedSectionsPass",
    "hoist-invariant-loops": "HoistInvariantLoopsPass",
    "choose-lanes": "ChooseLanesPass",
    "schedule-loops": "ScheduleLoopsPass",
    "expand-scans": "ExpandScansPass",
    "check-cache-sections": "CheckCacheSectionsPass",
    "promote-cache-to-shared": "PromoteCacheToSharedPass",
    "lower-elements": "LowerElementsPass",
    "compress-arrays": "CompressArraysPass",
    "stage-transposed-accesses": "StageTransposedAccessesPass",
    "narrow-counters": "NarrowCountersPass",
    "group-combined-subscripts": "GroupCombinedSubscriptsPass",
    "jam-outer-iterations": "JamOuterIterationsPass",
    "widen-rows": "WidenRowsPass",
    "jam-strided-iterations": "JamStridedIterationsPass",
    "stage-shared-loads": "StageSharedLoadsPass",
    "privatise-atomics": "PrivatiseAtomicsPass",
    "lower-acc-atomics": "LowerAccAtomicsPass",
    "unroll-inner-loops": "UnrollInnerLoopsPass",
    "count-saturated-stores": "CountSaturatedStoresPass",
    "convert-acc-compute-to-gpu": "ConvertAccComputeToGpuPass",
    "narrow-long-doubles": "NarrowLongDoublesPass",
    "convert-acc-compute-to-host": "ConvertAccComputeToHostPass",
    "host-mathematics": "HostMathematicsPass",
    "interchange-lanes": "InterchangeLanesPass",
    "specialize-acc-for-host": "SpecializeAccForHostPass",
    "convert-acc-data-to-runtime": "ConvertAccDataToRuntimePass",
    "lower-scf-to-cf": "LowerScfToCfPass",
    "convert-gpu-to-nvvm": "ConvertGpuToNvvmPass",
    "convert-to-llvm": "ConvertToLlvmPass",
    "name-entries": "NameEntriesPass",
}
"""
Pass name → class, in the order of both targets' pipelines. The class is in a module of the pass's name
with underscores: a file here, or of that name in the folder of that name.
"""


def pass_file(name: str) -> Path:
    """The file of the pass `name`."""
    module = name.replace("-", "_")
    here = Path(__file__).parent
    folder = here / module
    return (folder if folder.is_dir() else here) / f"{module}.py"


def load_pass(name: str) -> type[ModulePass]:
    """The class of the pass `name`. Raises `KeyError` if there is none."""
    path = pass_file(name).relative_to(Path(__file__).parent).with_suffix("")
    module = import_module("." + ".".join(path.parts), __package__)
    cls = getattr(module, PASS_CLASSES[name])
    assert issubclass(cls, ModulePass)
    return cls


def all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Name → loader, in the form xDSL's driver and plugin interface take."""
    return {name: (lambda name=name: load_pass(name)) for name in PASS_CLASSES}
