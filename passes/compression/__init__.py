"""Compressed arrays: the code around each element, and the rewriting of accesses."""
