"""
Constructs as kernels: the outlined body and its arguments, sequential loops in it, calls of functions and of
the runtime, and the tables that both need.

May import `ops`, `values` and `variables`.
"""
