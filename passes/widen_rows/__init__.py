"""The pass `widen-rows`: rows of accesses, and the body that takes several elements at a time."""
