"""The host and the GPU give the same bits: kernels that only move or add packed numbers agree exactly."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.compression.cases import Case, Format, matrices, nearest, streaming
from benchmarks.compression.variants import Variant

FORMATS = [
    Format("float 16", np.float32, "bits16"),
    Format("float 8", np.float32, "bits8"),
    Format("float 12", np.float32, "bits12"),
    Format("float 20", np.float32, "bits20"),
    Format("float half", np.float32, "half"),
    Format("float bfloat16", np.float32, "bfloat16"),
    Format("float 16 centred", np.float32, "bits16, centred"),
    Format("float 20 centred", np.float32, "bits20, centred"),
    Format("double 32", np.float64, "bits32"),
    Format("double 32 centred", np.float64, "bits32, centred"),
    Format("double 16 centred", np.float64, "bits16, centred"),
    Format("double 16", np.float64, "bits16"),
    Format("double 24", np.float64, "bits24"),
    Format("double half", np.float64, "half"),
]
N = 100_003


def cases(dtype: type) -> list[Case]:
    out = [streaming(kernel, N, dtype) for kernel in ("copy", "reverse", "gather", "vecprod")]
    out += [streaming("strided", N, dtype, stride=3), matrices("matadd", 301, dtype)]
    # Values beyond the range, infinities and NaN have the same codes everywhere.
    odd = streaming("copy", N, dtype)
    x = odd.args["x"]
    assert not isinstance(x, int)
    x[::7] = 3
    x[1::11], x[2::13], x[3::17] = np.inf, -np.inf, np.nan
    out.append(Case("copy", odd.args, odd.packed, "y", {"x": (0, 1), "y": (0, 1)}))
    return out


@pytest.mark.gpu
@pytest.mark.parametrize("fmt", FORMATS, ids=lambda f: f.label)
def test_same_bits(fmt: Format):
    gpu, host = Variant(fmt.dtype, fmt), Variant(fmt.dtype, fmt, target="host")
    for case in cases(fmt.dtype):
        ours, theirs = gpu.result(case), host.result(case)
        assert ours.tobytes() == theirs.tobytes(), case.kernel


@pytest.mark.gpu
@pytest.mark.parametrize("clause", ["bits16", "bits16, centred"])
def test_structures_of_arrays(clause: str):
    fmt = Format("float 16", np.float32, clause, arrays=True)
    case = nearest("nearest_aos", N, np.float32)
    gpu, host = Variant(fmt.dtype, fmt), Variant(fmt.dtype, fmt, target="host")
    assert np.allclose(gpu.result(case), host.result(case), rtol=1e-6)


@pytest.mark.parametrize("fmt", FORMATS[::3], ids=lambda f: f.label)
def test_same_bits_on_the_simulated_gpu(fmt: Format):
    sim, host = Variant(fmt.dtype, fmt, target="sim"), Variant(fmt.dtype, fmt, target="host")
    for kernel in ("copy", "vecprod"):
        case = streaming(kernel, 512, fmt.dtype)
        assert sim.result(case).tobytes() == host.result(case).tobytes(), kernel
