"""The short forms of native code: fields by name, loops, tests of bits."""

from __future__ import annotations

import ctypes

import pytest
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
    total = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.POINTER(List), ctypes.c_int32)(
        code.address("sum")
    )
    items = [Item(flags, 0, 10**k) for k, flags in enumerate((2, 1, 4, 2))]
    numbers = List(3, (Item * 4)(*items))
    assert total(numbers, 5) == 101
    assert [item.weight for item in numbers.items] == [5, 0, 5, 0]
    assert [item.value for item in numbers.items] == [0, 10, 0, 1000]
    assert total(numbers, 0) == 10


def test_fields_that_there_are_not():
    with pytest.raises(KeyError, match="wait"):
        expanded("  %a = %list->test_item.wait")
    with pytest.raises(KeyError, match="test_lost"):
        expanded("  %a = %list->test_lost.wait")
