"""`diagnose` names the fault of each of twenty-seven models that do not learn, and what to do; and no other fault.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
"""

from __future__ import annotations

import pytest

import reftorch as torch
from reftorch.debug import diagnose
from tests.debug.model.diagnosis.ill import ILL, Ill


@pytest.mark.parametrize("ill", ILL.values(), ids=ILL)
def test_an_ill_model_gets_its_name_and_its_remedy(ill: Ill) -> None:
    torch.manual_seed(0)
    found = diagnose(**ill.make())
    mine = [each for each in found.findings if each.check == ill.check]
    assert any(ill.says in f"{each.where} {each.what}" and ill.remedy in each.advice for each in mine), str(found)
    assert {each.check for each in found.findings} <= {ill.check, *ill.also}, str(found)
