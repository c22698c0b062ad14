"""
Loops as passes that change them see them: facts for schedules, groups and copies of iterations, lanes, rows,
and nests that are products.

May import `ops`, `values`, `data` and `kernels`.
"""
