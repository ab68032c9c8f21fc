"""Parameters and buffers as tensors.

Mirrors: test/test_nn.py, its tests of ``Parameter`` and ``Buffer``
Leaves out: lazy parameters and pickling.
"""

import copy

import pytest

import reftorch
from reftorch.nn import Buffer, Parameter


def test_a_parameter_shares_its_storage_and_is_a_leaf() -> None:
    x = reftorch.ones(3)
    p = Parameter(x)
    assert isinstance(p, reftorch.Tensor)
    assert type(p) is Parameter
    assert p.data_ptr() == x.data_ptr()
    assert p.requires_grad
    assert p.is_leaf
    assert not x.requires_grad


def test_a_parameter_without_gradient() -> None:
    assert not Parameter(reftorch.ones(3), requires_grad=False).requires_grad
    assert Parameter(reftorch.arange(3), requires_grad=False).dtype is reftorch.int64


def test_a_parameter_of_integers_cannot_require_grad() -> None:
    with pytest.raises(RuntimeError, match="floating point"):
        Parameter(reftorch.arange(3))


def test_an_empty_parameter() -> None:
    assert Parameter().shape == (0,)


def test_arithmetic_gives_plain_tensors_and_the_gradient_comes_back_to_the_same_object() -> None:
    p = Parameter(reftorch.ones(3))
    y = p * 2
    assert type(y) is reftorch.Tensor
    assert type(p.detach()) is reftorch.Tensor
    y.sum().backward()
    assert p.grad.tolist() == [2.0, 2.0, 2.0]
    assert p.grad is p.grad


def test_a_parameter_of_a_subclass_keeps_the_subclass() -> None:
    class Weight(reftorch.Tensor):
        def detach(self) -> "Weight":
            return reftorch.Tensor._make_subclass(Weight, super().detach())

    p = Parameter(reftorch.Tensor._make_subclass(Weight, reftorch.ones(2)))
    assert type(p) is Weight
    assert isinstance(p, Parameter)
    module = reftorch.nn.Module()
    module.weight = p
    assert next(module.parameters()) is p
    assert not isinstance(reftorch.ones(2), Parameter)


def test_deepcopy_copies_data_and_keeps_identities() -> None:
    p = Parameter(reftorch.ones(2), requires_grad=False)
    a, b = copy.deepcopy([p, p])
    assert a is b
    assert type(a) is Parameter
    assert not a.requires_grad
    a.fill_(5.0)
    assert p.tolist() == [1.0, 1.0]


def test_repr() -> None:
    assert repr(Parameter(reftorch.ones(2))) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"


def test_a_buffer_is_a_plain_tensor_with_a_mark() -> None:
    b = Buffer(reftorch.ones(2), persistent=False)
    assert type(b) is reftorch.Tensor
    assert isinstance(b, Buffer)
    assert not isinstance(b, Parameter)
    assert not b.persistent
    assert not isinstance(reftorch.ones(2), Buffer)
