"""How large an experiment has to be for an interval of ε of a wanted width.

simulated   the experiments: a truth, error rates, and counts of any size
limit       the interval given the error rates, which more and more challenges lead to
result      widths by size, and the size that is needed
plan        `plan`: the sizes that are tried
claims      `plan_claim`: how many runs refute a claim, exactly
"""
