"""What is audited: small training algorithms that import bayes_dp, and that it never imports."""
