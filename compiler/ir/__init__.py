"""The context of dialects, printing, and the checker of stages."""
