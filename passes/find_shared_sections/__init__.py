"""`find-shared-sections`: sections for nests whose iterations read the same data."""
