"""The functions of ``torch.func`` at the place where programs of functorch imported them.

Mirrors: torch/_functorch/deprecated.py
Leaves out: the warnings, and ``combine_state_for_ensemble`` and ``make_functional``.
"""

from reftorch._functorch.apis import grad, grad_and_value
from reftorch._functorch.eager_transforms import functionalize, jvp, vjp
from reftorch._functorch.jacobians import hessian, jacfwd, jacrev
from reftorch._functorch.vmap import vmap

__all__ = ["functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp", "vmap"]
