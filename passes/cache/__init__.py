"""The parts of `promote-cache-to-shared`: finding nests, and the code of a block of threads."""
