"""Posteriors of a family of trade-off functions: each base reaches a level of it, of which its data tell."""
