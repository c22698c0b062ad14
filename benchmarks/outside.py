"""
Pairs of a nest and its CUDA, in a folder outside of this tree: `python -m benchmarks.outside FOLDER`.

Each folder `FOLDER/NAME` is a pair of the same C function NAME with the same arguments:

    nest.c      in OpenACC C, on queue 1, for arrays that are present
    simple.cu   in CUDA, an iteration of the parallel loops for a thread
    theirs.cu   in CUDA as its author wrote it, if that differs
    case.py     `make(n)`, which gives a `specs.Case`, and the sizes SIZE and SMALL

Every side is checked at the small size against the case's float64 reference, and at the measured size
against the simple CUDA; then all sides are timed in turns, so that a change of the clock meets all of them.
The table shows for each pair the time of the simple CUDA over that of the others: `theirs`, `accopt` as it is
by default, and `plain`, without the passes that choose other mappings than the loops have (PLAIN); registers,
and bytes that are spilled, of the kernel with most of them. A pair whose CUDA fails its check is reported and
left out. Without a GPU, or without nvcc, what can be built is built, and its registers are shown.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

from accopt.compiler.backend.ptxas import KernelResources, assemble, parse_resources
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import build

from .harness import AccSide, CudaSide, Side, build_cuda, check, differs
from .run import geometric_mean
from .specs import Case, Kernel

PLAIN = (
    *("fold-constant-tables", "split-records", "split-pivot-loops", "sink-sequential-loops"),
    *("fuse-sibling-loops", "order-nests", "keep-short-rows", "join-short-loops"),
    *("shape-reduced-nests", "keep-reduced-rows", "separate-products", "order-product-loops"),
    *("keep-nested-sums", "find-shared-sections", "hoist-invariant-loops", "tabulate-functions"),
    *("choose-lanes", "keep-sum-order", "keep-sums-in-registers", "keep-chosen-elements"),
    *("keep-previous-elements", "split-column-sums", "stage-ordered-sums"),
    *("stage-transposed-accesses", "group-combined-subscripts", "jam-outer-iterations"),
    *("widen-rows", "jam-strided-iterations", "stage-shared-loads", "privatise-atomics"),
    *("keep-objects", "count-saturated-stores", "coarsen-threads"),
)
"""The passes that the plain plan leaves out: they choose another mapping than an iteration for a thread."""
SAMPLES = 15
ROUNDS = 3


@dataclass(frozen=True)
class Pair:
    """A folder with a nest and its CUDA."""

    folder: Path
    kernel: Kernel

    @property
    def sides(self) -> dict[str, Path]:
        """The CUDA files, by the name of their side."""
        files = {name: self.folder / f"{name}.cu" for name in ("simple", "theirs")}
        return {name: path for name, path in files.items() if path.exists()}


@dataclass
class Result:
    """What was measured of a pair: medians in µs and resources by side; `problem`: why it is left out."""

    name: str
    us: dict[str, float] = field(default_factory=dict[str, float])
    registers: dict[str, int] = field(default_factory=dict[str, int])
    spills: dict[str, int] = field(default_factory=dict[str, int])
    problem: str | None = None

    def ratio(self, side: str) -> float | None:
        """The time of the simple CUDA over that of a side."""
        if "simple" not in self.us or side not in self.us:
            return None
        return self.us["simple"] / self.us[side]


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"case_{path.parent.name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_pair(folder: Path) -> Pair:
    """The pair in a folder; raises `OSError`, or what its `case.py` raises."""
    for name in ("nest.c", "case.py"):
        if not (folder / name).exists():
            raise FileNotFoundError(f"{folder / name} is missing")
    case = _module(folder / "case.py")
    name: str = folder.name

    def make(n: int) -> Case:
        return case.make(n)

    return Pair(folder, Kernel(name, name, make, case.SIZE, case.SMALL))


def options(side: str, *, fast_math: bool) -> CompileOptions:
    """The options of one of our sides, `accopt` or `plain`."""
    skipped = PLAIN if side == "plain" else ()
    given = ("schedule-loops{rows=1 elements=1}",) if side == "plain" else ()
    return CompileOptions(
        target="nvptx", fast_math=fast_math, skipped_passes=skipped, pass_options=given
    )


OURS = ("accopt", "plain")


def _resources(found: dict[str, KernelResources]) -> tuple[int, int]:
    """The registers and the spilled bytes of the kernel with most of them."""
    registers = max((r.registers for r in found.values()), default=0)
    return registers, max((r.spill_stores for r in found.values()), default=0)


def our_resources(pair: Pair, side: str, *, fast_math: bool) -> tuple[int, int]:
    """Registers and spilled bytes of the kernels of one of our sides."""
    command = [sys.executable, "-m", "accopt", str(pair.folder / "nest.c"), "--emit=ptx"]
    given = options(side, fast_math=fast_math)
    command += [f"--skip-pass={name}" for name in given.skipped_passes]
    command += [f"--pass-option={text}" for text in given.pass_options]
    command += ["--fast-math"] if fast_math else []
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    found = assemble(made.stdout, given.sm)
    return _resources(found.kernels) if found is not None else (0, 0)


def cuda_resources(source: Path, folder: Path) -> tuple[int, int]:
    """Registers and spilled bytes of a CUDA file's kernels."""
    target = folder / f"{source.parent.name}-{source.stem}.cubin"
    command = ["nvcc", "-O3", "-arch=sm_90", "-cubin", "-Xptxas=-v", str(source), "-o", str(target)]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    return _resources(parse_resources(made.stderr))


def static(pair: Pair, result: Result, folder: Path, *, fast_math: bool) -> None:
    """Adds what needs no GPU to `result`."""
    cuda = pair.sides if shutil.which("nvcc") else {}
    for name, source in cuda.items():
        result.registers[name], result.spills[name] = cuda_resources(source, folder)
    for name in OURS:
        result.registers[name], result.spills[name] = our_resources(pair, name, fast_math=fast_math)


def measure(pair: Pair, result: Result, folder: Path, *, fast_math: bool) -> None:
    """Checks all sides of a pair and times them in turns; sets `result.problem` where one is wrong."""
    place = folder / pair.kernel.name
    place.mkdir()
    sides: dict[str, Side] = {
        name: CudaSide(build_cuda(source, place)) for name, source in pair.sides.items()
    }
    if "simple" not in sides:
        result.problem = "simple.cu is missing"
        return
    ours = {
        name: AccSide(pair.folder / "nest.c", options(name, fast_math=fast_math)) for name in OURS
    }
    sides.update(ours)
    try:
        result.problem = _wrong(sides, pair.kernel)
        if result.problem is not None:
            return
        case = pair.kernel.make(pair.kernel.size)
        times: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(ROUNDS):
            for name, side in sides.items():
                times[name] += side.sample(pair.kernel, case, SAMPLES)
        result.us = {name: statistics.median(found) for name, found in times.items()}
    finally:
        for side in ours.values():
            side.close()


def _wrong(sides: dict[str, Side], kernel: Kernel) -> str | None:
    """How a side differs from the reference, or from the simple CUDA at the measured size."""
    for name, side in sides.items():
        if (problem := check(side, kernel, kernel.make(kernel.small))) is not None:
            return f"{name}: {problem}"
    case = kernel.make(kernel.size)
    for name, side in sides.items():
        if name == "simple":
            continue
        if (problem := differs((sides["simple"], side), kernel, case)) is not None:
            return f"{name}: {problem}"
    return None


def rows(results: list[Result]) -> Iterator[str]:
    """The table: ratios to the simple CUDA, then registers and spilled bytes of its sides."""
    names = ("theirs", *OURS)
    yield (
        f"{'nest':22s} {'simple µs':>10s} "
        + " ".join(f"{n:>8s}" for n in names)
        + "  registers, spills"
    )
    for r in results:
        if r.problem is not None:
            yield f"{r.name:22s} left out: {r.problem}"
            continue
        shown = [f"{ratio:8.2f}" if (ratio := r.ratio(n)) else f"{'–':>8s}" for n in names]
        used = (f"{n} {r.registers[n]}, {r.spills[n]}" for n in r.registers)
        yield f"{r.name:22s} {r.us.get('simple', 0):10.1f} {' '.join(shown)}  {'; '.join(used)}"
    for name in names:
        good = [ratio for r in results if r.problem is None and (ratio := r.ratio(name))]
        if good:
            yield f"{name}: geometric mean {geometric_mean(good):.3f} of {len(good)}, least {min(good):.2f}"


def build_ahead(folders: list[Path], *, fast_math: bool) -> None:
    """Compiles our sides of all pairs side by side, into the cache; those that fail are reported later."""
    files = [(f / "nest.c", options(side, fast_math=fast_math)) for f in folders for side in OURS]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        list(pool.map(_build, files))


def _build(file: tuple[Path, CompileOptions]) -> None:
    with contextlib.suppress(CompileError):
        build([file[0]], file[1], DiagnosticSink())


def has_gpu() -> bool:
    """Whether there is a GPU that kernels can run on."""
    try:
        from cuda.bindings import driver
    except ImportError:
        return False
    try:
        return int(driver.cuInit(0)[0]) == 0
    except RuntimeError:
        return False


@contextlib.contextmanager
def reported(result: Result) -> Generator[None]:
    """A step of a pair's measurement, whose failure is the pair's problem, not that of the others."""
    try:
        yield
    except subprocess.CalledProcessError as failure:
        said = str(failure.stderr or failure).splitlines()
        result.problem = next((line for line in said if "error" in line), str(failure))
    except (CompileError, OSError, ImportError, RuntimeError, AttributeError) as failure:
        result.problem = f"{type(failure).__name__}: {failure}"


def prepare(folder: Path, scratch: Path, *, fast_math: bool) -> Result:
    """The result of a pair as far as it needs no GPU."""
    result = Result(folder.name)
    with reported(result):
        static(read_pair(folder), result, scratch, fast_math=fast_math)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.outside", description=(__doc__ or "").split("\n")[1]
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("pairs", nargs="*", help="names of pairs (default: all)")
    parser.add_argument("--fast-math", action="store_true", help="for the OpenACC sides")
    parser.add_argument("--json", type=Path, help="file for the numbers")
    args = parser.parse_args()
    folders = sorted(p.parent for p in args.folder.glob("*/nest.c"))
    folders = [p for p in folders if not args.pairs or p.name in args.pairs]
    if not folders:
        parser.error(f"{args.folder} has no such pairs (folders with a file nest.c)")
    gpu = has_gpu() and shutil.which("nvcc") is not None
    if not gpu:
        missing = "nvcc is not in PATH" if shutil.which("nvcc") is None else "there is no GPU"
        print(f"{missing}: nothing is timed", file=sys.stderr)
    else:
        build_ahead(folders, fast_math=args.fast_math)
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        with ThreadPoolExecutor() as pool:
            fast = args.fast_math
            results = list(pool.map(lambda f: prepare(f, scratch, fast_math=fast), folders))
        for folder, result in zip(folders, results, strict=True):
            if gpu and result.problem is None:
                with reported(result):
                    measure(read_pair(folder), result, scratch, fast_math=fast)
            print(*list(rows([result]))[1:2], file=sys.stderr, flush=True)
    print(*rows(results), sep="\n")
    if args.json:
        args.json.write_text(json.dumps([asdict(r) for r in results], indent=1))
    return 1 if any(r.problem for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
