"""A program in IR whose `acc.loop`s have bounds of every kind, and the sums of their variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_LARGEST = {32: 2**31 - 1, 64: 2**63 - 1}


@dataclass(frozen=True)
class Range:
    """A loop from `low` to `high`; `known`: its numbers are constants, not loaded."""

    bits: int
    low: int
    high: int
    step: int
    inclusive: bool
    known: bool

    def sum(self) -> int:
        """The sum of the values of the loop's variable, modulo 2^64."""
        end = self.high + ((1 if self.step > 0 else -1) if self.inclusive else 0)
        return sum(range(self.low, end, self.step)) % 2**64


def ranges() -> Iterator[Range]:
    """Loops up and down, with and without iterations, at the ends of their types."""
    for bits, top in _LARGEST.items():
        for low, high in ((0, 9), (10, 1), (3, 3), (-7, 6), (5, -6)):
            for step in (1, 3, -1, -2):
                for inclusive in (False, True):
                    yield Range(bits, low, high, step, inclusive, known=(low + step) % 3 == 0)
        yield Range(bits, top - 4, top, 1, inclusive=True, known=False)
        yield Range(bits, top, top - 5, -2, inclusive=True, known=False)
        yield Range(bits, -top - 1, -top + 2, 1, inclusive=True, known=True)
        yield Range(bits, -top + 2, -top - 1, -1, inclusive=True, known=False)
        yield Range(bits, -top, top, top // 2, inclusive=True, known=False)
        yield Range(bits, top, -top, -(top // 2), inclusive=False, known=True)


def program() -> str:
    """IR that returns the number of loops whose sum is wrong."""
    return "\n".join(
        (
            "llvm.func @main() -> i32 {",
            "  %one = llvm.mlir.constant(1 : i32) : i32",
            "  %none = llvm.mlir.constant(0 : i64) : i64",
            "  %s = llvm.alloca %one x i64 : (i32) -> !llvm.ptr",
            "  %n = llvm.alloca %one x i64 : (i32) -> !llvm.ptr",
            "  %bad_0 = arith.constant 0 : i32",
            *(line for i, r in enumerate(ranges()) for line in _loop(i, r)),
            f"  llvm.return %bad_{sum(1 for _ in ranges())} : i32",
            "}",
        )
    )


def _loop(i: int, r: Range) -> Iterator[str]:
    kind = f"i{r.bits}"
    names: dict[str, str] = {}
    for name, value in (("low", r.low), ("high", r.high), ("step", r.step)):
        names[name] = f"%{name}{i}"
        yield f"  %{name}{i} = llvm.mlir.constant({value} : {kind}) : {kind}"
        if not r.known and (name != "step" or i % 2 == 0):
            names[name] += "x"
            yield f"  llvm.store %{name}{i}, %n : {kind}, !llvm.ptr"
            yield f"  %{name}{i}x = llvm.load volatile %n : !llvm.ptr -> {kind}"
    want = r.sum() - 2**64 if r.sum() >= 2**63 else r.sum()
    yield _LOOP.format(
        i=i,
        next=i + 1,
        kind=kind,
        want=want,
        inclusive="true" if r.inclusive else "false",
        wide=f"%w{i}" if r.bits < 64 else f"%i{i}",
        widen=f"%w{i} = arith.extsi %i{i} : {kind} to i64" if r.bits < 64 else "",
        **names,
    )


_COPY = "{{dataClause = #acc<data_clause acc_copy>}}"
_LOOP = f"""\
  llvm.store %none, %s : i64, !llvm.ptr
  %d{{i}} = acc.copyin varPtr(%s : !llvm.ptr) varType(i64) -> !llvm.ptr {_COPY}
  acc.parallel dataOperands(%d{{i}} : !llvm.ptr) {{{{
    acc.loop gang control(%i{{i}} : {{kind}}) =
        ({{low}} : {{kind}}) to ({{high}} : {{kind}}) step ({{step}} : {{kind}}) {{{{
      {{widen}}
      acc.atomic.update %d{{i}} : !llvm.ptr {{{{
      ^bb0(%old{{i}}: i64):
        %new{{i}} = llvm.add %old{{i}}, {{wide}} : i64
        acc.yield %new{{i}} : i64
      }}}}
      acc.yield
    }}}} attributes {{{{
      independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: {{inclusive}}>
    }}}}
    acc.yield
  }}}}
  acc.copyout accPtr(%d{{i}} : !llvm.ptr) to varPtr(%s : !llvm.ptr) varType(i64) {_COPY}
  %r{{i}} = llvm.load %s : !llvm.ptr -> i64
  %want{{i}} = arith.constant {{want}} : i64
  %differs{{i}} = arith.cmpi ne, %r{{i}}, %want{{i}} : i64
  %wrong{{i}} = arith.extui %differs{{i}} : i1 to i32
  %bad_{{next}} = arith.addi %bad_{{i}}, %wrong{{i}} : i32"""
