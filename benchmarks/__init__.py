"""Benchmarks: each kernel as OpenACC C and as hand-written CUDA C++, side by side in one run."""
