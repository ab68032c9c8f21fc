"""`python -m course._tools`: the same as `reftorch-course`.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: everything; see `cli`.
"""

import sys

from course._tools.cli import main

sys.exit(main())
