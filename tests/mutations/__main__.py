"""``python -m tests.mutations``: see ``run.py``."""

import sys

from tests.mutations.run import main

if __name__ == "__main__":
    sys.exit(main())
