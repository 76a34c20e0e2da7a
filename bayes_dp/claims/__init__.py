"""Claims of privacy: what an accountant says of a training, and whether attacks on it refute that."""
