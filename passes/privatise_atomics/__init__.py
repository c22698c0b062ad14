"""The pass `privatise-atomics`: a copy of counters for each gang, and wide reads of what is counted."""
