"""Posteriors of models in which every base has a level of leak of its own, between sθ and θ."""
