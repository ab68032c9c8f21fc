"""The default device.

Mirrors: test/test_utils.py (TestDeviceUtils)
"""

import threading

import pytest

import reftorch as torch


def test_default_device() -> None:
    assert torch.get_default_device() == torch.device("cpu")
    torch.set_default_device("cpu:0")
    try:
        assert torch.get_default_device() == torch.device("cpu:0")
    finally:
        torch.set_default_device(None)
    assert torch.get_default_device() == torch.device("cpu")


def test_with_device() -> None:
    with torch.device("cpu:0") as device:
        assert device == torch.get_default_device() == torch.device("cpu:0")
        with torch.device("cpu"):
            assert torch.get_default_device() == torch.device("cpu")
        seen = []
        thread = threading.Thread(target=lambda: seen.append(torch.get_default_device()))
        thread.start()
        thread.join()
        assert seen == [torch.device("cpu")]
    assert torch.get_default_device() == torch.device("cpu")


def test_left_by_an_error() -> None:
    with pytest.raises(ValueError, match="through"), torch.device("cpu:0"):
        raise ValueError("through")
    assert torch.get_default_device() == torch.device("cpu")


def test_no_such_device() -> None:
    with pytest.raises(AssertionError, match="CUDA"):
        torch.set_default_device("cuda")
    with pytest.raises(AssertionError, match="CUDA"), torch.device("cuda"):
        pass
    with pytest.raises(RuntimeError, match="device type"):
        torch.set_default_device("foo")
    assert torch.get_default_device() == torch.device("cpu")
