"""Check C text and print typed expressions compactly, for the tests of the semantic layer."""

from __future__ import annotations

from accopt.compiler.base.diagnostics import CompileError, Diagnostic, DiagnosticSink
from accopt.compiler.c import ast
from accopt.compiler.c.sema import check_text
from accopt.compiler.c.types import PointerType


def check(text: str) -> ast.TranslationUnit:
    """The unit of C text that needs no preprocessing; warnings are mistakes in the test."""
    sink = DiagnosticSink()
    unit = check_text(text, "t.c", sink)
    assert not sink.diagnostics, sink.diagnostics
    return unit


def warnings(text: str) -> list[Diagnostic]:
    sink = DiagnosticSink()
    check_text(text, "t.c", sink)
    return sink.diagnostics


def mistake(text: str) -> Diagnostic:
    """The one error of C text."""
    try:
        check_text(text, "t.c", DiagnosticSink())
    except CompileError as e:
        assert len(e.diagnostics) == 1
        return e.diagnostics[0]
    raise AssertionError("no error")


def function(unit: ast.TranslationUnit, name: str) -> ast.FunctionDecl:
    return next(f for f in unit.functions if f.name == name)


def variable(unit: ast.TranslationUnit, name: str) -> ast.VarDecl:
    return next(v for v in unit.variables if v.name == name)


def body(text: str, name: str = "f") -> list[ast.Stmt]:
    found = function(check(text), name).body
    assert found is not None
    return found.body


def expression(parameters: str, text: str, before: str = "") -> ast.Expr:
    """The typed form of an expression statement in a function with `parameters`."""
    stmt = body(f"{before} void f({parameters}) {{ {text}; }}")[-1]
    assert isinstance(stmt, ast.ExprStmt)
    return stmt.expr


def dump(e: ast.Expr) -> str:
    """
    `load(x)`, `decay(a)`, `T(e)` for casts, `*e`, `e.m`, `ptradd(p, i)`; constants carry their type
    when it is not int or double.
    """
    match e:
        case ast.IntConst():
            if isinstance(e.type, PointerType):
                return f"null({e.type})" if e.value == 0 else f"{e.value}:{e.type}"
            return f"{e.value}" if str(e.type) == "int" else f"{e.value}:{e.type}"
        case ast.FloatConst():
            return f"{e.value!r}" if str(e.type) == "double" else f"{e.value!r}:{e.type}"
        case ast.StringLiteral():
            return repr(e.data)
        case ast.VarRef() | ast.FunctionRef():
            return e.decl.name
        case ast.Deref():
            return f"*{dump(e.pointer)}"
        case ast.Member():
            return f"{dump(e.record)}.{e.field.name}"
        case ast.CompoundLiteral():
            return f"literal({e.type})"
        case ast.Load():
            return f"load({dump(e.lvalue)})"
        case ast.Decay():
            return f"decay({dump(e.operand)})"
        case ast.AddressOf():
            return f"&{dump(e.operand)}"
        case ast.Cast():
            return f"{e.type}({dump(e.operand)})"
        case ast.UnaryOp():
            return f"{e.op}{dump(e.operand)}"
        case ast.BinaryOp():
            return f"({dump(e.lhs)} {e.op} {dump(e.rhs)})"
        case ast.PtrAdd():
            return f"ptr{'sub' if e.subtract else 'add'}({dump(e.pointer)}, {dump(e.index)})"
        case ast.PtrDiff():
            return f"ptrdiff({dump(e.lhs)}, {dump(e.rhs)})"
        case ast.Assign():
            return f"{dump(e.target)} = {dump(e.value)}"
        case ast.CompoundAssign():
            return f"{dump(e.target)} {e.op}=[{e.compute_type}] {dump(e.value)}"
        case ast.IncDec():
            op = "++" if e.is_increment else "--"
            return f"{op}{dump(e.target)}" if e.is_prefix else f"{dump(e.target)}{op}"
        case ast.Conditional():
            return f"({dump(e.condition)} ? {dump(e.then)} : {dump(e.otherwise)})"
        case ast.Comma():
            return f"({dump(e.lhs)}, {dump(e.rhs)})"
        case ast.Call():
            return f"{dump(e.callee)}({', '.join(map(dump, e.args))})"
        case ast.SizeofVla():
            return f"sizeof[{e.of}]"
        case ast.VaArg():
            return f"va_arg({dump(e.list)}, {e.type})"
        case ast.VaOp():
            return f"{e.op}({dump(e.list)})"
        case _:
            raise AssertionError(type(e))


def items(init: ast.Initializer | None) -> list[tuple[int, str]]:
    """An initialiser's offsets and values."""
    assert init is not None
    return [(offset, dump(e)) for offset, e in init.items]
