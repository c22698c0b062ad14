"""
Modules that have moved: for one release, passes in other packages can import them by the old name, with a
warning that gives the new one.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_PACKAGE = __name__.partition(".compiler.")[0]

_SPLIT = {
    "passes.analysis.affine": ("passes.decisions.polynomials", "passes.ir.values.value_polynomials")
}
"""Modules that were split: their names are in several modules now."""

_RENAMED = {"Affine": "Polynomial"}

MOVED = {
    "compiler.accc_main": "compiler.drivers.accc_main",
    "compiler.accopt_main": "compiler.drivers.accopt_main",
    "compiler.accrun_main": "compiler.drivers.accrun_main",
    "compiler.diagnostics": "compiler.base.diagnostics",
    "compiler.options": "compiler.base.options",
    "passes.analysis.acc_ops": "passes.ir.ops.acc_ops",
    "passes.analysis.accesses": "passes.ir.values.accesses",
    "passes.analysis.block_shape": "passes.decisions.block_shape",
    "passes.analysis.cache_banks": "passes.decisions.cache_banks",
    "passes.analysis.cache_plan": "passes.decisions.cache_plan",
    "passes.analysis.cache_section": "passes.decisions.cache_section",
    "passes.analysis.cache_shapes": "passes.decisions.cache_shapes",
    "passes.analysis.callees": "passes.ir.data.callees",
    "passes.analysis.compression": "passes.decisions.compression",
    "passes.analysis.data_attributes": "passes.infer_data_attributes.data_attributes",
    "passes.analysis.data_region_plan": "passes.decisions.data_region_plan",
    "passes.analysis.dependence": "passes.decisions.dependence",
    "passes.analysis.device_copies": "passes.infer_data_attributes.device_copies",
    "passes.analysis.device_functions": "passes.decisions.device_functions",
    "passes.analysis.device_math": "passes.decisions.device_math",
    "passes.analysis.expressions": "passes.ir.ops.expressions",
    "passes.analysis.group_loads": "passes.group_combined_subscripts.group_loads",
    "passes.analysis.host_effects": "passes.ir.data.host_effects",
    "passes.analysis.host_memory": "passes.ir.data.host_memory",
    "passes.analysis.host_scalars": "passes.ir.values.host_scalars",
    "passes.analysis.inequalities": "passes.decisions.inequalities",
    "passes.analysis.invariant_loops": "passes.decisions.invariant_loops",
    "passes.analysis.lane_choice": "passes.decisions.lane_choice",
    "passes.analysis.lane_loops": "passes.ir.loops.lane_loops",
    "passes.analysis.launch_shape": "passes.decisions.launch_shape",
    "passes.analysis.layout": "passes.ir.ops.layout",
    "passes.analysis.levels": "passes.ir.ops.levels",
    "passes.analysis.linearised": "passes.decisions.linearised",
    "passes.analysis.loop_dependence": "passes.ir.dependence.loop_dependence",
    "passes.analysis.loop_facts": "passes.ir.loops.loop_facts",
    "passes.analysis.loop_partition": "passes.decisions.loop_partition",
    "passes.analysis.loop_scalars": "passes.ir.variables.loop_scalars",
    "passes.analysis.loop_symbols": "passes.ir.values.loop_symbols",
    "passes.analysis.loop_tree": "passes.decisions.loop_tree",
    "passes.analysis.occupancy": "passes.decisions.occupancy",
    "passes.analysis.private_arrays": "passes.ir.dependence.private_arrays",
    "passes.analysis.private_counters": "passes.decisions.private_counters",
    "passes.analysis.ranges": "passes.decisions.ranges",
    "passes.analysis.recipes": "passes.ir.variables.recipes",
    "passes.analysis.reduction_forms": "passes.ir.variables.reduction_forms",
    "passes.analysis.reduction_strategy": "passes.decisions.reduction_strategy",
    "passes.analysis.region_values": "passes.ir.values.region_values",
    "passes.analysis.region_writes": "passes.ir.data.region_writes",
    "passes.analysis.same_values": "passes.ir.ops.same_values",
    "passes.analysis.scalar_classes": "passes.ir.variables.scalar_classes",
    "passes.analysis.scalar_flow": "passes.ir.variables.scalar_flow",
    "passes.analysis.scalar_uses": "passes.ir.variables.scalar_uses",
    "passes.analysis.scans": "passes.expand_scans",
    "passes.analysis.schedule": "passes.decisions.schedule",
    "passes.analysis.schedule_space": "passes.decisions.schedule_space",
    "passes.analysis.sections": "passes.ir.data.sections",
    "passes.analysis.shared_work": "passes.decisions.shared_work",
    "passes.analysis.sites": "passes.ir.kernels.sites",
    "passes.analysis.spread": "passes.decisions.spread",
    "passes.analysis.strides": "passes.ir.values.strides",
    "passes.analysis.transposed": "passes.stage_transposed_accesses.transposed",
    "passes.analysis.trip_counts": "passes.ir.values.trip_counts",
    "passes.analysis.unrolling": "passes.decisions.unrolling",
    "passes.analysis.visible_data": "passes.ir.data.visible_data",
    "passes.analysis.wide_rows": "passes.decisions.wide_rows",
    "passes.atomic_counters": "passes.privatise_atomics.atomic_counters",
    "passes.building": "passes.ir.ops.building",
    "passes.cache.accesses": "passes.ir.data.cached_accesses",
    "passes.cache.blocks": "passes.promote_cache_to_shared.blocks",
    "passes.cache.body": "passes.promote_cache_to_shared.body",
    "passes.cache.bulk": "passes.promote_cache_to_shared.bulk",
    "passes.cache.choose": "passes.promote_cache_to_shared.choose",
    "passes.cache.elsewhere": "passes.promote_cache_to_shared.elsewhere",
    "passes.cache.emit": "passes.ir.data.cached_code",
    "passes.cache.emulated": "passes.promote_cache_to_shared.emulated",
    "passes.cache.extents": "passes.promote_cache_to_shared.extents",
    "passes.cache.fetch": "passes.promote_cache_to_shared.fetch",
    "passes.cache.gang": "passes.promote_cache_to_shared.gang",
    "passes.cache.launch_choice": "passes.promote_cache_to_shared.launch_choice",
    "passes.cache.legality": "passes.promote_cache_to_shared.legality",
    "passes.cache.memory": "passes.promote_cache_to_shared.memory",
    "passes.cache.nest": "passes.promote_cache_to_shared.nest",
    "passes.cache.pipeline": "passes.promote_cache_to_shared.pipeline",
    "passes.cache.plan": "passes.promote_cache_to_shared.plan",
    "passes.cache.range_checks": "passes.promote_cache_to_shared.range_checks",
    "passes.cache.reductions": "passes.promote_cache_to_shared.reductions",
    "passes.cache.rewrite": "passes.promote_cache_to_shared.rewrite",
    "passes.cache.sections": "passes.ir.data.cached_sections",
    "passes.cache.tile_access": "passes.promote_cache_to_shared.tile_access",
    "passes.cache.tiles": "passes.promote_cache_to_shared.tiles",
    "passes.cache.uniformity": "passes.promote_cache_to_shared.uniformity",
    "passes.cache.uses": "passes.promote_cache_to_shared.uses",
    "passes.cache.variables": "passes.promote_cache_to_shared.variables",
    "passes.compress_arrays": "passes.compress_arrays.compress_arrays",
    "passes.compression.element_code": "passes.compress_arrays.element_code",
    "passes.compression.estimates": "passes.compress_arrays.estimates",
    "passes.compression.members": "passes.compress_arrays.members",
    "passes.compression.record_copies": "passes.compress_arrays.record_copies",
    "passes.compression.records": "passes.convert_acc_data_to_runtime.compressed_records",
    "passes.compression.rewriting": "passes.compress_arrays.rewriting",
    "passes.compression.saturation": "passes.count_saturated_stores.saturation",
    "passes.compression.schedules": "passes.compress_arrays.schedules",
    "passes.compression.wide_groups": "passes.compress_arrays.wide_groups",
    "passes.compression.window_code": "passes.compress_arrays.window_code",
    "passes.compression.windows": "passes.compress_arrays.windows",
    "passes.convert_acc_compute_to_gpu": "passes.convert_acc_compute_to_gpu.convert_acc_compute_to_gpu",
    "passes.convert_acc_compute_to_host": "passes.convert_acc_compute_to_host.convert_acc_compute_to_host",
    "passes.convert_acc_data_to_runtime": "passes.convert_acc_data_to_runtime.convert_acc_data_to_runtime",
    "passes.convert_gpu_to_nvvm": "passes.convert_gpu_to_nvvm.convert_gpu_to_nvvm",
    "passes.count_saturated_stores": "passes.count_saturated_stores.count_saturated_stores",
    "passes.data_records": "passes.convert_acc_data_to_runtime.data_records",
    "passes.data_regions": "passes.convert_acc_data_to_runtime.data_regions",
    "passes.data_spans": "passes.ir.data.data_spans",
    "passes.data_uses": "passes.convert_acc_data_to_runtime.data_uses",
    "passes.device_calls": "passes.ir.kernels.device_calls",
    "passes.device_symbols": "passes.ir.kernels.device_symbols",
    "passes.dynamic_shared": "passes.convert_gpu_to_nvvm.dynamic_shared",
    "passes.firstprivate_values": "passes.infer_data_attributes.firstprivate_values",
    "passes.function_scalars": "passes.ir.variables.function_scalars",
    "passes.gang_partials": "passes.convert_acc_compute_to_host.gang_partials",
    "passes.gpu_library_calls": "passes.convert_gpu_to_nvvm.gpu_library_calls",
    "passes.gpu_lowering.acc_loops": "passes.convert_acc_compute_to_gpu.acc_loops",
    "passes.gpu_lowering.arguments": "passes.ir.kernels.arguments",
    "passes.gpu_lowering.barriers": "passes.convert_acc_compute_to_gpu.barriers",
    "passes.gpu_lowering.bulk": "passes.convert_acc_compute_to_gpu.bulk",
    "passes.gpu_lowering.cache": "passes.convert_acc_compute_to_gpu.cache",
    "passes.gpu_lowering.context": "passes.convert_acc_compute_to_gpu.context",
    "passes.gpu_lowering.control_flow": "passes.convert_acc_compute_to_gpu.control_flow",
    "passes.gpu_lowering.device_module": "passes.convert_acc_compute_to_gpu.device_module",
    "passes.gpu_lowering.effects": "passes.convert_acc_compute_to_gpu.effects",
    "passes.gpu_lowering.exchanges": "passes.ir.kernels.exchanges",
    "passes.gpu_lowering.grid_reductions": "passes.convert_acc_compute_to_gpu.grid_reductions",
    "passes.gpu_lowering.launch": "passes.convert_acc_compute_to_gpu.launch",
    "passes.gpu_lowering.lookback": "passes.convert_acc_compute_to_gpu.lookback",
    "passes.gpu_lowering.loops": "passes.convert_acc_compute_to_gpu.loops",
    "passes.gpu_lowering.lower": "passes.convert_acc_compute_to_gpu.lower",
    "passes.gpu_lowering.operators": "passes.ir.variables.combiners",
    "passes.gpu_lowering.prefixes": "passes.convert_acc_compute_to_gpu.prefixes",
    "passes.gpu_lowering.privatise": "passes.convert_acc_compute_to_gpu.privatise",
    "passes.gpu_lowering.reduction_copies": "passes.convert_acc_compute_to_gpu.reduction_copies",
    "passes.gpu_lowering.reductions": "passes.convert_acc_compute_to_gpu.reductions",
    "passes.gpu_lowering.routines": "passes.convert_acc_compute_to_gpu.routines",
    "passes.gpu_lowering.scans": "passes.convert_acc_compute_to_gpu.scans",
    "passes.gpu_lowering.scratch": "passes.convert_acc_compute_to_gpu.scratch",
    "passes.gpu_lowering.side_by_side": "passes.ir.ops.side_by_side",
    "passes.gpu_lowering.specialise": "passes.convert_acc_compute_to_gpu.specialise",
    "passes.gpu_lowering.warp": "passes.convert_acc_compute_to_gpu.warp",
    "passes.gpu_lowering.watches": "passes.convert_acc_compute_to_gpu.watches",
    "passes.group_combined_subscripts": "passes.group_combined_subscripts.group_combined_subscripts",
    "passes.group_copies": "passes.group_combined_subscripts.group_copies",
    "passes.grouped_iterations": "passes.group_combined_subscripts.grouped_iterations",
    "passes.groups": "passes.ir.loops.groups",
    "passes.hoisting": "passes.ir.data.hoisting",
    "passes.host_cfg": "passes.infer_data_regions.host_cfg",
    "passes.host_loops": "passes.ir.kernels.host_loops",
    "passes.infer_data_attributes": "passes.infer_data_attributes.infer_data_attributes",
    "passes.infer_data_regions": "passes.infer_data_regions.infer_data_regions",
    "passes.inlining": "passes.ir.ops.inlining",
    "passes.ir.acc_ops": "passes.ir.ops.acc_ops",
    "passes.ir.accesses": "passes.ir.values.accesses",
    "passes.ir.addresses": "passes.ir.values.addresses",
    "passes.ir.arguments": "passes.ir.kernels.arguments",
    "passes.ir.array_accesses": "passes.ir.dependence.array_accesses",
    "passes.ir.binary128": "passes.ir.kernels.binary128",
    "passes.ir.building": "passes.ir.ops.building",
    "passes.ir.cached_accesses": "passes.ir.data.cached_accesses",
    "passes.ir.cached_code": "passes.ir.data.cached_code",
    "passes.ir.cached_sections": "passes.ir.data.cached_sections",
    "passes.ir.callees": "passes.ir.data.callees",
    "passes.ir.carried_arrays": "passes.ir.dependence.carried_arrays",
    "passes.ir.chosen_elements": "passes.ir.dependence.chosen_elements",
    "passes.ir.combiners": "passes.ir.variables.combiners",
    "passes.ir.complex_values": "passes.ir.ops.complex_values",
    "passes.ir.data_spans": "passes.ir.data.data_spans",
    "passes.ir.device_calls": "passes.ir.kernels.device_calls",
    "passes.ir.device_symbols": "passes.ir.kernels.device_symbols",
    "passes.ir.exchanges": "passes.ir.kernels.exchanges",
    "passes.ir.expressions": "passes.ir.ops.expressions",
    "passes.ir.fixed_values": "passes.ir.ops.fixed_values",
    "passes.ir.followed_pointers": "passes.ir.dependence.followed_pointers",
    "passes.ir.function_scalars": "passes.ir.variables.function_scalars",
    "passes.ir.gang_order": "passes.ir.dependence.gang_order",
    "passes.ir.gpu_pass": "passes.ir.ops.gpu_pass",
    "passes.ir.groups": "passes.ir.loops.groups",
    "passes.ir.hoisting": "passes.ir.data.hoisting",
    "passes.ir.host_copies": "passes.ir.variables.host_copies",
    "passes.ir.host_effects": "passes.ir.data.host_effects",
    "passes.ir.host_loops": "passes.ir.kernels.host_loops",
    "passes.ir.host_memory": "passes.ir.data.host_memory",
    "passes.ir.host_scalars": "passes.ir.values.host_scalars",
    "passes.ir.host_tests": "passes.ir.values.host_tests",
    "passes.ir.in_order": "passes.ir.variables.in_order",
    "passes.ir.inlining": "passes.ir.ops.inlining",
    "passes.ir.jamming": "passes.ir.loops.jamming",
    "passes.ir.lane_loops": "passes.ir.loops.lane_loops",
    "passes.ir.layout": "passes.ir.ops.layout",
    "passes.ir.levels": "passes.ir.ops.levels",
    "passes.ir.loop_accesses": "passes.ir.dependence.loop_accesses",
    "passes.ir.loop_classifier": "passes.ir.dependence.loop_classifier",
    "passes.ir.loop_conditions": "passes.ir.values.loop_conditions",
    "passes.ir.loop_dependence": "passes.ir.dependence.loop_dependence",
    "passes.ir.loop_facts": "passes.ir.loops.loop_facts",
    "passes.ir.loop_flow": "passes.ir.loops.loop_flow",
    "passes.ir.loop_nests": "passes.ir.kernels.loop_nests",
    "passes.ir.loop_order": "passes.ir.ops.loop_order",
    "passes.ir.loop_scalars": "passes.ir.variables.loop_scalars",
    "passes.ir.loop_symbols": "passes.ir.values.loop_symbols",
    "passes.ir.loop_verdicts": "passes.ir.dependence.loop_verdicts",
    "passes.ir.machine": "passes.ir.ops.machine",
    "passes.ir.meeting_candidates": "passes.ir.dependence.meeting_candidates",
    "passes.ir.messages": "passes.ir.ops.messages",
    "passes.ir.notes": "passes.ir.ops.notes",
    "passes.ir.outline": "passes.ir.kernels.outline",
    "passes.ir.packed_arrays": "passes.ir.kernels.packed_arrays",
    "passes.ir.pointer_rows": "passes.ir.dependence.pointer_rows",
    "passes.ir.predicates": "passes.ir.ops.predicates",
    "passes.ir.private_arrays": "passes.ir.dependence.private_arrays",
    "passes.ir.private_storage": "passes.ir.variables.private_storage",
    "passes.ir.product_loads": "passes.ir.loops.product_loads",
    "passes.ir.products": "passes.ir.loops.products",
    "passes.ir.purity": "passes.ir.ops.purity",
    "passes.ir.recipe_reading": "passes.ir.variables.recipe_reading",
    "passes.ir.recipes": "passes.ir.variables.recipes",
    "passes.ir.reduction_forms": "passes.ir.variables.reduction_forms",
    "passes.ir.reduction_ops": "passes.ir.variables.combiners",
    "passes.ir.reduction_reads": "passes.ir.variables.reduction_reads",
    "passes.ir.region_values": "passes.ir.values.region_values",
    "passes.ir.region_writes": "passes.ir.data.region_writes",
    "passes.ir.routine_calls": "passes.ir.kernels.routine_calls",
    "passes.ir.row_gangs": "passes.ir.loops.row_gangs",
    "passes.ir.runtime_calls": "passes.ir.kernels.runtime_calls",
    "passes.ir.same_values": "passes.ir.ops.same_values",
    "passes.ir.scalar_classes": "passes.ir.variables.scalar_classes",
    "passes.ir.scalar_clauses": "passes.ir.variables.scalar_clauses",
    "passes.ir.scalar_flow": "passes.ir.variables.scalar_flow",
    "passes.ir.scalar_updates": "passes.ir.variables.scalar_updates",
    "passes.ir.scalar_uses": "passes.ir.variables.scalar_uses",
    "passes.ir.scan_code": "passes.ir.variables.in_order",
    "passes.ir.scattered_updates": "passes.ir.dependence.scattered_updates",
    "passes.ir.schedules": "passes.ir.ops.schedules",
    "passes.ir.sections": "passes.ir.data.sections",
    "passes.ir.shared_arrays": "passes.ir.dependence.shared_arrays",
    "passes.ir.sharing_cursor": "passes.ir.ops.sharing_cursor",
    "passes.ir.side_by_side": "passes.ir.ops.side_by_side",
    "passes.ir.signed_readings": "passes.ir.data.signed_readings",
    "passes.ir.sites": "passes.ir.kernels.sites",
    "passes.ir.strides": "passes.ir.values.strides",
    "passes.ir.subscript_parts": "passes.ir.values.subscript_parts",
    "passes.ir.trip_counts": "passes.ir.values.trip_counts",
    "passes.ir.value_origins": "passes.ir.values.value_origins",
    "passes.ir.value_polynomials": "passes.ir.values.value_polynomials",
    "passes.ir.values_outside": "passes.ir.values.values_outside",
    "passes.ir.varying_values": "passes.ir.values.varying_values",
    "passes.ir.versions": "passes.ir.ops.versions",
    "passes.ir.visible_data": "passes.ir.data.visible_data",
    "passes.ir.x87": "passes.ir.kernels.x87",
    "passes.jamming": "passes.ir.loops.jamming",
    "passes.kernel_loops": "passes.split_kernels.kernel_loops",
    "passes.kernel_pieces": "passes.split_kernels.kernel_pieces",
    "passes.loop_classifier": "passes.ir.dependence.loop_classifier",
    "passes.loop_nests": "passes.ir.kernels.loop_nests",
    "passes.loop_order": "passes.ir.ops.loop_order",
    "passes.messages": "passes.ir.ops.messages",
    "passes.notes": "passes.ir.ops.notes",
    "passes.outline": "passes.ir.kernels.outline",
    "passes.private_storage": "passes.ir.variables.private_storage",
    "passes.privatise_atomics": "passes.privatise_atomics.privatise_atomics",
    "passes.promote_cache_to_shared": "passes.promote_cache_to_shared.promote_cache_to_shared",
    "passes.reduction_loops": "passes.group_combined_subscripts.reduction_loops",
    "passes.reduction_ops": "passes.ir.variables.combiners",
    "passes.region_building": "passes.infer_data_regions.region_building",
    "passes.repeated_levels": "passes.split_kernels.repeated_levels",
    "passes.row_accesses": "passes.widen_rows.row_accesses",
    "passes.runtime_calls": "passes.ir.kernels.runtime_calls",
    "passes.scalar_clauses": "passes.ir.variables.scalar_clauses",
    "passes.scan_code": "passes.ir.variables.in_order",
    "passes.schedule_choices": "passes.schedule_loops.schedule_choices",
    "passes.schedule_loops": "passes.schedule_loops.schedule_loops",
    "passes.split_kernels": "passes.split_kernels.split_kernels",
    "passes.stage_transposed_accesses": "passes.stage_transposed_accesses.stage_transposed_accesses",
    "passes.versions": "passes.ir.ops.versions",
    "passes.warp_convergence": "passes.convert_gpu_to_nvvm.warp_convergence",
    "passes.wide_body": "passes.widen_rows.wide_body",
    "passes.wide_input": "passes.privatise_atomics.wide_input",
    "passes.widen_rows": "passes.widen_rows.widen_rows",
    "runtime.abi": "compiler.base.abi",
    "runtime.packed": "compiler.base.packed",
}
"""Old name → new name, without the package's."""


class MovedWarning(DeprecationWarning):
    """Warns of an import by an old name."""


class _Alias(Loader):
    """Fills a module of the old name with the names of the new one."""

    def __init__(self, targets: Sequence[str]):
        self.targets = targets

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        new = " and ".join(f"{_PACKAGE}.{target}" for target in self.targets)
        warnings.warn(f"{module.__name__} is {new} now", MovedWarning, stacklevel=2)
        for target in self.targets:
            names = vars(import_module(f"{_PACKAGE}.{target}"))
            module.__dict__.update((k, v) for k, v in names.items() if not k.startswith("__"))
        for old, renamed in _RENAMED.items():
            if renamed in module.__dict__:
                module.__dict__[old] = module.__dict__[renamed]


class _MovedFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        short = fullname.removeprefix(f"{_PACKAGE}.")
        if short in _SPLIT:
            return ModuleSpec(fullname, _Alias(_SPLIT[short]))
        if short in MOVED:
            return ModuleSpec(fullname, _Alias((MOVED[short],)))
        if any(old.startswith(f"{short}.") for old in MOVED) and fullname.startswith(_PACKAGE):
            return ModuleSpec(fullname, _Room(), is_package=True)
        return None


class _Room(Loader):
    """Makes an empty package in place of one that was removed, so that the modules in it can be found."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        pass


def follow_moves() -> None:
    """Makes imports by old names work, and shows their warnings, which Python hides by default in
    libraries."""
    if any(isinstance(finder, _MovedFinder) for finder in sys.meta_path):
        return
    sys.meta_path.append(_MovedFinder())
    if not sys.warnoptions:
        warnings.simplefilter("default", MovedWarning)
