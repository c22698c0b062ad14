"""Benchmarks of the `cache` directive: `python -m benchmarks.cache.run`."""
