"""Which implicit clauses each loop of a C function gets for its scalars, and which warnings the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.c.program import load_program
from accopt.compiler.ir.context import make_context
from accopt.compiler.irgen import generate_module
from accopt.passes.ir.ops.messages import take_messages
from accopt.passes.ir.variables.reduction_forms import Kind, Operator
from accopt.passes.ir.variables.scalar_classes import ScalarClass, ScalarFacts, classify
from accopt.passes.registry import load_pass
from xdsl.dialects import acc
from xdsl.dialects.builtin import ModuleOp

FACTS = {
    ScalarClass.SHARED: ScalarFacts(False, True, False, True),
    ScalarClass.PRIVATE: ScalarFacts(True, False, False, False),
    ScalarClass.LAST: ScalarFacts(True, False, True, True),
    ScalarClass.FLAG: ScalarFacts(True, False, False, True, one_value=True),
    ScalarClass.SOME_LAST: ScalarFacts(True, False, False, True),
    ScalarClass.REDUCTION: ScalarFacts(True, True, True, True, operator=Operator(Kind.ADD)),
    ScalarClass.CARRIED: ScalarFacts(True, True, True, True),
}


@pytest.mark.parametrize(("expected", "facts"), FACTS.items())
def test_table(expected: ScalarClass, facts: ScalarFacts) -> None:
    assert classify(facts) is expected


def compiled(tmp_path: Path, body: str) -> ModuleOp:
    """`body` in a function with float scalars s and t, an int f and arrays a and b."""
    text = (
        "double fmax(double, double); float fmaxf(float, float); double fmin(double, double);\n"
        "float f(int n, float *a, float *b, int *c)\n{ float s = 0, t = 0; double d = 0; int f = 1;"
        " unsigned u = 0; short h = 0; unsigned char q = 0; _Bool g = 0;\n"
        f"{body}\nreturn s + t + d + f + u + h + q + g; }}\n"
    )
    path = tmp_path / "unit.c"
    path.write_text(text)
    module = generate_module(load_program([path], None, DiagnosticSink()), DiagnosticSink())
    for name in ("legalize-serial", "classify-scalars", "split-kernels"):
        load_pass(name)().apply(make_context(), module)
    module.verify()
    return module


def clauses(module: ModuleOp) -> list[str]:
    """The implicit clauses, as `operator:name` and `private:name`, outer loops first."""
    found: list[str] = []
    for op in module.walk():
        if not isinstance(op, acc.PrivateOp | acc.ReductionOp) or op.implicit is None:
            continue
        if not op.implicit.value.data or op.var_name is None:
            continue
        assert op.recipe is not None
        kind = op.recipe.string_value().removeprefix("reduction_").split("_")[0]
        found.append(f"{kind}:{op.var_name.data}")
    return found


LOOP = "#pragma acc parallel loop\nfor (int i = 0; i < n; i++) "


@pytest.mark.parametrize(
    ("statement", "clause"),
    [
        ("s += a[i];", "add:s"),
        ("s = s + a[i] + b[i];", "add:s"),
        ("s = a[i] + (b[i] + s);", "add:s"),
        ("s -= a[i];", "add:s"),
        ("s = s - a[i];", "add:s"),
        ("s *= a[i];", "mul:s"),
        ("s += (double)a[i] * 2.0;", "add:s"),
        ("d += a[i];", "add:d"),
        ("f++;", "add:f"),
        ("h += c[i];", "add:h"),
        ("q |= c[i];", "ior:q"),
        ("f ^= c[i];", "xor:f"),
        ("f &= c[i];", "iand:f"),
        ("f = f && c[i];", "land:f"),
        ("f = c[i] > 2 && f;", "land:f"),
        ("f = f || c[i] == 3;", "lor:f"),
        ("f = c[i] || f;", "lor:f"),
        ("g |= c[i] == 1;", "lor:g"),
        ("d = fmax(d, a[i]);", "max:d"),
        ("s = fmaxf(a[i], s);", "max:s"),
        ("s = fmax(s, a[i]);", "max:s"),
        ("d = fmin(a[i], d);", "min:d"),
        ("if (a[i] > s) s = a[i];", "max:s"),
        ("if (s < a[i]) { s = a[i]; }", "max:s"),
        ("if (!(a[i] >= s)) s = a[i];", "min:s"),
        ("if (a[i] <= s) ; else s = a[i];", "max:s"),
        ("s = a[i] > s ? a[i] : s;", "max:s"),
        ("s = s > a[i] ? s : a[i];", "max:s"),
        ("s = (s > a[i] ? s : a[i]) > b[i] ? (s > a[i] ? s : a[i]) : b[i];", "max:s"),
        ("f = c[i] < f ? c[i] : f;", "min:f"),
        ("u = (unsigned)c[i] > u ? (unsigned)c[i] : u;", "max:u"),
        ("if (c[i] > 0) s += a[i]; else s += b[i];", "add:s"),
        ("s += a[i]; s += b[i];", "add:s"),
        ("for (int j = 0; j < 9; j++) s += a[i + j];", "add:s"),
        ("for (int j = 0; j < 9; j++) { if (j > 2) s += a[i + j]; }", "add:s"),
    ],
)
def test_reductions(statement: str, clause: str, tmp_path: Path) -> None:
    module = compiled(tmp_path, LOOP + "{ " + statement + " }")
    assert set(clauses(module)) == {clause}  # inner loops may have it, too
    assert take_messages(module, wall=False) == []
    (warning,) = take_messages(compiled(tmp_path, LOOP + "{ " + statement + " }"), wall=True)
    assert "generating implicit reduction(" in warning.message and len(warning.notes) == 2


@pytest.mark.parametrize(
    "statement",
    [
        "s = s * 2 + a[i];",
        "s += a[i]; b[i] = s;",
        "s += a[i]; s *= b[i];",
        "s = a[i] - s;",
        "s /= a[i];",
        "f += a[i];",  # rounded to an integer in every step
        "if (a[i] > s) { s = a[i]; f = i; }",
        "if (a[i] > s) s = b[i];",
        "if (a[i] > s) s = a[i]; else s = 0;",
        "t = s; s += a[i]; s = t + b[i];",
        "s += s * a[i];",
    ],
)
def test_what_iterations_pass_on(statement: str, tmp_path: Path) -> None:
    """No reduction: a warning that names both uses."""
    module = compiled(tmp_path, LOOP + "{ " + statement + " }")
    assert not any(c.endswith((":s", ":f")) and "private" not in c for c in clauses(module))
    messages = take_messages(module, wall=False)
    carried = [m for m in messages if "depend on each other through the value" in m.message]
    assert len(carried) == 1 and len(carried[0].notes) == 2 and carried[0].remedy


INNER = "#pragma acc loop reduction(max:s)\nfor (int j = 0; j < n; j++) s = a[j] > s ? a[j] : s;\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # A clause on any level is one for the nest.
        (f"#pragma acc parallel loop\nfor (int i = 0; i < n; i++) {{\n{INNER}}}", ["max:s"]),
        (
            "#pragma acc kernels\n{\n#pragma acc loop independent\nfor (int i = 0; i < n; i++) {\n"
            f"{INNER}}}\n}}",
            ["max:s"],
        ),
        (
            "#pragma acc parallel loop gang reduction(+:s)\nfor (int k = 0; k < n; k++) {\n"
            "#pragma acc loop worker\nfor (int i = 0; i < n; i++) {\n#pragma acc loop vector\n"
            "for (int j = 0; j < n; j++) s += a[j]; } }",
            ["add:s", "add:s"],
        ),
        (
            "#pragma acc parallel reduction(+:s)\n{\n#pragma acc loop\n"
            "for (int i = 0; i < n; i++) s += a[i];\n}",
            ["add:s"],
        ),
        # What every iteration sets is its own, and so is what a loop in it sums up.
        (
            "#pragma acc parallel loop\nfor (int i = 0; i < n; i++) { t = 0;\n"
            "#pragma acc loop reduction(+:t)\nfor (int j = 0; j < n; j++) t += a[j];\nb[i] = t; }",
            ["private:t"],
        ),
        (
            "#pragma acc parallel loop collapse(2)\nfor (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
            " { t = a[i]; b[j] = t; }",
            ["private:t"],
        ),
        # The last value is the last iteration's; within an iteration it is handed on by a reduction.
        (
            "#pragma acc kernels loop independent\nfor (int i = 0; i < n; i++) { t = a[i]; b[i] = t; }",
            ["private:t"],
        ),
        (
            "#pragma acc parallel loop gang\nfor (int i = 0; i < n; i++) {\n#pragma acc loop vector\n"
            "for (int j = 0; j < 9; j++) { t = a[j]; c[j] = t; }\nb[i] = t; }",
            ["private:t", "private:t", "ior:t_last"],
        ),
        # A construct that sets the variable before a loop reduces it has its own.
        (
            "float v;\n#pragma acc parallel num_gangs(1)\n{ v = 0;\n#pragma acc loop reduction(+:v)\n"
            "for (int i = 0; i < n; i++) v += a[i];\nb[0] = v; }",
            ["private:v"],
        ),
        # A serial construct's sum is wanted on the host, too.
        ("#pragma acc serial loop\nfor (int i = 0; i < n; i++) s += a[i];", ["add:s"]),
        # Named by the program: nothing to add.
        (
            "#pragma acc parallel loop private(t)\nfor (int i = 0; i < n; i++) { t = a[i]; b[i] = t; }",
            [],
        ),
    ],
)
def test_nests(body: str, expected: list[str], tmp_path: Path) -> None:
    assert clauses(compiled(tmp_path, body)) == expected
