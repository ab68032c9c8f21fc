r"""Transforms of functions: each takes a function and returns a function, and transforms nest in any order.

The example computes the squared Frobenius norm of a Jacobian, :math:`\|J\|_F^2 = \sum_i \|e_i^\top J\|^2`, in three
ways. The first takes a backward pass for each row:

    >>> from reftorch.func import vjp, vmap
    >>> weight = torch.arange(12.0).view(4, 3).sin()
    >>> def f(x):
    ...     return torch.tanh(weight @ x) * x.prod()
    >>> output, pull_back = vjp(f, torch.tensor([0.5, -1.0, 2.0]))
    >>> by_rows = sum(pull_back(row)[0].square().sum() for row in torch.eye(4))

The second takes all rows in one batched pass:

    >>> (rows,) = vmap(pull_back)(torch.eye(4))
    >>> torch.allclose(rows.square().sum(), by_rows)
    True

The third is a mean over random signs :math:`v`, because :math:`E \|v^\top J\|^2 = \|J\|_F^2`; the number of passes does
not depend on the number of rows:

    >>> _ = torch.manual_seed(0)
    >>> signs = torch.randint(0, 2, (20000, 4)) * 2.0 - 1.0
    >>> (samples,) = vmap(pull_back)(signs)
    >>> torch.allclose(samples.square().sum(1).mean(), by_rows, rtol=0.02)
    True

Mirrors: torch/func/__init__.py
"""

from reftorch import _places
from reftorch._functorch import autograd_function  # noqa: F401  it says what a custom Function does
from reftorch._functorch.apis import grad, grad_and_value
from reftorch._functorch.batch_norm_replacement import replace_all_batch_norm_modules_
from reftorch._functorch.eager_transforms import (
    debug_unwrap,
    functionalize,
    jvp,
    linearize,
    vjp,
)
from reftorch._functorch.functional_call import functional_call, stack_module_state
from reftorch._functorch.jacobians import hessian, jacfwd, jacrev
from reftorch._functorch.rearrange import rearrange
from reftorch._functorch.vmap import vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]

_places.adopt(__name__, __all__, globals())
