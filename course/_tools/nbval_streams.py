"""A plugin of pytest: what a lesson's cells write to stderr is not compared with the stored outputs.

No cell of the course has stored output on stderr. What arrives there are warnings of other programs, which depend on
the versions that a machine has: of Python, of Jupyter, of a library. An error of a cell is an output of another kind,
and is compared. ``tests/course/test_lessons.py`` checks that nothing is stored for stderr.

Mirrors: nothing in PyTorch: it has no course.
Leaves out: warnings of reftorch, which its own tests compare; a lesson that shows one prints it.
"""

from typing import Any


def pytest_collectstart(collector: Any) -> None:
    """Add stderr to what nbval does not compare in a notebook."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare = (*collector.skip_compare, "stderr")
