"""Iterations of partitioned loops in SIMD lanes; `interchange_lanes.py` is the pass."""
