"""`python -m bayes_dp`: the command line, where its script is not on the path."""

import sys

from bayes_dp.cli import main

if __name__ == "__main__":
    sys.exit(main())
