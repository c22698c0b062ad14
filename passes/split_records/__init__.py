"""The pass `split-records`: copies and first-class values of structures, and local structures, as scalars."""
