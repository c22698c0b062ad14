"""
What values, addresses and subscripts are: polynomials over loop variables and values known before a
region, ranges of loops, the accesses of a loop, and the same values computed on the host.

May import `ops`.
"""
