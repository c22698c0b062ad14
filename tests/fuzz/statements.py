"""Random statements in a loop's body (see `generator.py`)."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .expressions import Expressions
from .model import SCALARS, Construct


class Statements(Expressions, ABC):
    """Adds random statements to a construct."""

    @abstractmethod
    def sequential_loop(self, c: Construct, depth: int) -> None:
        """Adds a loop without a directive."""

    def statement(self, c: Construct, depth: int) -> None:
        kind = self.random.randrange(10)
        if kind <= 4 or depth <= 0:
            self.assignment(c)
        elif kind == 5:
            self.temporary(c, depth)
        elif kind == 6:
            before = list(c.temporaries)
            with c.block(f"if {self.condition(c)}"):
                self.statement(c, depth - 1)
            c.temporaries = list(before)
            if self.chance(0.4):
                with c.block("else"):
                    self.statement(c, depth - 1)
                c.temporaries = list(before)
        elif kind == 7:
            self.sequential_loop(c, depth)
        elif kind == 8 and c.reduction:
            self.reduce(c)
        else:
            self.update(c)

    def assignment(self, c: Construct) -> None:
        array = self.random.choice(self.arrays)
        if c.free or c.serial:
            target: list[str] | None = [self.subscript(c, e) for e in array.shape]
        else:
            target = self.own(c, array)
        if target is None:
            return
        place = self.element(array, target)
        if array.floating:
            c.add(f"{place} = {self.real(c)};")
        elif array.type in ("unsigned", "unsigned char", "short"):
            c.add(f"{place} = ({self.integer(c)}) & 127;")
        elif self.chance(0.3):
            c.add(f"{place} = ({place} {self.pick('+', '-', '^')} ({self.integer(c)})) % 1009;")
        else:
            c.add(f"{place} = ({self.integer(c)}) % 1009;")

    def temporary(self, c: Construct, depth: int) -> None:
        c.count += 1
        name = f"t{c.count}"
        value = self.integer(c)
        c.add(f"int {name} = {value} % 1009;")
        c.temporaries.append(name)
        if self.chance(0.4):
            with c.block(f"while ({name} > {self.random.randint(3, 30)})"):
                c.add(f"{name} = {name} {self.pick('/ 2', '- 5', '>> 1')};")
                if self.chance(0.3):
                    c.add(
                        f"if ({name} % 7 == 3) {self.pick('break', '{ ' + name + '--; continue; }')};"
                    )
        if self.chance(0.3):
            with c.block(f"switch ({name} & 3)"):
                c.add("case 0:")
                c.add(f"    {name} += 3;")
                c.add("    break;" if self.chance(0.6) else "    /* fall through */")
                c.add("case 2:")
                c.add(f"    {name} -= 7;")
                c.add("    break;")
                c.add("default:")
                c.add(f"    {name} ^= 1;")
        self.statement(c, depth - 1)

    def reduce(self, c: Construct) -> None:
        assert c.reduction is not None
        operator, name = c.reduction.split(":")
        value = self.real(c) if SCALARS[name] == "double" else f"(int)({self.integer(c)}) % 1009"
        match operator:
            case "+":
                c.add(f"{name} += {value};")
            case "*":
                c.add(f"{name} *= ({value}) | 1;")
            case "max":
                c.add(f"if ({value} > {name})")
                c.lines[-1] = "    " * c.indent + f"{name} = {name} > {value} ? {name} : {value};"
            case "min":
                c.add(f"{name} = {value} < {name} ? {value} : {name};")
            case "&&" | "||":
                c.add(f"{name} = {name} {operator} {value} > 3;")
            case _:
                c.add(f"{name} {operator}= {value};")

    def update(self, c: Construct) -> None:
        """Adds an atomic update of a place that any iteration may update."""
        if c.free:
            return
        c.atomic = True
        c.add("#pragma acc atomic")
        c.add(f"H[({self.integer(c)}) & 15] += {self.random.randint(1, 5)};")
