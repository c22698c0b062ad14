"""Fixtures and markers shared by all tests."""

from __future__ import annotations

import datetime
import functools
import zlib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes is the machine's affair. `--slow` looks at others in each run.
for _name, _fixed in (("fixed", True), ("random", False)):
    settings.register_profile(
        _name, deadline=None, derandomize=_fixed, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("fixed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run long fuzzing and large programs")
    parser.addoption("--fast", action="store_true", help="only what finds most breaks in a minute")
    text = (
        "which part of `sampled` tests and which generated programs run (default: the day's number)"
    )
    parser.addoption("--rotation", type=int, metavar="N", help=text)
    text = "of the generated programs of each kind, only this one"
    parser.addoption("--program", type=int, metavar="N", help=text)
    text = "seconds of generated programs of each kind (default 10; there are thirteen kinds)"
    parser.addoption("--fuzz-seconds", type=float, default=10, metavar="S", help=text)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--slow"):
        settings.load_profile("random")
    if config.getoption("--rotation") is None:  # Workers get the options of the first process.
        config.option.rotation = datetime.date.today().toordinal()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    reports = [r for several in terminalreporter.stats.values() for r in several]
    counts = [
        dict(r.user_properties).get("generated", 0)
        for r in reports
        if isinstance(r, pytest.TestReport) and r.when == "call"
    ]
    terminalreporter.write_line(
        f"--rotation={config.getoption('--rotation')} chose the samples, and {sum(counts)} generated programs"
    )


_FAST_FOLDERS = ("c", "directives", "dialects", "ir", "irgen", "llvmir", "passes")
_FAST_FILES = ("test_rooms.py", "test_bad_input.py", "test_examples.py")
_SLOW_WORDS = (
    *("against_gcc", "headers", "generated", "gpu_programs", "assembles", "sim-", "[sim", "-sim]"),
    *("simulator", "test_remark_wording", "test_speed_passes", "test_infer_data_regions"),
    *(
        "test_widen_rows",
        "test_limits",
        "test_exchanges",
        "test_edited_recipes",
        "test_kept",
        "[cg",
    ),
    *("is_legal[gpu", "round_trips", "printing_100_000", "test_output[acc_", "_devices]", "[svm]"),
    *("test_any_text", "test_words_and_symbols", "change_nothing_there", "faulty_command_lines"),
    *("test_missing_file", "means_one_thing", "test_round_trip[", "continues_to_the_same_ptx"),
)
"""Parts of the names of tests and files that compile or run many programs."""
_FAST_TESTS = (
    *("test_mapping.py", "test_rows_apart.py"),
    *(
        f"test_in_the_simulator[{name}]"
        for name in ("kernels_alias", "loops", "reduction_positions")
    ),
)
"""Parts of the names of further tests that find breaks in the runtime and in code for GPUs."""


def is_named(item: pytest.Item) -> bool:
    """Whether a test is one of those that `--fast` adds one by one, however few of its kind run each time."""
    return any(name in item.nodeid for name in _FAST_TESTS)


def is_fast(item: pytest.Item) -> bool:
    """Whether `--fast` runs a test: those that compile little, the examples on the host target, and a few."""
    if is_named(item):
        return True
    top, *_ = item.path.relative_to(Path(__file__).parent).parts
    chosen = top in _FAST_FOLDERS or top in _FAST_FILES
    return chosen and not any(word in item.nodeid for word in _SLOW_WORDS)


@functools.cache
def gpu_missing() -> str | None:
    """Why GPU tests cannot run here; None if they can."""
    try:
        from cuda.bindings import driver
    except ImportError:
        return "cuda-bindings is not installed"
    try:
        (status,) = driver.cuInit(0)
    except RuntimeError as e:
        return f"no CUDA driver: {e}"
    if status != driver.CUresult.CUDA_SUCCESS:
        return f"no CUDA device: {status.name}"
    return None


@functools.cache
def gpus_missing(wanted: int) -> str | None:
    """Why tests that use `wanted` GPUs cannot run here; None if they can."""
    if (reason := gpu_missing()) is not None:
        return reason
    from cuda.bindings import driver

    _, count = driver.cuDeviceGetCount()
    return None if count >= wanted else f"needs {wanted} GPUs, but there are {count}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--fast"):
        config.hook.pytest_deselected(items=[item for item in items if not is_fast(item)])
        items[:] = filter(is_fast, items)
    seen: Counter[str] = Counter()
    rotation = config.getoption("--rotation")
    for item in items:
        sampled = item.get_closest_marker("sampled")
        left_out = item.get_closest_marker("slow") is not None
        wanted = item.get_closest_marker("always") is not None
        wanted |= config.getoption("--fast") and is_named(item)
        if sampled is not None and not wanted and item.get_closest_marker("gpu") is None:
            function = item.nodeid.partition("[")[0]
            turn = rotation + zlib.crc32(function.encode())  # Not all functions on the same day.
            left_out |= (seen[function] + turn) % sampled.args[0] != 0
            seen[function] += 1
        if left_out and not config.getoption("--slow"):
            item.add_marker(pytest.mark.skip(reason="long; run with --slow"))
        several = item.get_closest_marker("gpus")
        wanted = several.args[0] if several else int(item.get_closest_marker("gpu") is not None)
        if wanted and (reason := gpus_missing(wanted)) is not None:
            item.add_marker(pytest.mark.skip(reason=reason))
