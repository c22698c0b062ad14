"""The pass `stream-stores`: loops that store past the caches, and the functions that do it."""
