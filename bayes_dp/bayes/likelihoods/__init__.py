"""How the counts of a base arise from its error rates: one module for each law."""
