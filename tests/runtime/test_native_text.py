"""The short forms of native code: fields and elements by name, loops, branches, tests of bits."""

from __future__ import annotations

import ctypes

import pytest
from accopt.compiler.base.options import OptLevel
from accopt.runtime.native.code import NativeCode
from accopt.runtime.native.text import expanded, structure


@structure("test_item")
class Item(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_int32),
        ("weight", ctypes.c_int32),
        ("value", ctypes.c_int64),
        ("next", ctypes.c_void_p),
    )


@structure("test_list")
class List(ctypes.Structure):
    _fields_ = (("count", ctypes.c_int64), ("items", Item * 4))


SUM = """
define i64 @sum(ptr %list, i32 %bits) {{
entry:
  %count = %list->test_list.count acquire
  %items = &%list->test_list.items
  for i64 %i < %count: look, done
  %sum = phi i64 [ 0, %entry ], [ %new, %on ]
look:
  %flags = %items[i64 %i]->test_item.flags
  %marked = %flags has i32 {mask}
  %bare = icmp eq i32 %bits, 0
  %good = any %marked %bare
  br i1 %good, label %take, label %on
take:
  %value = %items[i64 %i]->test_item.value
  %item = getelementptr %test_item, ptr %items, i64 %i
  %item->test_item.weight = %bits
  %item->test_item.value = 0 release
  br label %on
on:
  %part = phi i64 [ 0, %look ], [ %value, %take ]
  %new = add i64 %sum, %part
  next %i
done:
  ret i64 %sum
}}
"""


def test_fields_and_loops():
    code = NativeCode(SUM, {}, {"mask": 6})
    total = code.function("sum", ctypes.c_int64, ctypes.POINTER(List), ctypes.c_int32)
    items = [Item(flags, 0, 10**k) for k, flags in enumerate((2, 1, 4, 2))]
    numbers = List(3, (Item * 4)(*items))
    assert total(numbers, 5) == 101
    assert [item.weight for item in numbers.items] == [5, 0, 5, 0]
    assert [item.value for item in numbers.items] == [0, 10, 0, 1000]
    assert total(numbers, 0) == 10


REVERSE = """
@last = internal global [2 x i64] zeroinitializer
define i64 @reverse(ptr %words, i64 %count) {
entry:
  %half = lshr i64 %count, 1
  for i64 %i < %half: swap, done
swap:
  %behind = sub i64 %count, %i
  %j = sub i64 %behind, 1
  %low = load i64, ptr %words[i64 %i]
  %high = load atomic i64, ptr %words[i64 %j] acquire, align 8
  if slt i64 %low, %high: turn, on
turn:
  store i64 %high, ptr %words[i64 %i]
  store atomic i64 %low, ptr %words[i64 %j] release, align 8
  store i64 %high, ptr @last[i32 1]
  br label %on
on:
  next %i
done:
  %last = load i64, ptr @last[i32 1]
  ret i64 %last
}
"""


@pytest.mark.parametrize("optimize", [None, 2])
def test_elements_and_branches(optimize: OptLevel | None):
    """The larger one of each pair goes to the front; the text has no fields for `str.format`."""
    code = NativeCode(REVERSE, optimize=optimize)
    reverse = code.function("reverse", ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
    words = (ctypes.c_int64 * 5)(1, 7, 3, 5, 9)
    assert reverse(words, 5) == 9
    assert list(words) == [9, 7, 3, 5, 1]
    assert reverse(words, 5) == 9
    assert list(words) == [9, 7, 3, 5, 1]


def test_fields_that_there_are_not():
    with pytest.raises(KeyError, match="wait"):
        expanded("  %a = %list->test_item.wait")
    with pytest.raises(KeyError, match="test_lost"):
        expanded("  %a = %list->test_lost.wait")
