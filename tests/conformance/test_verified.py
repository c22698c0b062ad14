"""
No pass leaves IR that the verifier refuses: programs are taken to the last stage with `--verify-each`, but
no code is generated. Each rotation has others, as many as a budget of processor time allows (`--slow`: all).
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions, TargetName
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.pipeline import run_to_stage
from fuzz.rows_by_number import make_numbered

HERE = Path(__file__).parent
FIRST = [HERE / "data_items.c"]
"""Programs that each run has."""
OTHERS = sorted(
    [*HERE.glob("*.c"), *HERE.glob("serial/*.c"), *HERE.parents[1].glob("examples/*.c")]
)
SECONDS = 12.0


def verify(program: Path, target: TargetName) -> str:
    """What the compiler says of a program whose IR is verified after each pass; empty if nothing."""
    options = CompileOptions(target=target, verify_each=True)
    try:
        module = front_end([program], options, DiagnosticSink())
        run_to_stage(make_context(), module, "nvvm", options)
    except CompileError as e:
        return f"{program}: {e}"
    return ""


@pytest.mark.parametrize("target", ["host", "nvptx"])
def test_no_pass_leaves_invalid_ir(
    target: TargetName, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seed = request.config.getoption("--rotation")
    generated = tmp_path / f"numbered_{seed}.c"
    generated.write_text(make_numbered(seed, 3))
    others = random.Random(f"{seed} {target}").sample(OTHERS, len(OTHERS))
    found: list[str] = []
    start = time.process_time()
    for program in (*FIRST, generated, *others):
        if time.process_time() - start > SECONDS and not request.config.getoption("--slow"):
            break
        found += filter(None, [verify(program, target)])
    assert not found, f"--rotation={seed}:\n" + "\n".join(found)
