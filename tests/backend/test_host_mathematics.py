"""C's mathematics in device code of the host: accuracy, the same bits everywhere, what there is elsewhere."""

import ctypes
import math

import pytest
from accopt.compiler.backend.jit import HostProgram
from accopt.compiler.base.host_mathematics import (
    ARGUMENTS,
    FAST_PREFIX,
    PREFIX,
    VectorLibrary,
    vector_library,
    with_mathematics,
)

FORMS = [
    (prefix, base, single)
    for prefix in (PREFIX, FAST_PREFIX)
    for base in ARGUMENTS
    for single in (False, True)
]
COUNT = 1000
VECTORS = vector_library("+avx2")

LOOP = """
define void @run_{symbol}(ptr %y, ptr %x0, ptr %x1, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at0 = getelementptr {element}, ptr %x0, i64 %i
  %v0 = load {element}, ptr %at0, !llvm.access.group !9
  %at1 = getelementptr {element}, ptr %x1, i64 %i
  %v1 = load {element}, ptr %at1, !llvm.access.group !9
  %r = call {element} @{symbol}({arguments})
  %to = getelementptr {element}, ptr %y, i64 %i
  store {element} %r, ptr %to, !llvm.access.group !9
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done, !llvm.loop !8
done:
  ret void
}}
"""
METADATA = """
!7 = !{!"llvm.loop.parallel_accesses", !9}
!8 = distinct !{!8, !7}
!9 = distinct !{}
"""


def _symbol(prefix: str, base: str, single: bool) -> str:
    return prefix + base + ("f" if single else "")


@pytest.fixture(scope="module")
def program() -> HostProgram:
    text = ""
    for prefix, base, single in FORMS:
        element = "float" if single else "double"
        symbol, count = _symbol(prefix, base, single), ARGUMENTS[base]
        arguments = ", ".join(f"{element} %v{i}" for i in range(count))
        text += f"declare {element} @{symbol}({', '.join([element] * count)})\n"
        text += LOOP.format(symbol=symbol, element=element, arguments=arguments)
    return HostProgram(text + METADATA)


def _arguments(base: str) -> tuple[list[float], list[float]]:
    """In the function's domain."""
    low, high = {
        "acos": (-1, 1),
        "asin": (-1, 1),
        "atanh": (-0.999, 0.999),
        "acosh": (1, 50),
        "log": (1e-6, 1e6),
        "log10": (1e-6, 1e6),
        "log2": (1e-6, 1e6),
        "log1p": (-0.99, 100),
        "pow": (0.01, 20),
        "erfc": (-5, 5),
    }.get(base, (-20, 20))
    first = [low + (high - low) * (i * 7919 % COUNT + 0.5) / COUNT for i in range(COUNT)]
    return first, [-5 + 10 * (i * 104729 % COUNT + 0.5) / COUNT for i in range(COUNT)]


def _run(program: HostProgram, form: tuple[str, str, bool], start: int, n: int) -> list[float]:
    """The function's results for arguments `start` to `start + n - 1`, by the compiled loop."""
    prefix, base, single = form
    kind = ctypes.c_float if single else ctypes.c_double
    columns = [(kind * n)(*column[start : start + n]) for column in _arguments(base)]
    result = (kind * n)()
    pointer = ctypes.c_void_p
    run = program.function(
        f"run_{_symbol(prefix, base, single)}", None, pointer, pointer, pointer, ctypes.c_int64
    )
    run(*map(ctypes.addressof, (result, *columns)), n)
    return list(result)


def _reference(base: str, arguments: tuple[float, ...]) -> float:
    """As a double, of the same arguments: the C library's own error is below one ulp."""
    function = ctypes.CDLL("libm.so.6")[base]
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * len(arguments)
    return function(*arguments)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: _symbol(*form))
def test_results_are_accurate(program: HostProgram, form: tuple[str, str, bool]) -> None:
    prefix, base, single = form
    kind = ctypes.c_float if single else ctypes.c_double
    columns = _arguments(base)[: ARGUMENTS[base]]
    # A double's reference errs by up to one ulp itself; a float's is as good as exact.
    limit = 4.0 if prefix == FAST_PREFIX else (0.501 if single else 0.0)
    if prefix == FAST_PREFIX and not single:
        limit += 1.0
    for index, result in enumerate(_run(program, form, 0, COUNT)):
        expected = _reference(base, tuple(kind(c[index]).value for c in columns))
        ulp = math.ulp(expected) * (2.0**29 if single else 1.0)
        assert abs(result - expected) <= limit * ulp, (index, result, expected)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: _symbol(*form))
def test_a_result_does_not_depend_on_its_place(
    program: HostProgram, form: tuple[str, str, bool]
) -> None:
    """Loops that threads begin and end anywhere give the same bits."""
    whole = _run(program, form, 0, 64)
    for start in range(9):
        for n in (1, 3, 8, 17, 31):
            assert _run(program, form, start, n) == whole[start : start + n]


def test_loops_become_vector_calls() -> None:
    if VECTORS is None:
        pytest.skip("no libmvec")
    text = with_mathematics("declare float @__accopt_math_expf(float)\n", VECTORS)
    assert "declare float @__accopt_math_expf" not in text
    assert "call <4 x double> @_ZGVdN4v_exp(" in text
    text = with_mathematics("declare double @__accopt_fast_pow(double, double)\n", VECTORS)
    assert "_ZGVdN4vv___accopt_fast_pow(_ZGVdN4vv_pow)" in text


def test_without_a_library_the_functions_are_those_of_c() -> None:
    text = with_mathematics("declare float @__accopt_fast_sinf(float)\n", None)
    assert "call float @sinf(float %x0) nounwind willreturn memory(none)" in text
    nothing = VectorLibrary("d", 32, lambda name: False)
    assert with_mathematics("declare float @__accopt_fast_sinf(float)\n", nothing) == text


def test_other_texts_stay_as_they_are() -> None:
    text = "declare double @exp(double)\n"
    assert with_mathematics(text, VECTORS) == text
