"""The frequencies are PyTorch's; the transforms say that they are only names.

Mirrors: test/test_spectral_ops.py
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch

CALLS: list[Any] = [
    lambda t: t.fft.fftfreq(5),
    lambda t: t.fft.fftfreq(6, 0.5, dtype=t.float64),
    lambda t: t.fft.fftfreq(1, requires_grad=True),
    lambda t: t.fft.fftfreq(4, out=t.empty(4)),
    lambda t: t.fft.rfftfreq(5),
    lambda t: t.fft.rfftfreq(6, 2.0),
    lambda t: t.fft.rfftfreq(6, out=t.empty(4, dtype=t.float64)),
    lambda t: t.fft.fftshift(t.arange(5)),
    lambda t: t.fft.fftshift(t.arange(12).view(3, 4)),
    lambda t: t.fft.fftshift(t.arange(12).view(3, 4), dim=1),
    lambda t: t.fft.ifftshift(t.arange(15).view(3, 5), dim=(0, -1)),
    lambda t: t.fft.ifftshift(t.fft.fftshift(t.arange(15).view(3, 5))),
]


@pytest.mark.parametrize("call", CALLS, ids=range(len(CALLS)))
def test_frequencies(call: Any, real_torch: ModuleType, noted: Any) -> None:
    ours, theirs = ([t.tolist(), str(t.dtype), t.requires_grad] for t in (call(reftorch), call(real_torch)))
    assert ours == noted(theirs)


def test_each_transform_is_a_name_that_says_why_it_does_not_work() -> None:
    for name in reftorch.fft._TRANSFORMS:
        with pytest.raises(NotImplementedError, match=rf"^torch\.fft\.{name} is only a name here: "):
            getattr(reftorch.fft, name)(reftorch.ones(4))
