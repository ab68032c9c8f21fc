"""The ops that programs call, forward and backward, as a TorchDispatchMode sees them: the names in order, beside torch.

A program that calls other ops than torch's says why in DIFFERENT. A reason that no longer holds fails too.

Mirrors: nothing in PyTorch: it has no second implementation to compare with
"""

import importlib
import math
from collections.abc import Callable
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def called_ops(lib: Any, name: str) -> list[str]:
    """The names of the ops that the program calls: ``add.Tensor``."""
    base = importlib.import_module(f"{lib.__name__}.utils._python_dispatch").TorchDispatchMode
    names: list[str] = []

    class Log(base):
        def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
            names.append(str(func).removeprefix("aten.").removesuffix(".default"))
            return func(*args, **(kwargs or {}))

    run = PROGRAMS[name](lib)  # makes its arguments outside of the mode
    with Log():
        run()
    return names


def leaf(t: Any, *sizes: int) -> Any:
    values = t.linspace(0.1, 0.9, math.prod(sizes), dtype=t.float32)
    return values.reshape(sizes).clone().requires_grad_()


def constructor(name: str, function: Callable[[Any], Any]) -> None:
    PROGRAMS[name] = lambda t: lambda: function(t)


def change(name: str, function: Callable[[Any, Any], Any]) -> None:
    """A program on a tensor of three ones."""

    def make(t: Any) -> Any:
        x = t.ones(3)
        return lambda: function(t, x)

    PROGRAMS[name] = make


def gradient(name: str, sizes: list[tuple[int, ...]], function: Callable[..., Any]) -> None:
    """A function of leaves, and the gradient of the sum of its result."""

    def make(t: Any) -> Any:
        leaves = [leaf(t, *size) for size in sizes]

        def run() -> None:
            result = function(t, *leaves)
            (result.sum() if result.dim() > 0 else result).backward()

        return run

    PROGRAMS[name] = make


# --- tensors of Python data -------------------------------------------------------------------------------------------

constructor("tensor", lambda t: t.tensor([1.0, 2.0]))
constructor("tensor of a number", lambda t: t.tensor(1.0))
constructor("tensor that requires grad", lambda t: t.tensor([1.0], requires_grad=True))
constructor("as_tensor", lambda t: t.as_tensor([1.0, 2.0]))
constructor("from_numpy", lambda t: t.from_numpy(importlib.import_module("numpy").ones(2)))
constructor("Tensor", lambda t: t.Tensor([1.0, 2.0]))
constructor("zeros", lambda t: t.zeros(2))
constructor("full", lambda t: t.full((2,), 1.0))
constructor("arange", lambda t: t.arange(2))
constructor("randn", lambda t: t.randn(2))
change("new_tensor", lambda t, x: x.new_tensor([1.0]))
change("tensor of a tensor", lambda t, x: t.tensor(x))
change("ones_like", lambda t, x: t.ones_like(x))
change("set item by a number", lambda t, x: x.__setitem__(0, 2.0))
change("set slice by a number", lambda t, x: x.__setitem__(slice(0, 2), 2.0))
change("set all by a number", lambda t, x: x.__setitem__(..., 2.0))
change("set by a list", lambda t, x: x.__setitem__([0, 1], 2.0))
change("set by a mask", lambda t, x: x.__setitem__(x > 0, 2.0))
change("set by a tensor", lambda t, x: x.__setitem__(slice(0, 2), t.zeros(2)))
change("get by a list", lambda t, x: x[[0, 1]])
change("get item", lambda t, x: x[0])
change("get all", lambda t, x: x[...])
change("allclose", lambda t, x: t.allclose(x, x))
change("tolist", lambda t, x: x.tolist())
change("iterate", lambda t, x: list(x))

# --- gradients --------------------------------------------------------------------------------------------------------

gradient("add", [(3,), (3,)], lambda t, a, b: a + b)
gradient("add a number", [(3,)], lambda t, a: a + 1)
gradient("sub", [(3,), (3,)], lambda t, a, b: a - b)
gradient("subtract from a number", [(3,)], lambda t, a: 1 - a)
gradient("mul", [(3,), (3,)], lambda t, a, b: a * b)
gradient("mul, broadcast", [(2, 3), (3,)], lambda t, a, b: a * b)
gradient("mul by a number", [(3,)], lambda t, a: a * 2)
gradient("div", [(3,), (3,)], lambda t, a, b: a / b)
gradient("div by a number", [(3,)], lambda t, a: a / 2)
gradient("pow", [(3,)], lambda t, a: a**2)
gradient("neg", [(3,)], lambda t, a: -a)
gradient("sqrt", [(3,)], lambda t, a: a.sqrt())
for _name in ("exp", "log", "sin", "cos", "tanh", "sigmoid", "relu", "abs"):
    gradient(_name, [(3,)], lambda t, a, name=_name: getattr(a, name)())
for _name in ("gelu", "silu", "softplus", "leaky_relu", "elu"):
    gradient(_name, [(3,)], lambda t, a, name=_name: getattr(t.nn.functional, name)(a))
gradient("clamp", [(3,)], lambda t, a: a.clamp(0.2, 0.5))
gradient("maximum", [(3,), (3,)], lambda t, a, b: t.maximum(a, b))
gradient("where", [(3,), (3,)], lambda t, a, b: t.where(a > 0, a, b))
gradient("sum over a dimension", [(2, 3)], lambda t, a: a.sum(0))
gradient("mean", [(2, 3)], lambda t, a: a.mean())
gradient("mean over a dimension", [(2, 3)], lambda t, a: a.mean(0))
gradient("var", [(2, 3)], lambda t, a: a.var())
gradient("max", [(2, 3)], lambda t, a: a.max(0)[0])
gradient("amax", [(2, 3)], lambda t, a: a.amax(0))
gradient("logsumexp", [(2, 3)], lambda t, a: a.logsumexp(0))
gradient("cumsum", [(3,)], lambda t, a: a.cumsum(0))
gradient("softmax", [(2, 3)], lambda t, a: a.softmax(1))
gradient("log_softmax", [(2, 3)], lambda t, a: a.log_softmax(1))
gradient("mm", [(2, 3), (3, 2)], lambda t, a, b: a @ b)
gradient("mv", [(2, 3), (3,)], lambda t, a, b: a @ b)
gradient("dot", [(3,), (3,)], lambda t, a, b: a.dot(b))
gradient("bmm", [(2, 2, 3), (2, 3, 2)], lambda t, a, b: a.bmm(b))
gradient("matmul", [(2, 2, 3), (3, 2)], lambda t, a, b: a @ b)
gradient("linear", [(2, 3), (2, 3), (2,)], lambda t, a, b, c: t.nn.functional.linear(a, b, c))
gradient("addmm", [(2,), (2, 3), (3, 2)], lambda t, a, b, c: t.addmm(a, b, c))
gradient("einsum", [(2, 3), (3, 2)], lambda t, a, b: t.einsum("ij,jk->ik", a, b))
gradient("outer", [(2,), (3,)], lambda t, a, b: t.outer(a, b))
gradient("transpose", [(2, 3)], lambda t, a: a.transpose(0, 1))
gradient("permute", [(2, 3)], lambda t, a: a.permute(1, 0))
gradient("view", [(2, 3)], lambda t, a: a.view(6))
gradient("reshape", [(2, 3)], lambda t, a: a.t().reshape(6))
gradient("expand", [(3,)], lambda t, a: a.expand(2, 3))
gradient("squeeze", [(1, 3)], lambda t, a: a.squeeze(0))
gradient("unsqueeze", [(3,)], lambda t, a: a.unsqueeze(0))
gradient("select", [(2, 3)], lambda t, a: a[0])
gradient("slice", [(4,)], lambda t, a: a[1:3])
gradient("index_select", [(4,)], lambda t, a: a.index_select(0, t.arange(2)))
gradient("gather", [(4,)], lambda t, a: a.gather(0, t.arange(2)))
gradient("index", [(4,)], lambda t, a: a[t.arange(2)])
gradient("cat", [(2,), (2,)], lambda t, a, b: t.cat([a, b]))
gradient("stack", [(2,), (2,)], lambda t, a, b: t.stack([a, b]))
gradient("split", [(4,)], lambda t, a: a.split(2)[0])
gradient("unbind", [(2, 2)], lambda t, a: a.unbind(0)[0])
gradient("masked_fill", [(3,)], lambda t, a: a.masked_fill(a > 0.5, 0.0))
gradient("repeat", [(3,)], lambda t, a: a.repeat(2))
gradient("flip", [(3,)], lambda t, a: a.flip(0))
gradient("sort", [(3,)], lambda t, a: a.sort()[0])
gradient("tril", [(2, 2)], lambda t, a: a.tril())
gradient("diagonal", [(2, 2)], lambda t, a: a.diagonal())
gradient("to", [(3,)], lambda t, a: a.double())
gradient("mse_loss", [(3,), (3,)], lambda t, a, b: t.nn.functional.mse_loss(a, b.detach()))
gradient("l1_loss", [(3,), (3,)], lambda t, a, b: t.nn.functional.l1_loss(a, b.detach()))
gradient("smooth_l1_loss", [(3,), (3,)], lambda t, a, b: t.nn.functional.smooth_l1_loss(a, b.detach()))
gradient("cross_entropy", [(2, 3)], lambda t, a: t.nn.functional.cross_entropy(a, t.arange(2)))
gradient("layer_norm", [(2, 3), (3,), (3,)], lambda t, a, b, c: t.nn.functional.layer_norm(a, (3,), b, c))
gradient("embedding", [(4, 3)], lambda t, a: t.nn.functional.embedding(t.arange(2), a))
gradient("mul_", [(3,)], lambda t, a: (a * 1).mul_(2))
gradient("copy_", [(3,)], lambda t, a: t.ones(3).copy_(a))
gradient("solve", [(2, 2), (2,)], lambda t, a, b: t.linalg.solve(a + t.eye(2), b))
gradient("used twice", [(3,)], lambda t, a: a * a + a.sin())

NUMBER = "a number is a wrapped tensor here; mul, div and sub have no overload Scalar"
ORDER = "torch's C++ evaluates the factors of the formula in another order"
DIFFERENT = {
    "set item by a number": "torch copies where the element and the number have one shape; fill_ is quicker here",
    "set by a list": "the number is cast to the dtype of the tensor by an op; torch makes it in that dtype",
    "set by a mask": "the number is cast to the dtype of the tensor by an op; torch makes it in that dtype",
    "allclose": "an op made of others here",
    "div": ORDER,
    "pow": NUMBER,
    "sqrt": NUMBER,
    "mean": NUMBER,
    "mean over a dimension": NUMBER,
    "var": NUMBER,
    "l1_loss": NUMBER,
    "clamp": "two where instead of one where with two masks and a 0 of its own",
    "maximum": "ties are halved by where instead of masked_fill_",
    "where": "torch makes its 0 by scalar_tensor",
    "amax": "ties are counted for nan too",
    "stack": "one unbind instead of a select for each tensor",
    "unbind": "undefined gradients are zeros at once, without expand",
    "repeat": "the engine reduces a gradient by sum and view",
    "cross_entropy": "the total weight is detached when it is saved and when it is unpacked",
    "solve": "the check for singular matrices is made of other ops",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_ops_of_a_program(name: str, real_torch: Any) -> None:
    ours, theirs = called_ops(reftorch, name), asked(real_torch, lambda lib: called_ops(lib, name))
    assert (ours != theirs) == (name in DIFFERENT), f"{ours}\n{theirs}"
