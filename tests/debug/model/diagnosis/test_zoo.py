"""`diagnose` says nothing of thirty-seven healthy models of other people's kinds.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import reftorch as torch
from reftorch.debug import diagnose
from tests.debug.model.diagnosis.programs import Program
from tests.debug.model.diagnosis.zoo import ZOO


@pytest.mark.parametrize("program", ZOO.values(), ids=ZOO)
def test_nothing_is_found_in_a_healthy_model(program: Callable[[], Program]) -> None:
    torch.manual_seed(2)
    found = diagnose(**program())
    assert found.ok and found.ran >= 8, str(found)
