"""The pass `infer-data-regions`: spans of host code, what it touches, and the region around them."""
