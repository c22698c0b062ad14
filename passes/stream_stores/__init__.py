"""The pass `stream-stores`: non-temporal stores in kernels of the host target."""
