"""The `cache` directive measured: `python -m benchmarks.cache.run`."""
