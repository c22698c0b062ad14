"""A builder of scheduled-level IR for tests of the GPU lowering, used much like C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import recipe_text

_INCLUSIVE = "inclusiveUpperbound = array<i1: false>"
_NONE = "[#acc.device_type<none>]"


class Builder:
    """Text of one function `@f` with one compute construct; values are SSA names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.recipes: dict[str, str] = {}
        self.count = 0

    def fresh(self, stem: str = "v") -> str:
        self.count += 1
        return f"%{stem}_{self.count}"

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def value(self, text: str, stem: str = "v") -> str:
        name = self.fresh(stem)
        self.emit(f"{name} = {text}")
        return name

    def const(self, number: int | float, type: str = "i32") -> str:
        text = repr(float(number)) if type.startswith("f") else str(number)
        return self.value(f"arith.constant {text} : {type}", "c")

    def op(self, name: str, a: str, b: str, type: str = "i32") -> str:
        return self.value(f"arith.{name} {a}, {b} : {type}")

    def address(self, base: str, index: str, type: str, index_type: str = "i32") -> str:
        wide = index
        if index_type != "i64":
            wide = self.value(f"arith.extsi {index} : {index_type} to i64")
        return self.value(
            f"llvm.getelementptr inbounds {base}[{wide}] : (!llvm.ptr, i64) -> !llvm.ptr, {type}"
        )

    def load(self, base: str, index: str | None, type: str) -> str:
        pointer = base if index is None else self.address(base, index, type)
        return self.value(f"llvm.load {pointer} : !llvm.ptr -> {type}")

    def store(self, value: str, base: str, index: str | None, type: str) -> None:
        pointer = base if index is None else self.address(base, index, type)
        self.emit(f"llvm.store {value}, {pointer} : {type}, !llvm.ptr")

    def add_to(self, base: str, value: str, type: str, name: str = "") -> None:
        """`*base op= value`"""
        old = self.load(base, None, type)
        self.store(
            self.op(name or ("addf" if type[0] == "f" else "addi"), old, value, type),
            base,
            None,
            type,
        )

    @contextmanager
    def loop(
        self,
        levels: str,
        lower: Sequence[str] | str,
        upper: Sequence[str] | str,
        step: Sequence[str] | str,
        *,
        type: str = "i32",
        private: Sequence[str] = (),
        reduction: Sequence[str] = (),
        attrs: str = "",
    ) -> Iterator[list[str]]:
        lowers, uppers, steps = (
            [v] if isinstance(v, str) else list(v) for v in (lower, upper, step)
        )
        ivs = [self.fresh("i") for _ in lowers]
        types = ", ".join(type for _ in lowers)
        clauses = "" if levels == "seq" else levels
        if private:
            clauses += f" private({', '.join(private)} : {', '.join('!llvm.ptr' for _ in private)})"
        if reduction:
            clauses += (
                f" reduction({', '.join(reduction)} : {', '.join('!llvm.ptr' for _ in reduction)})"
            )
        control = ", ".join(f"{iv} : {type}" for iv in ivs)
        self.emit(
            f"acc.loop {clauses} control({control}) = ({', '.join(lowers)} : {types})"
            f" to ({', '.join(uppers)} : {types}) step ({', '.join(steps)} : {types}) {{"
        )
        yield ivs
        self.emit("acc.yield")
        flags = ", ".join("false" for _ in lowers)
        mode = "seq" if levels == "seq" else "independent"
        extra = f", {attrs}" if attrs else ""
        self.emit(
            f"}} attributes {{{mode} = {_NONE}, inclusiveUpperbound = array<i1: {flags}>{extra}}}"
        )

    @contextmanager
    def for_(self, lower: str, upper: str, step: str, type: str = "i32") -> Iterator[str]:
        iv = self.fresh("k")
        self.emit(f"scf.for {iv} = {lower} to {upper} step {step} : {type} {{")
        yield iv
        self.emit("}")

    @contextmanager
    def if_(self, condition: str) -> Iterator[None]:
        self.emit(f"scf.if {condition} {{")
        yield
        self.emit("}")

    def private(self, type: str, name: str = "p", var: str = "%null") -> str:
        self.recipes.setdefault(f"private_{name}", recipe_text.private(f"private_{name}", type))
        return self.value(
            f"acc.private varPtr({var} : !llvm.ptr) varType({type}) recipe(@private_{name})"
            f' -> !llvm.ptr {{name = "{name}"}}'
        )

    def reduction(
        self, var: str, type: str, operator: str, name: str = "s", *, unsigned: bool = False
    ) -> str:
        recipe = f"reduction_{operator}_{name}"
        if recipe not in self.recipes:
            text = recipe_text.reduction(recipe, operator, type, unsigned=unsigned)
            self.recipes[recipe] = text
        return self.value(
            f"acc.reduction varPtr({var} : !llvm.ptr) varType({type}) recipe(@{recipe})"
            f' -> !llvm.ptr {{name = "{name}"}}'
        )

    def data(self, name: str, type: str = "f32") -> str:
        """Adds a present data operation for pointer parameter `%name`, and returns the device address."""
        return self.value(
            f"acc.present varPtr(%{name} : !llvm.ptr) varType({type}) -> !llvm.ptr"
            f' {{name = "{name}"}}',
            f"{name}_dev",
        )

    @contextmanager
    def parallel(
        self,
        data: Sequence[str],
        gangs: int | str,
        workers: int | str,
        lanes: int | str,
        *,
        reduction: Sequence[str] = (),
        private: Sequence[str] = (),
        firstprivate: Sequence[str] = (),
    ) -> Iterator[None]:
        sizes = [v if isinstance(v, str) else self.const(v) for v in (gangs, workers, lanes)]
        pointers = lambda values: ", ".join("!llvm.ptr" for _ in values)  # noqa: E731
        first = (
            f" firstprivate({', '.join(firstprivate)} : {pointers(firstprivate)})"
            if firstprivate
            else ""
        )
        own = f" private({', '.join(private)} : {pointers(private)})" if private else ""
        red = f" reduction({', '.join(reduction)} : {pointers(reduction)})" if reduction else ""
        self.emit(
            f"acc.parallel dataOperands({', '.join(data)} : {pointers(data)}){first}"
            f" num_gangs({{{sizes[0]} : i32}}) num_workers({sizes[1]} : i32){own}"
            f" vector_length({sizes[2]} : i32){red} {{"
        )
        yield
        self.emit("acc.yield")
        self.emit("}")

    def text(self, parameters: str, extra: str = "") -> str:
        body = "\n".join(self.lines)
        return "\n".join(
            [
                *self.recipes.values(),
                extra,
                f"llvm.func @f({parameters}) {{",
                "%null = llvm.mlir.zero : !llvm.ptr",
                body,
                "llvm.return",
                "}",
            ]
        )
