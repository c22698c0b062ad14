"""The runtime's own native code: equal in every process, whatever the addresses, so that it can be kept."""

from __future__ import annotations

import ctypes

import llvmlite.binding as llvm
import pytest
from accopt.compiler.base.diagnostics import CompileError
from accopt.runtime.native.code import NativeCode, offset_from

TEXT = """
define i64 @call(i64 %x) {{
  %present = icmp ne i64 {function}, 0
  br i1 %present, label %yes, label %no
yes:
  %result = call i64 inttoptr (i64 {function} to ptr)(i64 %x)
  %more = add i64 %result, {extra}
  ret i64 %more
no:
  ret i64 -1
}}

define i64 @read() {{
  %value = load i64, ptr inttoptr (i64 {third} to ptr)
  ret i64 %value
}}
"""

CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def parsed(monkeypatch) -> list[str]:
    """The IR texts that LLVM was given."""
    texts: list[str] = []
    parse = llvm.parse_assembly

    def watched(text, *more):
        texts.append(text)
        return parse(text, *more)

    monkeypatch.setattr(llvm, "parse_assembly", watched)
    return texts


def make(factor: int, extra: int = 0, *, absent: bool = False):
    """Code over a function that multiplies and over an array; what it calls must stay alive."""
    function = CALLBACK(lambda x: x * factor)
    array = (ctypes.c_int64 * 4)(0, 1, 20 * factor, 3)
    address = 0 if absent else ctypes.cast(function, ctypes.c_void_p).value
    code = NativeCode(
        TEXT,
        {"function": address, "array": ctypes.addressof(array)},
        {"extra": extra, "third": offset_from("array", 16)},
    )
    call = CALLBACK(code.address("call"))
    read = ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("read"))
    return call, read, (code, function, array)


def test_addresses_are_not_part_of_the_code(parsed):
    first, read_first, keep_first = make(2)
    second, read_second, keep_second = make(3)
    assert [first(21), second(21)] == [42, 63]
    assert [read_first(), read_second()] == [40, 60]
    assert len(parsed) == 1
    assert keep_first and keep_second


def test_constants_are(parsed):
    plain, _, keep = make(2)
    more, _, keep_more = make(2, extra=100)
    assert [plain(1), more(1)] == [2, 102]
    assert len(parsed) == 2
    assert keep and keep_more


def test_a_routine_that_is_absent_is_null():
    call, _, keep = make(2, absent=True)
    assert call(21) == -1
    assert keep


def test_code_that_llvm_rejects_is_an_error():
    with pytest.raises(CompileError, match="runtime's own code"):
        NativeCode("define i32 @f() {{ ret i64 0 }}", {}, {})
