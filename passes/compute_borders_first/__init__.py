"""The pass `compute-borders-first`: what qualifies, footprints, and the copy of a construct."""
