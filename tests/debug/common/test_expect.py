"""What the tools for models say of what they cannot work on.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import reftorch as torch
from reftorch.debug import check_gradients, compare, draw_graph, find_nan, memory_snapshot, record_tensors, summary
from tests.debug.models import nested, numbers


@pytest.mark.parametrize("tool", [summary, record_tensors, check_gradients, find_nan])
def test_a_tensor_is_no_model(tool: Callable[[object], object]) -> None:
    with pytest.raises(TypeError, match=rf"^{tool.__name__}: expected a module, got a Tensor\. Hint: "):
        tool(torch.ones(2))


def test_a_model_and_its_output_have_no_graph_of_their_own() -> None:
    with pytest.raises(TypeError, match=r"draw_graph: expected a tensor, got a Net\. Hint: draw_graph\(loss\)"):
        draw_graph(nested())
    with pytest.raises(TypeError, match=r"got a dict of 'y', 'parts'\. "):
        draw_graph(nested().a(numbers(), scale=torch.ones(3)))


def test_what_has_no_state_is_not_compared() -> None:
    with pytest.raises(TypeError, match=r"got a Tensor\. Hint: two tensors are compare\(\{'x': a\}, \{'x': b\}\)"):
        compare(torch.ones(1), torch.ones(1))
    with pytest.raises(TypeError, match=r"got an int\. Hint: mappings go from names to tensors"):
        compare(nested(), 3)


def test_a_loss_is_one_number() -> None:
    model, x = nested(), numbers()
    for tool, arguments in ((check_gradients, (model, x)), (compare, (model, model, x))):
        with pytest.raises(ValueError, match=rf"{tool.__name__}: .*must be a single number, got the shape \(2, 1\)"):
            tool(*arguments, loss=lambda output: output)
        with pytest.raises(TypeError, match=rf"{tool.__name__}: the loss must be a tensor, got a float"):
            tool(*arguments, loss=lambda output: output.sum().item())


def test_a_snapshot_differs_from_a_snapshot() -> None:
    with pytest.raises(TypeError, match="expected another snapshot, got an int"):
        memory_snapshot().diff(3)
