"""The packed type and the operations around it: text, and what the verifier refuses."""

from __future__ import annotations

import pytest
from accopt.compiler.base.packed import Code, PackedFormat
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.printing import print_ir
from accopt.dialects.accx_compress import PackedType
from xdsl.dialects.builtin import f64
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

TEXT = """
llvm.func @f(%p: !llvm.ptr, %lo: f64, %hi: f64) {
  accx.range %p from %lo to %hi : !llvm.ptr
  %c0, %c1, %inverse, %offset, %plane, %counter = accx.coefficients %p : !llvm.ptr -> f32, f32, f32, f32
  "test.op"() {kind = !accx.packed<f32, 12, range>, other = !accx.packed<f64, 16, half, 3>} : () -> ()
  llvm.return
}
"""


def test_round_trip():
    ctx = make_context()
    module = Parser(ctx, TEXT).parse_module()
    module.verify()
    once = print_ir(module)
    for part in ("accx.range %p from %lo to %hi", "<f32, 12, range>", "<f64, 16, half, 3>"):
        assert part in once
    again = Parser(make_context(), once).parse_module()
    assert print_ir(again) == once


def test_the_format_of_a_type():
    packed = PackedType.of(f64, 32, "range", 2)
    assert packed.format == PackedFormat(64, Code.RANGE, 32, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("!accx.packed<f32, 30, range>", "8 to 21 bits, not 30"),
        ("!accx.packed<f64, 4, range>", "8 to 50 bits, not 4"),
        ("!accx.packed<f32, 16, fixed>", "expected a code .range, half, bfloat16, plain, centred"),
        ("!accx.packed<i32, 16, range>", "i32"),
    ],
)
def test_invalid_types(text: str, message: str):
    with pytest.raises((VerifyException, ParseError), match=message):
        Parser(make_context(), f'"test.op"() {{kind = {text}}} : () -> ()').parse_module().verify()
