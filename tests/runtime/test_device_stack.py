"""Which PTX needs a larger stack, and how large it is."""

from __future__ import annotations

import pytest
from accopt.runtime.cuda.device_stack import (
    HEAP_VARIABLE,
    STACK_VARIABLE,
    has_recursion,
    heap_bytes,
    stack_bytes,
    uses_heap,
)
from accopt.runtime.errors import AccRuntimeError

CALL = "\tcall.uni (retval0), {}, (param0);\n"


def function(name: str, *calls: str) -> str:
    body = "".join(CALL.format(callee) for callee in calls)
    head = f".func  (.param .b64 func_retval0) {name}(\n\t.param .b32 {name}_param_0\n)\n"
    return f"{head}{{\n{body}\tret;\n\n}}\n"


@pytest.mark.parametrize(
    ("functions", "expected"),
    [
        ([], False),
        ([("f",), ("g", "f")], False),
        ([("f", "f")], True),
        ([("odd", "even"), ("even", "odd")], True),
        ([("f", "g"), ("g", "h"), ("h",)], False),
    ],
)
def test_recursion(functions: list[tuple[str, ...]], expected: bool) -> None:
    text = ".version 8.0\n.target sm_90\n" + "".join(function(*f) for f in functions)
    text += ".visible .entry k(\n)\n{\n" + CALL.format("f") + "\tret;\n\n}\n"
    assert has_recursion(text) == expected


def test_functions_without_result() -> None:
    text = ".visible .func f(\n\t.param .b32 x\n)\n{\n\tcall.uni f, (param0);\n\tret;\n}\n"
    assert has_recursion(text)


def test_the_stack_grows_with_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(STACK_VARIABLE, raising=False)
    assert stack_bytes(8 << 30, 64 << 10) == 4 << 10
    assert stack_bytes(1 << 20, 64 << 10) == 1 << 10
    assert stack_bytes(1 << 50, 64 << 10) == 16 << 10
    monkeypatch.setenv(STACK_VARIABLE, "5000")
    assert stack_bytes(8 << 30, 64 << 10) == 5000
    monkeypatch.setenv(STACK_VARIABLE, "much")
    with pytest.raises(AccRuntimeError, match=STACK_VARIABLE):
        stack_bytes(8 << 30, 64 << 10)


def test_kernels_that_allocate() -> None:
    declared = (
        ".extern .func  (.param .b64 func_retval0) malloc\n(\n\t.param .b64 malloc_param_0\n)\n;\n"
    )
    assert uses_heap(declared)
    assert not uses_heap(".extern .func free\n(\n\t.param .b64 free_param_0\n)\n;\n")


def test_the_heap_grows_with_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HEAP_VARIABLE, raising=False)
    assert heap_bytes(1 << 20) == 8 << 20
    assert heap_bytes(2 << 30) == 256 << 20
    assert heap_bytes(1 << 40) == 1 << 30
    monkeypatch.setenv(HEAP_VARIABLE, "12345")
    assert heap_bytes(8 << 30) == 12345
