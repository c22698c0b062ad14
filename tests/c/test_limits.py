"""Sources that would make the compiler run for hours end in a message."""

from __future__ import annotations

import pytest
from accopt.compiler.base.diagnostics import CompileError
from accopt.compiler.c.preprocess import preprocess_text
from sema_dump import check, mistake


@pytest.mark.sampled(2)
def test_macros_that_use_each_other_ten_times() -> None:
    lines = ["#define A0 " + " ".join(["x"] * 10)]
    lines += [f"#define A{i} " + " ".join([f"A{i - 1}"] * 10) for i in range(1, 10)]
    with pytest.raises(CompileError) as caught:
        preprocess_text("\n".join(lines) + "\nint y;\nA9\n", "bomb.c")
    (found,) = caught.value.diagnostics
    assert "expand to more than 2000000 tokens" in found.message
    assert found.loc.line == 12
    assert preprocess_text("\n".join(lines) + "\nA3\n", "b.c").text.count("x") == 10_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int a[1000000000] = {[999999999] = 1};", "4000000000 bytes with values other than zero"),
        ("void f(void) { static double a[20000000] = {1}; }", "160000000 bytes"),
        ("struct s { char c[90000000]; int x; } s = {.x = 1};", "90000004 bytes"),
        ("int a[] = {[0 ... 999999999] = 1};", "a range of 1000000000 elements"),
        ("void f(void) { int a[] = {[0 ... 999999999] = 1}; }", "a range of 1000000000 elements"),
    ],
)
def test_initialisers_beyond_measure(text: str, message: str) -> None:
    found = mistake(text)
    assert message in found.message and found.remedy


def test_zeros_take_no_room() -> None:
    unit = check("double a[5000][5000] = {0}; int b[1000000000] = {0, 0}; float c[4] = {0, 1};")
    inits = [variable.init for variable in unit.variables]
    assert [len(init.items) for init in inits if init is not None] == [0, 0, 2]
