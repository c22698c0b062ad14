"""Random programs in the style of applications: scalars of the function, clauses here and there."""
