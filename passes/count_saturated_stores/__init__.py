"""The pass `count-saturated-stores`, and the counter of a store."""
