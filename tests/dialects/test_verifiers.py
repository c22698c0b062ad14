"""What the verifiers of `llvm_ext` and `nvvm` refuse."""

from __future__ import annotations

import pytest
from accopt.compiler.ir.context import make_context
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

CASES = {
    "%r = llvm.atomicrmw fadd %p, %i monotonic : !llvm.ptr, i32": "needs a floating-point type",
    "%r = llvm.atomicrmw add %p, %f monotonic : !llvm.ptr, f32": "needs an integer, got f32",
    "llvm.fence monotonic": "expected acquire, release, acq_rel or seq_cst, got monotonic",
    '%r = "llvm.cmpxchg"(%p, %i, %i) <{success_ordering = 2 : i64, failure_ordering = 2 : i64}>'
    " : (!llvm.ptr, i32, i32) -> !llvm.struct<(i32, i32)>": "expected the result type",
    '%r = "llvm.intr.atan2"(%f) <{fastmathFlags = #llvm.fastmath<none>}> : (f32) -> f32':
        "expected 2 operands, got 1",
    '%r = "nvvm.vote.sync"(%i, %b) <{kind = #nvvm<vote_sync_kind ballot>}> : (i32, i1) -> i1':
        "expected the result type i32, got i1",
    '%r = "nvvm.shfl.sync"(%i, %f, %i, %i) <{kind = #nvvm<shfl_kind idx>}>'
    " : (i32, f32, i32, i32) -> i32": "expected the result type f32, got i32",
    "nvvm.barrier number_of_threads = %i": "a number of threads needs a barrier id",
    "nvvm.cp.async.shared.global %s, %g, 8, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>":
        "cg needs 16 bytes, got 8",
    "nvvm.cp.async.shared.global %g, %s, 8, cache = ca : !llvm.ptr<1>, !llvm.ptr<3>":
        "expected !llvm.ptr<3>, got",
    "nvvm.mbarrier.inval %g : !llvm.ptr<1>": "expected !llvm.ptr<3>, got",
    "nvvm.cp.async.bulk.shared.cluster.global %g, %s, %s, %i : !llvm.ptr<1>, !llvm.ptr<3>":
        "expected !llvm.ptr<3>, got",
    "accx.side_by_side {\n^bb0(%a: i32, %c: i32):\n} else each {\n%z = arith.constant 0 : i32\n}":
        "the only operation in the body of an acc.loop",
    "acc.loop control(%k : i32) = (%i : i32) to (%i : i32) step (%i : i32) {\n"
    " accx.side_by_side {\n^bb0(%a: i32):\n} else each {\n%z = arith.constant 0 : i32\n}\nacc.yield }":
        "its loop's variables for at least two iterations",
    "acc.loop control(%k : i32) = (%i : i32) to (%i : i32) step (%i : i32) {\n"
    " accx.side_by_side {\n^bb0(%a: i32, %c: i64):\n}"
    " else each {\n%z = arith.constant 0 : i32\n}\nacc.yield }":
        "of the types of the loop's variables",
}  # fmt: skip

PARSE_ERRORS = {
    "%r = llvm.atomicrmw mul %p, %i monotonic : !llvm.ptr, i32": "unknown atomic operation 'mul'",
    "llvm.fence strong": "unknown atomic ordering 'strong'",
    "nvvm.fence.proxy {kind = #nvvm.proxy_kind<quick>, space = #nvvm.shared_space<cta>}": "async.shared",
}


def _module(line: str) -> str:
    return (
        "llvm.func @f(%p: !llvm.ptr, %i: i32, %f: f32, %b: i1, %s: !llvm.ptr<3>,"
        f" %g: !llvm.ptr<1>) {{\n {line}\n llvm.return\n}}"
    )


@pytest.mark.parametrize("line", CASES)
def test_verifier(line):
    module = Parser(make_context(), _module(line)).parse_module()
    with pytest.raises(VerifyException, match=CASES[line]):
        module.verify()


@pytest.mark.parametrize("line", PARSE_ERRORS)
def test_parser(line):
    with pytest.raises(ParseError, match=PARSE_ERRORS[line]):
        Parser(make_context(), _module(line)).parse_module()
