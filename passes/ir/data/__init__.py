"""
Arrays: which host memory a pointer may name, what code may read and write, the sections that a construct
accesses, and the data and `cache` directives around it.

May import `ops` and `values`.
"""
