"""Families of trade-off functions with one parameter."""
