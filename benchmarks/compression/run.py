"""
The benchmarks of the compression papers: `python -m benchmarks.compression.run` on a machine with an
NVIDIA GPU (with nvcc, the CUDA versions beside them).

Every kernel of `kernels.c` runs uncompressed and compressed, float in 16 bits, double in 32 and in 16,
on data that is on the device already. The table gives medians in microseconds, the speedup, and the
errors against the uncompressed result: geometric mean and maximum of the relative error. `--sizes`
sweeps copy, reverse, strided and random copy over sizes across the L2 cache, with a cold and a warm
cache; `--transfer` times a host array on its way to the device.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from accopt.compiler.api import Program, compile_files
from accopt.compiler.options import CompileOptions
from numpy.typing import NDArray

from .report import Row, errors, markdown, plot, show

Array = NDArray[Any]
SOURCE = Path(__file__).parent / "kernels.c"
SAMPLES = 15
QUEUE = 1
FLUSH_BYTES = 256 << 20
DISTINCT = 1 << 20
CHECK_SCALE = 64
"""Errors are found at sizes divided by this."""

CUDA: dict[tuple[str, type], tuple[str, str]] = {
    ("copy", np.float32): ("streaming", "copy_f32"),
    ("vecprod", np.float32): ("streaming", "vecprod_f32"),
    ("vecprod", np.float64): ("streaming", "vecprod_f64"),
    ("matadd", np.float32): ("streaming", "matadd"),
    ("nearest_aos", np.float32): ("streaming", "nearest"),
    ("hotspot", np.float64): ("stencils", "hotspot"),
    ("matmul", np.float32): ("compute", "matmul"),
    ("dyadic", np.float32): ("compute", "dyadic"),
}
"""Kernel and type → file and function of the hand-written CUDA version, where there is one."""


@dataclass(frozen=True)
class Format:
    """How the packed arrays of a variant are kept; `clause` is the format's modifier."""

    label: str
    dtype: type
    clause: str

    arrays: bool = False
    """Whether an array of pairs becomes a pair of arrays."""

    @property
    def type_text(self) -> str:
        """The `type` argument of the runtime routines."""
        base = "float" if self.dtype is np.float32 else "double"
        return f"{base}:{self.clause}" + (":soa2" if self.arrays else "")

    @property
    def modifiers(self) -> str:
        """The modifiers of the `compression` clause."""
        return f"soa, {self.clause}" if self.arrays else self.clause


FORMATS = (
    Format("float→16", np.float32, "bits16"),
    Format("double→32", np.float64, "bits32"),
    Format("double→16", np.float64, "bits16"),
)


@dataclass(frozen=True)
class Case:
    """One kernel call: arguments in C order, and the arrays that the compressed version packs."""

    kernel: str
    args: dict[str, Array | int]
    packed: tuple[str, ...]
    output: str
    ranges: dict[str, tuple[float, float]]


def _uniform(seed: int, n: int, dtype: type, low: float = 0.0, high: float = 1.0) -> Array:
    """Random numbers; large arrays repeat a million of them."""
    few = np.random.default_rng(seed).uniform(low, high, min(n, DISTINCT)).astype(dtype)
    return np.resize(few, n)


def streaming(kernel: str, n: int, dtype: type, *, stride: int = 1) -> Case:
    """copy, reverse, strided and random copy, vector product."""
    x = _uniform(1, n, dtype)
    args: dict[str, Array | int] = {"n": n}
    if kernel == "strided":
        args["stride"] = stride
    if kernel == "gather":
        args["index"] = np.random.default_rng(2).integers(0, n, n).astype(np.int32)
    args["x"] = x
    if kernel == "vecprod":
        args |= {"y": _uniform(3, n, dtype), "z": np.zeros(n, dtype)}
        return Case(kernel, args, ("x", "y", "z"), "z", {"z": (0.0, 1.0)})
    args["y"] = np.zeros(n, dtype)
    return Case(kernel, args, ("x", "y"), "y", {"y": (0.0, 1.0)})


def matrices(kernel: str, n: int, dtype: type) -> Case:
    """Matrix addition and multiplication of n × n matrices."""
    args: dict[str, Array | int] = {
        "n": n,
        "a": _uniform(1, n * n, dtype),
        "b": _uniform(2, n * n, dtype),
        "c": np.zeros(n * n, dtype),
    }
    packed = ("a", "b", "c") if kernel == "matadd" else ("a", "b")
    return Case(kernel, args, packed, "c", {"c": (0.0, 2.0)})


def hotspot(n: int, dtype: type, packed: tuple[str, ...]) -> Case:
    """One step of HotSpot on an n × n grid."""
    args: dict[str, Array | int] = {
        "n": n,
        "temperature": _uniform(1, n * n, dtype, 323, 343),
        "power": _uniform(2, n * n, dtype, 0, 0.002),
        "result": np.zeros(n * n, dtype),
    }
    return Case("hotspot", args, packed, "result", {"result": (0.0, 350.0)})


def nearest(kernel: str, n: int, dtype: type) -> Case:
    """Distances of n places to one, as an array of structures or two arrays."""
    both = _uniform(1, 2 * n, dtype, 0, 90)
    args: dict[str, Array | int] = {"n": n}
    if kernel == "nearest_aos":
        args["records"] = both
        packed: tuple[str, ...] = ("records",)
    else:
        args |= {"latitude": both[::2].copy(), "longitude": both[1::2].copy()}
        packed = ("latitude", "longitude")
    args["distance"] = np.zeros(n, dtype)
    return Case(kernel, args, packed, "distance", {})


def dyadic(n: int, dtype: type) -> Case:
    """Dyadic (xor) convolution of two vectors."""
    args: dict[str, Array | int] = {
        "n": n,
        "x": _uniform(1, n, dtype),
        "y": _uniform(2, n, dtype),
        "z": np.zeros(n, dtype),
    }
    return Case("dyadic", args, ("x", "y"), "z", {})


LONG = frozenset(("copy", "reverse", "strided", "gather", "vecprod"))
"""Kernels whose `n` is a long."""


class Variant:
    """`kernels.c` compiled with some arrays packed (`fmt` None: none)."""

    def __init__(
        self, dtype: type, fmt: Format | None, target: str = "nvptx", hotspot: tuple[str, ...] = ()
    ):
        defines = [f"REAL={'float' if dtype is np.float32 else 'double'}"]
        if dtype is np.float64:
            defines.append("SQRT=sqrt")
        if fmt is not None:
            clause = f"compression({fmt.modifiers}: __VA_ARGS__)"
            defines.append(f"PACKED{'_RECORDS' if fmt.arrays else ''}(...)={clause}")
            for word in hotspot:
                defines.append(f"PACKED_{word.upper()}(...)={clause}")
        options = CompileOptions(
            target=target,  # pyright: ignore[reportArgumentType]
            defines=tuple(defines),
            pass_options=("promote-cache-to-shared{promote=always}",),
        )
        self.format = fmt
        self.program: Program = compile_files([SOURCE], options)
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        f = self.program.function
        self.copyin = f("acc_copyin", pointer, (pointer, size))
        compress = (pointer, size, ctypes.c_char_p, pointer, ctypes.c_int)
        self.compress = f(
            "acc_compress_copyin", pointer, (*compress, ctypes.c_float, ctypes.c_float)
        )
        self.delete = f("acc_delete", None, (pointer, size))
        self.update = f("acc_update_self", None, (pointer, size))
        self.wait = f("acc_wait_all", None, ())

    def place(self, case: Case) -> None:
        """Puts the arrays on the device."""
        for name, value in case.args.items():
            if isinstance(value, int):
                continue
            address, size = value.ctypes.data, value.nbytes
            if self.format is None or name not in case.packed:
                self.copyin(address, size)
                continue
            low, high = case.ranges.get(name, (0.0, 0.0))
            scan = int(name not in case.ranges)
            text = self.format.type_text.encode()
            self.compress(address, size, text, None, scan, low, high)

    def release(self, case: Case) -> None:
        """Takes them off again."""
        for value in case.args.values():
            if not isinstance(value, int):
                self.delete(value.ctypes.data, value.nbytes)

    def call(self, case: Case) -> Callable[[], Any]:
        """A function that calls the kernel once."""
        function = self.program.function(case.kernel, None, None)
        function.restype = None
        args: list[Any] = []
        for name, value in case.args.items():
            if isinstance(value, int):
                wide = name == "n" and case.kernel in LONG
                args.append(ctypes.c_long(value) if wide else ctypes.c_int(value))
            else:
                args.append(ctypes.c_void_p(value.ctypes.data))
        return lambda: function(*args)

    def result(self, case: Case) -> Array:
        """The output after one call."""
        output = case.args[case.output]
        assert not isinstance(output, int)
        self.place(case)
        try:
            self.call(case)()
            self.wait()
            self.update(output.ctypes.data, output.nbytes)
            return output.copy()
        finally:
            self.release(case)
            output[:] = 0

    def time(self, case: Case, *, cold: bool = True) -> float:
        """Median microseconds of the kernel; `cold`: with the L2 cache full of something else."""
        from ..harness import Stopwatch, call

        flush = call("cuMemAlloc", FLUSH_BYTES)
        self.place(case)
        try:
            work = self.call(case)
            for _ in range(3):
                work()
            self.wait()
            stream = self.program.stream(QUEUE)
            watch = Stopwatch(stream)
            samples: list[float] = []
            for number in range(SAMPLES):
                if cold:
                    call("cuMemsetD32Async", flush, number, FLUSH_BYTES // 4, stream)
                samples.append(watch.measure(work))
            return statistics.median(samples)
        finally:
            self.wait()
            self.release(case)
            call("cuMemFree", flush)


class CudaVersions:
    """The hand-written kernels of `benchmarks/kernels`, built on first use; None without nvcc."""

    def __init__(self, directory: Path):
        self._directory = directory
        self._sides: dict[str, Any] = {}

    def time(self, case: Case, dtype: type) -> float | None:
        """Median microseconds of the CUDA version of a case, if there is one."""
        known = CUDA.get((case.kernel, dtype))
        if known is None or shutil.which("nvcc") is None:
            return None
        from ..harness import CudaSide
        from ..run import build_cuda
        from ..specs import Case as CudaCase
        from ..specs import Kernel

        file, function = known
        if file not in self._sides:
            self._sides[file] = CudaSide(build_cuda(file, self._directory))
        side = self._sides[file]
        again = CudaCase(dict(case.args), (), dict, 0.0, long_ints=case.kernel in LONG)
        kernel = Kernel(function, file, lambda n: again, 0, 0)
        side.place(again)
        try:
            return statistics.median(side.time(kernel, again, SAMPLES))
        finally:
            side.release()


def measure(plain: Variant, packed: Variant, case: Case, size: int, *, cold: bool) -> Row:
    """Times one case in both variants."""
    alone, small = (variant.time(case, cold=cold) for variant in (plain, packed))
    assert packed.format is not None
    cache = "cold" if cold else "warm"
    return Row(case.kernel, packed.format.label, size, cache, alone, small, 0.0, 0.0)


def cases(dtype: type, scale: int) -> list[tuple[str, Case, int]]:
    """Label, case and size of the benchmarks; `scale` divides the number of elements."""
    n, side = (1 << 27 if dtype is np.float32 else 1 << 26) // scale, int(8192 / scale**0.5)
    out = [
        (kernel, streaming(kernel, n, dtype), n)
        for kernel in ("copy", "reverse", "gather", "vecprod")
    ]
    for stride in (2, 8, 32):
        out.append((f"strided {stride}", streaming("strided", n, dtype, stride=stride), n))
    out.append(("matadd", matrices("matadd", side, dtype), side))
    out.append(("matmul", matrices("matmul", side // 4, dtype), side // 4))
    for kernel in ("nearest_aos", "nearest_soa"):
        out.append((kernel, nearest(kernel, n // 2, dtype), n // 2))
    points = max(64, (1 << 15) // scale)
    out.append(("dyadic", dyadic(points, dtype), points))
    for what, names in HOTSPOTS.items():
        out.append((f"hotspot {what}", hotspot(side, dtype, names), side))
        if what != "power":
            cached = replace(hotspot(side, dtype, names), kernel="hotspot_cached")
            out.append((f"hotspot {what}, cached", cached, side))
    return out


HOTSPOTS = {
    "power": ("power",),
    "temperature": ("temperature", "result"),
    "both": ("power", "temperature", "result"),
}


def variant_for(label: str, fmt: Format, known: dict[str, Variant]) -> Variant:
    """The compressed variant that a case needs: HotSpot's differ in what is packed."""
    what = label.removeprefix("hotspot ").split(",")[0] if label.startswith("hotspot ") else ""
    if what not in known:
        words = ("power", "temperature") if what == "both" else (what,) if what else ()
        known[what] = Variant(fmt.dtype, fmt, hotspot=words)
    return known[what]


def run(formats: Sequence[Format], scale: int, cuda: CudaVersions) -> list[Row]:
    """All benchmarks in all formats."""
    rows: list[Row] = []
    for fmt in formats:
        plain, variants = Variant(fmt.dtype, None), dict[str, Variant]()
        found: dict[str, tuple[float, float]] = {}
        for label, case, _ in cases(fmt.dtype, max(scale, CHECK_SCALE)):
            packed = variant_for(label, fmt, variants)
            found[label] = errors(packed.result(case), plain.result(case))
        for label, case, size in cases(fmt.dtype, scale):
            row = measure(plain, variant_for(label, fmt, variants), case, size, cold=True)
            mean, worst = found[label]
            by_hand = cuda.time(case, fmt.dtype) or 0.0
            if label == "nearest_aos":
                rows += members(fmt, plain, case, size)
            row = replace(row, kernel=label, mean_error=mean, max_error=worst, cuda_us=by_hand)
            rows.append(row)
            show(row)
    return rows


def members(fmt: Format, plain: Variant, case: Case, size: int) -> list[Row]:
    """Nearest neighbour with its records as arrays on the device, compressed and not."""
    rows: list[Row] = []
    for clause in (fmt.clause, "plain"):
        packed = Variant(fmt.dtype, replace(fmt, clause=clause, arrays=True))
        label = "nearest → arrays" + (", plain" if clause == "plain" else "")
        row = replace(measure(plain, packed, case, size, cold=True), kernel=label)
        rows.append(row)
        show(row)
    return rows


def sweep(fmt: Format) -> list[Row]:
    """Copies over sizes across the L2 cache, cold and warm."""
    rows: list[Row] = []
    plain, packed = Variant(fmt.dtype, None), Variant(fmt.dtype, fmt)
    for exponent in range(18, 28, 2):
        for kernel in ("copy", "reverse", "gather"):
            for cold in (True, False):
                case = streaming(kernel, 1 << exponent, fmt.dtype)
                rows.append(measure(plain, packed, case, 1 << exponent, cold=cold))
                show(rows[-1])
    return rows


def transfer(fmt: Format, bytes: int = 1 << 30) -> dict[str, float]:
    """Seconds that a host array takes to the device: plain, compressed with a range, scanned."""
    x = _uniform(1, bytes // np.dtype(fmt.dtype).itemsize, fmt.dtype)
    variant = Variant(fmt.dtype, fmt)
    address, text = x.ctypes.data, fmt.type_text.encode()
    ways: dict[str, Callable[[], Any]] = {
        "plain": lambda: variant.copyin(address, bytes),
        "range given": lambda: variant.compress(address, bytes, text, None, 0, 0.0, 1.0),
        "scanned": lambda: variant.compress(address, bytes, text, None, 1, 0.0, 0.0),
    }
    out: dict[str, float] = {}
    for name, way in ways.items():
        samples: list[float] = []
        for _ in range(4):
            start = time.perf_counter()
            way()
            variant.wait()
            samples.append(time.perf_counter() - start)
            variant.delete(address, bytes)
        out[name] = min(samples[1:])
        print(
            f"transfer {fmt.label} {name}: {out[name] * 1e3:.1f} ms, {bytes / out[name] * 1e-9:.1f} GB/s"
        )
    return out


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="benchmarks.compression.run")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--plot", type=Path, metavar="DIR")
    parser.add_argument("--scale", type=int, default=1, help="divide the sizes by this")
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--transfer", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        rows = run(FORMATS, args.scale, CudaVersions(Path(directory)))
    if args.sizes:
        rows += sweep(FORMATS[1])
    transfers = {fmt.label: transfer(fmt) for fmt in FORMATS[:2]} if args.transfer else {}
    if args.json is not None:
        args.json.write_text(json.dumps({"rows": [asdict(r) for r in rows], "transfer": transfers}))
    if args.markdown is not None:
        args.markdown.write_text(markdown(rows))
    if args.plot is not None:
        plot(rows, args.plot)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
