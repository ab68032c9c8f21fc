"""Why some tests have no stored answers: no answer of torch could hold them, and they are left out where it is missing.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

``left_out.txt`` has a paragraph for each reason: the reason, and under it the tests. A name without a case, which would
stand in brackets, is that of a function, and gives the reason for those of its cases that have no answers.
``test_left_out.py`` finds a name that needs no reason any more, and a test with neither answers nor reason.
"""

import functools
from pathlib import Path

NO_REASON = "no answer of torch is stored yet (make answers)"


@functools.cache
def reasons() -> dict[str, str]:
    """The reason for each name."""
    found: dict[str, str] = {}
    for paragraph in Path(__file__).with_suffix(".txt").read_text().strip().split("\n\n"):
        why, *names = paragraph.split("\n")
        assert not found.keys() & names, f"two reasons: {found.keys() & names}"
        found.update(dict.fromkeys(names, why.removesuffix(":")))
    return found


def reason(test: str) -> str | None:
    """Why a test has no stored answers."""
    return reasons().get(test) or reasons().get(test.split("[")[0])
