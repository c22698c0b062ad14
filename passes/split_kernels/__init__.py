"""The pass `split-kernels`: kernels constructs in pieces, and loops around pieces on the host."""
