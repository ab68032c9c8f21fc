"""What is left out where torch is missing has a reason, and each reason is needed.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

These tests look at those tests of the run that ask for torch: at all of them in ``make test``, and where a part is run,
at that part. Whether torch is there makes no difference.
"""

from pathlib import Path

import pytest

from tests.answers import left_out, stored

ROOT = Path(__file__).resolve().parents[2]


def function(test: str) -> str:
    return test.split("[")[0]


@pytest.fixture(scope="module")
def without_answers(request: pytest.FixtureRequest) -> set[str]:
    known = stored.read()[0]
    fixtures = {"real_torch_or_none", "not_compared"}
    asking = [item.nodeid for item in request.session.items if fixtures & set(getattr(item, "fixturenames", ()))]
    return set(asking) - known.keys()


def test_what_is_left_out_has_a_reason(without_answers: set[str]) -> None:
    unexplained = sorted(test for test in without_answers if left_out.reason(test) is None)
    assert not unexplained, "make answers ARGS='--missing FILES', or a reason in tests/answers/left_out.txt"
    assert len(without_answers) < 500


def test_no_reason_is_stale(without_answers: set[str], request: pytest.FixtureRequest) -> None:
    needed = without_answers | set(map(function, without_answers))
    in_this_run = {function(item.nodeid) for item in request.session.items}
    stale = [name for name in left_out.reasons() if function(name) in in_this_run and name not in needed]
    assert not stale, "these have answers, need none, or are gone"
    suite = (ROOT / "tests/op_db/suite.py").read_text()  # its classes are the bases of those that test rows
    for name in left_out.reasons():
        file, *_, test = function(name).split("::")
        assert f"def {test}(" in (ROOT / file).read_text() + suite, f"{name} is gone"
