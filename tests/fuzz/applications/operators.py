"""How C programmers write the update of a scalar by an operator."""

from __future__ import annotations

from .model import FLOATS, Accumulator

INITIAL = {"+": "3", "-": "100", "*": "1", "|": "1", "&": "-1", "^": "5", "&&": "1", "||": "0"}

_PLAIN = {
    "+": ("{s} += {e};", "{s} = {s} + {e};", "{s} = {e} + {s};", "{s} = {s} + {e} + {f};"),
    "-": ("{s} -= {e};", "{s} = {s} - {e};", "{s} = {s} - {e} - {f};"),
    "*": ("{s} *= {e};", "{s} = {s} * {e};", "{s} = {e} * {s};"),
    "|": ("{s} |= {e};", "{s} = {s} | {e};", "{s} = {e} | {s};"),
    "&": ("{s} &= {e};", "{s} = {s} & {e};"),
    "^": ("{s} ^= {e};", "{s} = {s} ^ {e};", "{s} = {e} ^ {s};"),
    "&&": ("{s} = {s} && {e};", "{s} = {e} && {s};"),
    "||": ("{s} = {s} || {e};", "{s} = {e} || {s};"),
}
_COUNTS = ("if ({c}) {s}++;", "if ({c}) {s} += {e};", "{s}++;", "{s} += {c} ? {e} : 0;", "++{s};")
_EXTREMES = (
    *(
        "if ({e} {o} {s}) {s} = {e};",
        "if ({s} {p} {e}) {s} = {e};",
        "if ({s} {p} {e}) {{ {s} = {e}; }}",
    ),
    *("{s} = {e} {o} {s} ? {e} : {s};", "{s} = {s} {o} {e} ? {s} : {e};", "{s} = {m}({s}, {e});"),
    *("{s} = {m}({e}, {s});", "if ({e} {o}= {s}) {s} = {e};", "{s} = {s} {p} {e} ? {e} : {s};"),
)
_LIBRARY = ("{s} = {l}({s}, {e});", "{s} = {l}({e}, {s});")


def spellings(operator: str, type_: str) -> tuple[str, ...]:
    """The ways an update is written; `{s}` is the scalar, `{e}` and `{f}` operands, `{c}` a condition."""
    if operator in ("max", "min"):
        return (*_EXTREMES, *_LIBRARY) if type_ in FLOATS else _EXTREMES
    if operator == "+" and type_ != "_Bool":
        return (*_PLAIN["+"], *_COUNTS)
    return _PLAIN[operator]


def operand(a: Accumulator, value: str) -> str:
    """
    The combined operand, chosen so that no signed overflow happens, the stored value is the compared one,
    and floating results are exact in any order (sums of small integers, products of signs).
    """
    if a.type == "_Bool":
        value = f"({value} & 1)"
    elif a.type.startswith("unsigned"):
        value = f"({value} & 63)"
    match a.operator:
        case "*":
            signs = f"({value} % 2 ? -1 : 1)"
            return f"({value} | 1)" if a.type.startswith("unsigned") else signs
        case "&&":
            return f"({value} != 5)"
        case "||":
            return f"({value} == 7)"
        case _:
            return value


def update(a: Accumulator, value: str, second: str, condition: str) -> str:
    """One statement that updates an accumulator with a value (an integer expression)."""
    texts = spellings(a.operator, a.type)
    greater = a.operator == "max"
    suffix = "f" if a.type == "float" else ""
    return texts[a.spelling % len(texts)].format(
        s=a.name,
        e=operand(a, value),
        f=operand(a, second),
        c=condition,
        o=">" if greater else "<",
        p="<" if greater else ">",
        m="MAX" if greater else "MIN",
        l=("fmax" if greater else "fmin") + suffix,
    )


def initial(a: Accumulator) -> str:
    """The value before the first update; for an extreme, one that some operands exceed."""
    if a.type == "_Bool" and a.operator in ("+", "^", "max"):
        return "0"
    if a.type == "_Bool" and a.operator == "min":
        return "1"
    return INITIAL.get(a.operator, "9" if a.operator == "min" else "2")
