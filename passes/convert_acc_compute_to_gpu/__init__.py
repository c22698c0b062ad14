"""
The pass `convert-acc-compute-to-gpu`: one file per subject; `lower.py` is the walk that calls the others.
"""
