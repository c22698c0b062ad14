"""IR: the context with its dialects, reading, printing, and the stage checker."""
