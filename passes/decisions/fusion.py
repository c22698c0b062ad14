"""When neighbouring loops become one."""

from __future__ import annotations

MOST_OPERATIONS = 240
"""
The most operations of two loops that are fused: a thread should have registers enough for several iterations
side by side.
"""
