"""
The pass `compress-arrays`: the code around each element of a compressed array, and the rewriting
of accesses.
"""
