"""From what an attack measured to guesses of membership."""
