"""The pass `find-shared-sections`: cached sections for nests whose iterations read the same data."""
