"""Data classes of the package do what other data classes do, and compile methods when they are called."""

from __future__ import annotations

import pickle
import sys
from types import ModuleType
from typing import Any

import pytest
from accopt.compiler.base import late_methods

CLASSES = """
from __future__ import annotations
from dataclasses import InitVar, dataclass, field, replace

@dataclass
class Plain:
    a: int
    b: list[int] = field(default_factory=list, compare=False)

@dataclass(frozen=True)
class Frozen:
    a: int
    b: str = field(default="x", repr=False)
    c: int = field(default=3, init=False)

@dataclass(frozen=True, slots=True)
class Slots(Frozen):
    d: tuple[int, ...] = ()

@dataclass(order=True, kw_only=True)
class Ordered:
    a: int
    given: InitVar[int] = 1

    def __post_init__(self, given: int) -> None:
        self.a += given

class Child(Plain):
    def __init__(self, a: int) -> None:
        super().__init__(a, [a])

@dataclass(init=False, eq=False)
class Own:
    a: int
    def __init__(self) -> None:
        self.a = 5

@dataclass
class Nested:
    inner: object = None
"""

USES = (
    "Plain(1), Plain(1, [2]), Plain(b=[1], a=2)",
    "Plain(1) == Plain(1, [3]), Plain(1) != Plain(2), Plain(1) == 1, Plain(1).b is Plain(1).b",
    "Plain()",
    "Plain(1, 2, 3)",
    "hash(Plain(1))",
    "Frozen(1), Frozen(1).b, Frozen(1, 'y') == Frozen(1), Frozen(1).c",
    "len({Frozen(1), Frozen(1), Frozen(2)}), hash(Frozen(1)) == hash(Frozen(1))",
    "setattr(Frozen(1), 'a', 2)",
    "delattr(Frozen(1), 'a')",
    "setattr(Frozen(1), 'new', 2)",
    "replace(Frozen(1), a=7), replace(Plain(1), a=2)",
    "replace(Frozen(1), c=7)",
    "Slots(1, d=(2,)), Slots(1) == Slots(1), Slots(1) == Frozen(1), hash(Slots(2)) == hash(Slots(2))",
    "Slots.__slots__, Slots.__match_args__",
    "Ordered(a=1) < Ordered(a=2), Ordered(a=1) >= Ordered(a=1, given=0), max(Ordered(a=1), Ordered(a=5))",
    "Ordered(a=1) < 1",
    "Ordered(1)",
    "Child(4), Child(4) == Child(4), Child(4) == Plain(4)",
    "Own(), Own() == Own()",
    "(lambda n: (setattr(n, 'inner', n), repr(n)))(Nested())",
    "Plain.__init__.__qualname__, Frozen.__eq__.__name__",
)


def module(name: str) -> dict[str, Any]:
    made = ModuleType(name)
    sys.modules[name] = made
    exec(CLASSES, made.__dict__)
    return made.__dict__


def result(names: dict[str, Any], use: str) -> str:
    try:
        return repr(eval(use, dict(names)))
    except Exception as e:
        return f"{type(e).__name__}: {e}"


@pytest.fixture
def both():
    late, usual = f"{late_methods.__name__.partition('.')[0]}.late_example", "usual_example"
    try:
        yield module(late), module(usual)
    finally:
        del sys.modules[late], sys.modules[usual]


def test_the_same(both):
    late, usual = both
    for use in (*USES, *USES):  # the second time with methods that have been compiled
        assert result(late, use) == result(usual, use), use
    copy = pickle.loads(pickle.dumps(late["Slots"](1, d=(3,))))
    assert copy == late["Slots"](1, d=(3,))


def test_nothing_is_compiled_before_a_call(monkeypatch):
    names: list[str] = []
    create = late_methods._create

    def noted(name, *args, **given):
        names.append(name)
        return create(name, *args, **given)

    monkeypatch.setattr(late_methods, "_create", noted)
    name = f"{late_methods.__name__.partition('.')[0]}.late_example"
    late = sys.version_info[:2] in late_methods._VERSIONS
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    within = sys.modules[name].__dict__
    text = "@dataclasses.dataclass(frozen=True)\nclass A:\n    'A.'\n    a: int\n"
    exec(f"from __future__ import annotations\nimport dataclasses\n{text}", within)
    assert not names
    assert within["A"](1) == within["A"](1)
    assert within["A"](2).a == 2
    assert names == (["__init__", "__eq__"] if late else [])
