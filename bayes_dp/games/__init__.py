"""Games: who flips which coin, and who sees what. Each gives a table of scores beside the coins.

fixed_datum, average_datum    of a release about a datum, the same in all rounds or another one in each
counts                        the errors of a threshold in such a game
DataSets, Mechanism           what they are played on
MembershipCoins               which examples a training has
shown_members                 which of a training that is done are shown, and which fresh ones
LabelCanaries                 which of two random labels an example is trained on
LabelGame                     which labels of a training that is done are shown, and which a proxy draws
AttributeGame, Imputer        the same of any attributes, which an imputer draws
Panoramia                     which of a training that is done are shown, and which generated or other real ones
coin_pairs                    the same of features and losses that were made elsewhere
Played                        what comes out of these two
"""

from bayes_dp.games.attributes import AttributeGame, Imputer
from bayes_dp.games.label_canaries import LabelCanaries
from bayes_dp.games.labels import LabelGame
from bayes_dp.games.membership import MembershipCoins, shown_members
from bayes_dp.games.pairs import coin_pairs
from bayes_dp.games.panoramia import Panoramia
from bayes_dp.games.per_datum import DataSets, Mechanism, average_datum, counts, fixed_datum
from bayes_dp.games.played import Played

__all__ = [
    "AttributeGame",
    "DataSets",
    "Imputer",
    "LabelCanaries",
    "LabelGame",
    "Mechanism",
    "MembershipCoins",
    "Panoramia",
    "Played",
    "average_datum",
    "coin_pairs",
    "counts",
    "fixed_datum",
    "shown_members",
]


def __dir__() -> list[str]:
    return __all__
