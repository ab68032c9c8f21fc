"""Resize.

Mirrors: test/test_autograd.py
"""

import pytest

import reftorch as torch
from reftorch.autograd._functions import Resize


def test_resize():
    x = torch.arange(6.0).requires_grad_()
    for source in (x, x.view(2, 3).t()):
        y = Resize.apply(source, (3, 2))
        assert torch.equal(y, source.reshape(3, 2))
    (grad,) = torch.autograd.grad(Resize.apply(x, (2, 3)), x, torch.arange(6.0).view(2, 3))
    assert torch.equal(grad, torch.arange(6.0))
    with pytest.raises(RuntimeError, match=r"requested resize to 2x2 \(4 elements in total\)"):
        Resize.apply(x, (2, 2))
