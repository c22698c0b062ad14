"""Host programs in memory: symbols, libraries, errors, the cache."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from accopt.compiler.backend.cache import DiskCache, content_key
from accopt.compiler.backend.jit import HostProgram, exported_names
from accopt.compiler.base.diagnostics import CompileError

CALLS_BACK = """
declare i32 @give(i32)
define i32 @f(i32 %x) {
  %r = call i32 @give(i32 %x)
  ret i32 %r
}
"""


def test_given_symbols_belong_to_their_program():
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
    programs = []
    for offset in (1, 2):
        function = callback(lambda x, offset=offset: x + offset)
        address = ctypes.cast(function, ctypes.c_void_p).value
        programs.append((HostProgram(CALLS_BACK, symbols={"give": address}), function))
    found = [p.function("f", ctypes.c_int, ctypes.c_int)(10) for p, _ in programs]
    assert found == [11, 12]


def test_undefined_symbols_are_named():
    with pytest.raises(CompileError, match="undefined reference to 'give'") as caught:
        HostProgram(CALLS_BACK)
    assert "-l" in (caught.value.diagnostics[0].remedy or "")


def test_missing_libraries_are_named():
    with pytest.raises(CompileError, match="cannot find the library 'nowhere'"):
        HostProgram(CALLS_BACK, libraries=["nowhere"])


LIBRARY = """
int base = {base};
int give(int x) {{ return x + base; }}
void *malloc(unsigned long size) {{ return (void *)8; }}
"""
USES_LIBRARY = """
@base = external global i32
declare i32 @give(i32)
declare i32 @abs(i32)
declare ptr @malloc(i64)
declare void @free(ptr)
define i32 @f(i32 %x) {
  %m = call ptr @malloc(i64 100)
  call void @free(ptr %m)
  %b = load i32, ptr @base
  %r = call i32 @give(i32 %x)
  %a = call i32 @abs(i32 %b)
  %s = mul i32 %r, %a
  ret i32 %s
}
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_libraries_belong_to_their_program(tmp_path: Path):
    """Their functions and variables are found in them, not in what another program has loaded."""
    answers: list[int] = []
    for base in (-1, -20):
        source, library = tmp_path / f"{base}.c", tmp_path / f"lib{base}.so"
        source.write_text(LIBRARY.format(base=base))
        gcc = ["gcc", "-shared", "-fPIC", "-w", "-Wl,-Bsymbolic"]
        subprocess.run([*gcc, source, "-o", library], check=True)
        program = HostProgram(USES_LIBRARY, libraries=["m", str(library)])
        answers.append(program.function("f", ctypes.c_int, ctypes.c_int)(100))
    assert answers == [99 * 1, 80 * 20]


def test_invalid_ir_is_quoted():
    with pytest.raises(CompileError, match="LLVM rejects the host code"):
        HostProgram("define i32 @f() { ret i64 0 }")


def test_exported_names():
    ir = """
@a = global i32 1
@b = internal global i32 1
@c = external global i32
@"d e" = constant i32 1
@w = extern_weak global i32
@common = common global [3 x i32] zeroinitializer
define i32 @f(i32 %x) nounwind {
define internal i32 @g() {
define noundef ptr @"h i"() {
define weak void @k() {
declare i32 @l()
"""
    assert exported_names(ir) == ["a", "d e", "common", "f", "h i", "k"]


def test_libc_data_and_math_are_there():
    program = HostProgram("""
@stderr = external global ptr
declare double @cbrt(double)
define double @f(double %x) {
  %s = load ptr, ptr @stderr
  %z = ptrtoint ptr %s to i64
  %c = icmp eq i64 %z, 0
  %r = call double @cbrt(double %x)
  %q = select i1 %c, double 0.0, double %r
  ret double %q
}""")
    assert program.function("f", ctypes.c_double, ctypes.c_double)(27.0) == pytest.approx(3.0)


def test_main_gets_its_arguments():
    program = HostProgram("""
define i32 @main(i32 %argc, ptr %argv) {
  %p = getelementptr ptr, ptr %argv, i32 1
  %s = load ptr, ptr %p
  %c = load i8, ptr %s
  %r = zext i8 %c to i32
  %e = getelementptr ptr, ptr %argv, i32 %argc
  %n = load ptr, ptr %e
  %z = ptrtoint ptr %n to i64
  %t = trunc i64 %z to i32
  %q = add i32 %r, %t
  ret i32 %q
}""")
    assert program.run_main(["prog", "A"]) == ord("A")


def test_a_program_without_main():
    with pytest.raises(CompileError, match="no function 'main'"):
        HostProgram("define void @f() { ret void }").run_main(["p"])
    with pytest.raises(KeyError):
        HostProgram("define void @f() { ret void }").address("g")


def test_objects_come_from_the_cache(tmp_path):
    cache = DiskCache(tmp_path)
    ir = "define i32 @f() { ret i32 41 }"
    HostProgram(ir, cache=cache)
    (entry,) = tmp_path.iterdir()
    written = entry.stat().st_mtime_ns
    os.utime(entry, (1, 1))
    program = HostProgram(ir, cache=cache)
    assert program.function("f", ctypes.c_int)() == 41
    assert [p.name for p in tmp_path.iterdir()] == [entry.name]
    HostProgram(ir, cache=cache, opt_level=0)
    assert len(list(tmp_path.iterdir())) == 2
    assert written > 0


def test_damaged_and_unwritable_caches_do_no_harm(tmp_path):
    cache = DiskCache(tmp_path)
    cache.put("k", b"content")
    assert cache.get("k") == b"content"
    (tmp_path / "k").write_bytes((tmp_path / "k").read_bytes()[:-1])
    assert cache.get("k") is None
    (tmp_path / "file").write_text("")
    broken = DiskCache(tmp_path / "file" / "sub")
    broken.put("k", b"x")
    assert broken.get("k") is None


def test_the_cache_forgets_what_was_not_used(tmp_path):
    cache = DiskCache(tmp_path, limit_bytes=400)
    for name in ("a", "b"):
        cache.put(name, bytes(100))
        os.utime(tmp_path / name, (1 if name == "a" else 2,) * 2)
    assert cache.get("a") is not None
    cache.put("c", bytes(150))
    assert cache.get("b") is None
    assert cache.get("a") is not None and cache.get("c") is not None


def test_keys_do_not_confuse_parts():
    assert content_key("ab", "c") != content_key("a", "bc")


def test_programs_can_be_dropped():
    for _ in range(20):
        HostProgram("define i32 @f() { ret i32 1 }")
    gc.collect()
