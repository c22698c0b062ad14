"""
Helpers that passes share to read and build IR, in rooms by idea, each of which imports only earlier ones:
`ops`, `values`, `data`, `variables`, then `dependence` and, apart from it, `kernels` and `loops`.

May import `decisions`, the dialects and the ground floor; never a pass.
"""
