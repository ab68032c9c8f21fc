"""A program learns that there is no training in several processes, and may go on.

Mirrors: nothing in PyTorch: its tests are of what is not here.
"""

import importlib

import pytest

import reftorch


def test_it_is_not_available() -> None:
    assert reftorch.distributed.is_available() is False


def test_what_is_missing_is_named() -> None:
    reason = r"not in reftorch: torch\.distributed\.init_process_group .*several processes is not written yet"
    with pytest.raises(AttributeError, match=reason):
        reftorch.distributed.init_process_group  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match=r"not in reftorch: torch\.distributed\.fsdp"):
        importlib.import_module("reftorch.distributed.fsdp")
