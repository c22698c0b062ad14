"""The pass `unroll-inner-loops`: sequential loops of kernels, and those over an iteration's own arrays."""
