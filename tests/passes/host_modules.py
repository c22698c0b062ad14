# ruff: noqa: E501
"""Modules for the passes that make host code, composed from pieces."""

from __future__ import annotations

import re

import recipe_text

INDEPENDENT = "independent = [#acc.device_type<none>]"


def recipe(operator: str, type: str, *, unsigned: bool = False) -> str:
    """The recipes that modules name: the reduction is of `type`."""
    return (
        recipe_text.reduction("reduction", operator, type, unsigned=unsigned)
        + recipe_text.private("private", "i32")
        + recipe_text.firstprivate("firstprivate", "i32")
    )


def _reduced_type(text: str) -> str:
    found = re.search(r"acc.reduction varPtr.*varType\((.*?)\) (bounds|recipe)", text)
    return "f64" if found is None else found[1]


def function(
    params: str,
    body: str,
    *,
    before: str = "",
    data: str = "%dx",
    clauses: str = "",
    gangs: str = "%c8",
    operator: str = "add",
    unsigned: bool = False,
    bytes: str = "%n64",
    more: str = "",
) -> str:
    """A module whose function `f(n, x, …)` copies `bytes` bytes of x and runs `body` in a construct."""
    types = ", ".join(["!llvm.ptr"] * len(data.split(",")))
    count = len(gangs.split(","))
    gang_operands = ", ".join(f"{g} : i32" for g in gangs.split(","))
    assert count <= 3
    return (
        recipe(operator, _reduced_type(before + body), unsigned=unsigned)
        + more
        + f"""
llvm.func @f(%n: i32, %x: !llvm.ptr{params}) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c8 = arith.constant 8 : i32
  %l0 = arith.constant 0 : i64
  %l1 = arith.constant 1 : i64
  %n64 = arith.extsi %n : i32 to i64
  %b = acc.bounds lowerbound(%l0 : i64) extent({bytes} : i64) stride(%l1 : i64) startIdx(%l0 : i64) {{strideInBytes = true}}
  %dx = acc.copyin varPtr(%x : !llvm.ptr) varType(i8) bounds(%b) -> !llvm.ptr {{name = "x", dataClause = #acc<data_clause acc_copy>}}
  {before}
  acc.parallel dataOperands({data} : {types}) {clauses if "firstprivate" in clauses else ""} num_gangs({{{gang_operands}}}) num_workers(%c1 : i32) {clauses if clauses.startswith("private") else ""} vector_length(%c1 : i32) {clauses if "reduction" in clauses else ""} {{
    {body}
    acc.yield
  }}
  acc.copyout accPtr(%dx : !llvm.ptr) bounds(%b) to varPtr(%x : !llvm.ptr) varType(i8) {{name = "x", dataClause = #acc<data_clause acc_copy>}}
  llvm.return
}}
"""
    )


def loop(
    levels: str, body: str, *, variables: str = "i", upper: str = "%n", attrs: str = ""
) -> str:
    """An `acc.loop` over `variables` from 0 to `upper` with step 1."""
    names = variables.split()
    uppers = upper.split() * (len(names) if len(upper.split()) == 1 else 1)
    types = ", ".join(["i32"] * len(names))
    control = ", ".join(f"%{v} : i32" for v in names)
    zeros, ones = ", ".join(["%c0"] * len(names)), ", ".join(["%c1"] * len(names))
    inclusive = ", ".join(["false"] * len(names))
    mode = "seq = [#acc.device_type<none>]" if not levels.split("(")[0].strip() else INDEPENDENT
    return f"""
    acc.loop {levels} control({control}) = ({zeros} : {types}) to ({", ".join(uppers)} : {types}) step ({ones} : {types}) {{
      {body}
      acc.yield
    }} attributes {{{mode}, inclusiveUpperbound = array<i1: {inclusive}>{attrs}}}
"""


def element(pointer: str, index: str, name: str, type: str) -> str:
    """Computes the address `%name` of `pointer[index]`, index an i32."""
    return f"""
      %{name}_index = arith.extsi {index} : i32 to i64
      %{name} = llvm.getelementptr {pointer}[%{name}_index] : (!llvm.ptr, i64) -> !llvm.ptr, {type}
"""


INCREMENT = (
    element("%dx", "%i", "p", "i32")
    + """
      %v = llvm.load %p : !llvm.ptr -> i32
      %w = arith.addi %v, %c1 : i32
      llvm.store %w, %p : i32, !llvm.ptr
"""
)


def fixed(size: int) -> dict[str, str]:
    """Options of `function` for an x of `size` bytes."""
    return {"bytes": "%size", "prefix": f"%size = arith.constant {size} : i64"}


def module(body: str, size: int, **options: str | bool) -> str:
    text = function("", body, bytes="%size", **options)  # pyright: ignore[reportArgumentType]
    return text.replace(
        "%b = acc.bounds", f"%size = arith.constant {size} : i64\n  %b = acc.bounds", 1
    )
