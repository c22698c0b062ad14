"""Which globals may have a copy on a device, by what C programs do with their addresses."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import front_end
from accopt.passes.infer_data_attributes.device_copies import shared_globals

PROGRAM = """
#include <stdio.h>
#include <openacc.h>
int n, other;
void take(int *p);
void set(int x) {{ n = x; scanf("%d", &n); n++; }}
void kernel(double *a) {{
#pragma acc kernels present(a)
  for (int i = 0; i < n; i++) a[i] = n;
}}
void f(void) {{ int *p = &other; (void)p; {use} }}
"""


@pytest.mark.parametrize(
    ("use", "shared"),
    [
        ("other = n;", False),
        ("sscanf(\"1\", \"%d\", &n);", False),
        ("\n#pragma acc parallel firstprivate(n)\n{ int x = n; (void)x; }", False),
        ("\n#pragma acc enter data copyin(n)\n", True),
        ("\n#pragma acc data copy(n)\n{ n = 2; }", True),
        ("\n#pragma acc update device(n)\n", True),
        ("acc_copyin(&n, sizeof n);", True),
        ("take(&n);", True),
        ("static int *q; q = &n;", True),
    ],
)  # fmt: skip
def test_globals(use: str, shared: bool, tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(PROGRAM.format(use=use))
    module = front_end([source], CompileOptions(), DiagnosticSink())
    assert ("n" in shared_globals(module)) == shared
