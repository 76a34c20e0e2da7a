"""Membership games: who flips which coin, and who sees what. Each gives a table of scores beside the coins.

fixed_datum, average_datum    of a release about a datum, the same in all rounds or another one in each
counts                        the errors of a threshold in such a game
DataSets, Mechanism           what they are played on
"""

from bayes_dp.games.per_datum import DataSets, Mechanism, average_datum, counts, fixed_datum

__all__ = ["DataSets", "Mechanism", "average_datum", "counts", "fixed_datum"]
