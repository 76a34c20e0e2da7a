"""Scores of one model's examples from what it and reference models give to them: one attack a file."""
