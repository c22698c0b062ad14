"""Volatile accesses (C11 5.1.2.3) are all made, by one thread where code runs once per gang."""

from __future__ import annotations

import re
from pathlib import Path

from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.emit import emit_text
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.pipeline import run_to_stage

PROGRAM = """
void once(int n, volatile float *f, float *restrict out) {
  #pragma acc parallel copyin(f[0:4]) copyout(out[0:n]) vector_length(128) num_gangs(8)
  {
    float x = f[0];
    #pragma acc loop gang vector
    for (int i = 0; i < n; i++) out[i] = x;
  }
}
void each(int n, volatile float *v, float *restrict a) {
  #pragma acc parallel loop copyout(v[0:n]) copyin(a[0:n])
  for (int i = 0; i < n; i++) v[i] = a[i];
}
void unread(int n, float *restrict a) {
  #pragma acc kernels copy(a[0:n])
  {
    volatile int t;
    for (int i = 0; i < n; i++) a[i] += 1;
    t = 8;
  }
}
"""


def test_volatile_accesses(tmp_path: Path) -> None:
    options = CompileOptions(target="nvptx")
    (source := tmp_path / "volatile.c").write_text(PROGRAM)
    module = front_end([source], options, DiagnosticSink())
    run_to_stage(make_context(), module, "nvvm", options)
    ptx = emit_text(module, "ptx", options)
    once, *others = re.split(r"(?=\.visible \.entry)", ptx)[1:]
    assert once.count("ld.volatile.global") == 1
    assert re.search(r"@%p\d+ bra[^;]*;\s*ld\.volatile\.global", once), "a thread reads, not all"
    volatile = ["st.volatile.global" in kernel for kernel in others]
    assert volatile == [True, False, True]
