"""
The pass `split-kernels`: splitting kernels constructs into pieces, and running loops around pieces on the
host.
"""
