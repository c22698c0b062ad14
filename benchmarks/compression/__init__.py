"""Benchmarks of compressed arrays (docs/compression.md)."""
