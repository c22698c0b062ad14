"""The pass `count-saturated-stores`, and the recognition of saturated codes."""
