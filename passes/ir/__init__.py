"""
Helpers that passes share to read and build IR, one module per idea: accesses and roots of pointers,
polynomials of values, layout, loops and levels, dependence, versions of constructs, a cursor to
build with, notes for remarks.

May import `decisions`, the dialects and the ground floor; never a pass.
"""
