"""The passes, one file each; `registry` lists them in pipeline order with the reason for it."""
