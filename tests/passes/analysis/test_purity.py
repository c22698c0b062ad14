"""What may be moved, repeated or left out."""

from __future__ import annotations

import pytest
from accopt.compiler.ir.context import make_context
from accopt.passes.ir.ops.purity import is_pure, may_trap, only_computes, only_reads
from xdsl.dialects import acc, arith, math
from xdsl.ir import Operation
from xdsl.parser import Parser

TEXT = """
llvm.func @f(%p: !llvm.ptr, %i: i32, %c: i1, %n: i32) {
  %wide = arith.extsi %i : i32 to i64
  %rest = arith.remui %i, %n : i32
  %three = arith.constant 3 : i32
  %third = arith.divsi %i, %three : i32
  %at = accx.element %p[%i] of i32 : i32
  %own = llvm.alloca %n x i32 : (i32) -> !llvm.ptr
  %one = llvm.load %at : !llvm.ptr -> i32
  %seen = llvm.load %at {accx.volatile} : !llvm.ptr -> i32
  %choice = scf.if %c -> (i64) {
    %long = arith.extsi %n : i32 to i64
    scf.yield %long : i64
  } else {
    scf.yield %wide : i64
  }
  %loaded = scf.if %c -> (i32) {
    %x = llvm.load %p : !llvm.ptr -> i32
    scf.yield %x : i32
  } else {
    scf.yield %i : i32
  }
  acc.atomic.update %p : !llvm.ptr {
  ^bb0(%old : i32):
    %new = arith.addi %old, %i : i32
    acc.yield %new : i32
  }
  %root = llvm.call @sqrtf(%one) : (i32) -> i32
  %more = llvm.call @rand() : () -> i32
  llvm.return
}
llvm.func @sqrtf(i32) -> i32
llvm.func @rand() -> i32
"""


@pytest.fixture(scope="module")
def ops() -> dict[str, Operation]:
    """The operations of `TEXT` by the name of their result, or their own."""
    module = Parser(make_context(), TEXT).parse_module()
    return {
        (op.results[0].name_hint if op.results else None) or op.name: op for op in module.walk()
    }


@pytest.mark.parametrize("dialect", [arith.Arith, math.Math], ids=lambda dialect: dialect.name)
def test_all_arithmetic_is_pure(dialect):
    """Also where upstream forgot to say so: an operation that is added there without is found here."""
    for cls in dialect.operations:
        assert is_pure(cls.__new__(cls)), cls.name


def test_what_is_in_regions_counts(ops):
    assert is_pure(ops["choice"]) and not is_pure(ops["loaded"])
    assert not only_computes(ops["choice"])
    assert all(only_reads(op) for op in ops["loaded"].walk())


def test_memory(ops):
    assert is_pure(ops["at"]) and not is_pure(ops["own"])
    assert only_reads(ops["one"]) and not is_pure(ops["one"])
    assert not only_reads(ops["seen"])


def test_an_atomic_update_writes(ops):
    update = ops["acc.atomic.update"]
    assert isinstance(update, acc.AtomicUpdateOp)
    assert not is_pure(update) and not only_reads(update)


def test_calls(ops):
    assert only_computes(ops["root"]) and not only_computes(ops["more"])
    assert not is_pure(ops["root"])


def test_divisions_that_have_a_result(ops):
    assert may_trap(ops["rest"]) and not may_trap(ops["third"])
    assert not any(may_trap(ops[name]) for name in ("wide", "one"))
