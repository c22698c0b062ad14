"""Programs on a stand-in for the CUDA driver: what they ask of it, and a runtime that asks something else."""

import shutil
from pathlib import Path

import pytest

from . import compare_calls
from .compare_emit import ROOT

pytestmark = pytest.mark.skipif(
    compare_calls.missing() is not None, reason=f"needs {compare_calls.missing()}"
)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Name of a program → the calls and the output of it."""
    folder = tmp_path_factory.mktemp("calls")
    packages = compare_calls.package_path(ROOT, folder / "packages")
    paths = [ROOT / "examples/saxpy.c", *(ROOT / "tests/conformance/devices").glob("*.c")]
    files = {path.stem: path for path in paths}
    driver = compare_calls.build_driver(folder)
    compare_calls.run_all(files, folder / "out", packages, driver, None, 1)
    return {name: (folder / f"out/{name}.calls").read_text().splitlines() for name in files}


@pytest.mark.sampled(4)
def test_the_calls_of_saxpy(calls: dict[str, list[str]]) -> None:
    """Two arrays of 100,000 floats go in, one comes out; nothing else is moved."""
    copies = [line for line in calls["saxpy"] if "cuMemcpy" in line]
    assert copies == [*["0 cuMemcpyHtoDAsync 400000"] * 2, "0 cuMemcpyDtoHAsync 400000"]
    assert "0 cuLaunchKernel 98x1x1 gangs of 256x1x1, 0 bytes" in calls["saxpy"]
    assert "saxpy: n = 100000, y[10] = 1.0, 99900 wrong" in calls["saxpy"]  # kernels do nothing
    for made, released in (
        ("cuMemAllocAsync", "cuMemFreeAsync"),
        ("cuStreamCreate", "cuStreamDestroy"),
        ("cuEventCreate", "cuEventDestroy"),
        ("cuModuleLoadData", "cuModuleUnload"),
        ("cuMemHostAlloc", "cuMemFreeHost"),
    ):
        counts = [sum(name in line for line in calls["saxpy"]) for name in (made, released)]
        assert counts[0] == counts[1] > 0, made


@pytest.mark.sampled(4)
def test_programs_of_two_gpus(calls: dict[str, list[str]]) -> None:
    """Both GPUs are used, and no program ends by a fault of ours."""
    for name, lines in calls.items():
        assert lines[-1] != "stopped", name
        faults = ("Traceback", "cuda.bindings", "stand-in does not have", "failed with")
        assert not [line for line in lines if any(fault in line for fault in faults)], name
    used = {line[0] for lines in calls.values() for line in lines if "cuLaunchKernel" in line}
    assert used == {"0", "1"}


@pytest.mark.sampled(4)
def test_devices_that_share_a_gpu(tmp_path: Path) -> None:
    """Copies between them are copies within the GPU, and its context is opened by each of them."""
    packages = compare_calls.package_path(ROOT, tmp_path / "packages")
    driver = compare_calls.build_driver(tmp_path)
    variables = compare_calls.environment(driver, packages, tmp_path, 1) | {"ACCOPT_DEVICES": "3"}
    path = ROOT / "tests/conformance/devices/peer.c"
    compare_calls.run(path, tmp_path / "calls", variables)
    lines = (tmp_path / "calls").read_text().splitlines()
    assert lines[-1] == "exit status 0"
    remark = "remark: 3 devices share 1 GPU: devices 0 to 2 on GPU 0; times are not those of separate GPUs"
    assert lines.count(remark) == 1
    assert [line for line in lines if line.startswith("0 cuMemcpyPeerAsync 0 0 ")]
    assert not [line for line in lines if "PeerAccess" in line or "cuMemPoolSetAccess" in line]
    assert lines.count("0 cuDevicePrimaryCtxRelease 0") == 2, "the program uses two of them"


@pytest.mark.sampled(4)
def test_a_runtime_that_asks_for_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "changed"
    kept = shutil.ignore_patterns(".*", "docs", "lit", "tests", "benchmarks", "Output")
    shutil.copytree(ROOT, changed, ignore=kept)
    memory = changed / "runtime/cuda/memory.py"
    text = memory.read_text()
    memory.write_text(text.replace("-(-size // 16) * 16, 16)", "-(-size // 16) * 32, 32)"))
    assert memory.read_text() != text
    arguments = [
        str(ROOT),
        str(changed),
        "--files",
        "examples/saxpy.c",
        "--diff",
        "9",
        "--jobs",
        "1",
    ]
    assert compare_calls.main(arguments) == 1
    assert "+0 cuMemAllocAsync 800000" in capsys.readouterr().out
