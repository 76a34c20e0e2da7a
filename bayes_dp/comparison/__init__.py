"""All methods on the same counts: their table, what in it cannot all be right, and a verdict on a limit of ε."""
