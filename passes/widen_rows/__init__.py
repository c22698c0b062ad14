"""The pass `widen-rows`: reading accesses as rows, and the body for several elements at a time."""
