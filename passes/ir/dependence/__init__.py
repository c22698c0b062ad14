"""
Whether iterations of a loop may run at the same time, and which programs say so wrongly: accesses compared,
private arrays, the verdict on an `auto` loop, warnings for declared ones.

May import `ops`, `values`, `data` and `variables`.
"""
