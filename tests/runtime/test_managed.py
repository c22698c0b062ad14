"""`-gpu=managed`: on the host target pointers mean the same in kernels, wherever they are stored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import build

_LIST = """
#include <stdlib.h>
struct node { int value; struct node *next; };
int main(void)
{
    int n = 50, sum = 0;
    double **rows = malloc(n * sizeof *rows);
    struct node *head = 0;
    for (int i = 0; i < n; i++) {
        struct node *fresh = malloc(sizeof *fresh);
        rows[i] = malloc(3 * sizeof(double));
        fresh->value = i;
        fresh->next = head;
        head = fresh;
    }
#pragma acc parallel loop reduction(+:sum)
    for (int i = 0; i < n; i++) {
        rows[i][1] = i;
        for (struct node *p = head; p; p = p->next)
            sum += p->value;
    }
    return sum == n * n * (n - 1) / 2 && rows[7][1] == 7 ? 0 : 1;
}
"""


def test_linked_lists_and_rows(tmp_path: Path) -> None:
    source = tmp_path / "list.c"
    source.write_text(_LIST)
    command = [sys.executable, "-m", "accopt.compiler.drivers.accrun_main", "--target=host"]
    assert subprocess.run([*command, "-gpu=managed", source], check=False).returncode == 0


def test_gpus_say_that_clauses_decide(tmp_path: Path) -> None:
    source = tmp_path / "list.c"
    source.write_text(_LIST)
    sink = DiagnosticSink()
    build([source], CompileOptions(target="sim", managed=True), sink)
    assert "data clauses decide" in sink.diagnostics[0].message
