"""The pass `convert-acc-compute-to-gpu`: one file per concern; `lower.py` ties them together."""
