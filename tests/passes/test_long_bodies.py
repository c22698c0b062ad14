"""Small objects are looked for in constructs of limited length only."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.pipeline import run_to_stage
from accopt.dialects.accx import ALIGNED
from accopt.passes.decisions.dense_objects import LONGEST
from accopt.passes.ir.ops.acc_ops import has_more_operations, parallel_constructs


@pytest.mark.parametrize(("more", "aligned"), [(0, True), (LONGEST // 4, False)])
def test_pairs_are_aligned_in_short_bodies(tmp_path: Path, more: int, aligned: bool) -> None:
    path = tmp_path / "pairs.c"
    sums = " ".join(f"s = s * {k}.5 + {k};" for k in range(more))
    path.write_text(
        "void f(int n, const double *restrict a, double *restrict b)\n{\n"
        "#pragma acc parallel loop copyin(a[0:4*n]) copyout(b[0:4*n])\n"
        "for (int i = 0; i < n; i++) {\n"
        f"double s = a[4 * i] + a[4 * i + 1] + a[4 * i + 2] * a[4 * i + 3]; {sums}\n"
        "b[4 * i] = s; b[4 * i + 1] = 2 * s; b[4 * i + 2] = 3 * s; b[4 * i + 3] = 4 * s; } }\n"
    )
    options = CompileOptions(target="nvptx")
    module = front_end([path], options, DiagnosticSink())
    run_to_stage(make_context(), module, "transformed", options)
    constructs = parallel_constructs(module)
    assert any(ALIGNED in construct.attributes for construct in constructs) == aligned
    assert has_more_operations(constructs[0], 10)
    count = sum(1 for _ in constructs[0].walk())
    assert has_more_operations(constructs[0], count - 1)
    assert not has_more_operations(constructs[0], count)
