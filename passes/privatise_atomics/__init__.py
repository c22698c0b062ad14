"""The pass `privatise-atomics`: copies of counters for each gang, and wide loads of the input."""
