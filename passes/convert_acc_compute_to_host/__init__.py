"""The pass `convert-acc-compute-to-host`, and the combination of gangs' reduction results."""
