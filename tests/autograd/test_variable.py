"""The old name of a tensor.

Mirrors: test/test_autograd.py
"""

import pytest

import reftorch as torch
from tests.autograd.programs import assert_same


def variable(lib):
    v = lib.autograd.Variable(lib.ones(2), requires_grad=True)
    return (
        v.requires_grad,
        isinstance(v, lib.autograd.Variable),
        isinstance(3, lib.autograd.Variable),
        isinstance(v, lib.autograd.variable.Variable),
    )


PROGRAMS = [variable]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_as_torch(program, real_torch):
    assert_same(program, torch, real_torch)


def test_wrong_use():
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got int"):
        torch.autograd.Variable(3)
    with pytest.raises(ValueError, match="volatile is no longer supported"):
        torch.autograd.Variable(torch.ones(1), volatile=True)
