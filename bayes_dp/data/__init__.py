"""What the methods start from, each validated once: counts, guesses, losses; and how they are read and written."""
