"""The pass `split-column-sums`: nests that add up columns, and the code of the gangs that share them."""
