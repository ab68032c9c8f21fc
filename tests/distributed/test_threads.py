"""The scenarios of threads.py, which ``make tsan`` runs under the thread sanitizer, on the build at hand.

Mirrors: nothing in PyTorch: its tests of ranks that are threads have no transfers, so a sanitizer finds little there.
"""

import pytest

from tests.distributed import threads


@pytest.mark.filterwarnings("ignore:find_unused_parameters=True was specified")
@pytest.mark.parametrize("name", threads.SCENARIOS)
def test_scenario(name: str) -> None:
    threads.SCENARIOS[name](2)
