"""The scenarios of threads.py, which ``make tsan`` runs under the thread sanitizer, on the build at hand.

Mirrors: test/test_autograd.py (TestMultithreadAutograd)
"""

import pytest

from tests.autograd import threads


@pytest.mark.parametrize("name", threads.SCENARIOS)
def test_scenario(name):
    threads.SCENARIOS[name](rounds=3)
