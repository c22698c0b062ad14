"""The pass `infer-data-regions`: loops of host code, and the data regions around them."""
