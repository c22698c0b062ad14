"""The pass `stage-ordered-sums`: sums whose order is kept, and the code of threads that share their terms."""
