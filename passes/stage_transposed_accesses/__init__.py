"""The pass `stage-transposed-accesses`, and the decision which loop gets the lanes."""
