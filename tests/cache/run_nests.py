"""
Compares generated nests with and without their directives: `run_nests.py TARGET FOLDER SEED…`. A process
of its own, because an error of the simulator ends the process. Prints one line per wrong seed.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
from accopt.compiler.api import Program, RunOptions
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.compiled import Executable
from accopt.compiler.executable import build
from accopt.runtime.sim.findings import FaultKind
from generator import Nest, make_nest
from generator import make_options as nest_options
from product_generator import Product
from product_generator import make_options as product_options

PASS = "promote-cache-to-shared"
PRODUCTS = 100_000
"""The first seed of a product."""


def make(seed: int) -> tuple[Nest | Product, str]:
    """The program of a seed, and options of the pass."""
    if seed >= PRODUCTS:
        return Product(seed), product_options(seed)
    nest = make_nest(seed)
    return nest, nest_options(seed, strict_indices=nest.strict_indices)


def compile_nest(
    source: Path, target: str, options: str = "", plain: bool = False, checks: bool = False
) -> Executable:
    """The nest for a target, or for the host without its directives; `checks`: as `--check-cache` does."""
    return build(
        [source],
        CompileOptions(
            target=target,  # type: ignore[arg-type]
            pass_options=(f"{PASS}{{{options}}}",) if options else (),
            defines=("NO_CACHE",) if plain else (),
            verify=target == "sim",
            check_cache=checks,
        ),
        DiagnosticSink(),
    )


def results(executable: Executable, nest: Nest | Product, seed: int) -> list[np.ndarray]:
    """All arrays after a call for each choice of sizes. Raises `AssertionError` for a race."""
    found: list[np.ndarray] = []
    for number, sizes in enumerate(nest.sizes):
        arguments = nest.arguments(sizes, 10 * seed + number)
        values = [
            ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else ctypes.c_int(a)  # type: ignore[arg-type]
            for a in arguments
        ]
        on = Program(executable, RunOptions(checks=True))
        on.function("f", None, None)(*values)
        if executable.options.target == "sim":
            races = nest.overlapping
            faults = [f for f in on.simulator.findings if not (races and f.fault is FaultKind.RACE)]
            assert not faults, f"{sizes}: {faults[0]}"
        on.close()
        found += [a for a in arguments if isinstance(a, np.ndarray)]
    return found


def check(seed: int, target: str, folder: Path) -> None:
    """Raises `AssertionError` if the directives of a seed change the contents of its arrays."""
    nest, options = make(seed)
    source = folder / f"nest{seed}.c"
    source.write_text(nest.text)
    options = options if target != "host" else ""
    print(f"{source} --pass-option '{PASS}{{{options}}}'", flush=True)
    expected = results(compile_nest(source, "host", plain=True), nest, seed)
    checks = (
        seed % 5 == 2 and nest.strict_indices
    )  # no access lies outside, so that nothing is found
    found = results(compile_nest(source, target, options, checks=checks), nest, seed)
    for want, have in zip(expected, found, strict=True):
        np.testing.assert_array_equal(have, want)


def main() -> int:
    wrong = 0
    for seed in sys.argv[3:]:
        try:
            check(int(seed), sys.argv[1], Path(sys.argv[2]))
        except AssertionError as e:
            print(f"WRONG: seed {seed}: {' '.join(str(e).split())[:300]}", flush=True)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
