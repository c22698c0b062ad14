"""The pass `group-combined-subscripts`: groups of iterations of two loops that share loads."""
