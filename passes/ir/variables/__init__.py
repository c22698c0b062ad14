"""
Private and reduction variables: recipes (built and read), combiners, storage and copies, and the part that
each scalar of a function plays in its loops.

May import `ops`, `values` and `data`; the front end builds recipes with it.
"""
