"""torch.nn's front page: the places of its modules. tests/_api has the test of its names and signatures.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

import importlib
import inspect
from types import ModuleType

import pytest

from reftorch import _api


def test_a_module_lies_where_pytorch_has_it(real_torch: ModuleType) -> None:
    checked = 0
    for row in _api.rows().values():
        if row.module != "torch.nn" or row.state not in ("there", "partly"):
            continue
        ours = getattr(importlib.import_module("reftorch.nn"), row.name)
        theirs = getattr(real_torch.nn, row.name)
        if inspect.isclass(theirs) and issubclass(theirs, real_torch.nn.Module):
            checked += 1
            assert ours.__name__ == theirs.__name__
            assert ours.__module__.startswith(theirs.__module__.replace("torch", "reftorch", 1))
    assert checked > 140


def test_options_of_factories(real_torch: ModuleType) -> None:
    for lib in (importlib.import_module("reftorch"), real_torch):
        of = lib.nn.factory_kwargs
        assert of(None) == of({}) == {}
        assert of({"dtype": 1, "factory_kwargs": {"device": 2}}) == {"dtype": 1, "device": 2}
        with pytest.raises(TypeError, match="unexpected kwargs"):
            of({"foo": 1})
        with pytest.raises(TypeError, match="dtype specified twice"):
            of({"dtype": 1, "factory_kwargs": {"dtype": 2}})
