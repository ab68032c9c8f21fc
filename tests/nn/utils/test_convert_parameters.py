"""Parameters as one vector.

Mirrors: test/test_nn.py, its tests of ``parameters_to_vector`` and ``vector_to_parameters``
Leaves out: parameters on several devices.
"""

import pytest

import reftorch
from reftorch.nn.utils import parameters_to_vector, vector_to_parameters


def test_there_and_back() -> None:
    source, target = reftorch.nn.Linear(3, 2), reftorch.nn.Linear(3, 2)
    vec = parameters_to_vector(source.parameters())
    assert vec.shape == (8,)
    vector_to_parameters(vec.detach(), target.parameters())
    assert target.weight.tolist() == source.weight.tolist()
    assert target.bias.tolist() == source.bias.tolist()
    assert target.weight.requires_grad


def test_parameters_share_the_storage_of_the_vector() -> None:
    layer, vec = reftorch.nn.Linear(2, 1, bias=False), reftorch.zeros(2)
    vector_to_parameters(vec, layer.parameters())
    vec[1] = 5.0
    assert layer.weight.tolist() == [[0.0, 5.0]]


def test_the_vector_is_differentiable_in_the_parameters() -> None:
    layer = reftorch.nn.Linear(2, 1)
    (parameters_to_vector(layer.parameters()) * reftorch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert layer.weight.grad.tolist() == [[1.0, 2.0]]
    assert layer.bias.grad.tolist() == [3.0]


def test_a_list_is_no_vector() -> None:
    with pytest.raises(TypeError, match=r"expected torch\.Tensor, but got: list"):
        vector_to_parameters([1.0], reftorch.nn.Linear(1, 1).parameters())
