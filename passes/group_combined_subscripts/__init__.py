"""The pass `group-combined-subscripts`: groups of iterations of two loops, their loads and copies."""
