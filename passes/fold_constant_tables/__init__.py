"""The pass `fold-constant-tables`: arrays whose values are known become constants of device code."""
