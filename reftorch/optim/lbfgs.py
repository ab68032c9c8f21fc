"""The optimizer L-BFGS.

Mirrors: torch/optim/lbfgs.py
Leaves out: sparse gradients and complex parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import enable_grad, no_grad
from reftorch.optim.optimizer import Optimizer, _check_lr, _get_value, _to_scalar

__all__ = ["LBFGS"]

# What a step hands to the next one: direction, step length, history of the pairs, first factor of H, gradient and loss.
_MEMORY = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple[Any, Any] | None = None
) -> Any:
    """Return the minimum of the cubic with values ``f1, f2`` and slopes ``g1, g2`` at ``x1, x2``, within bounds.

    Without a minimum, the result is the middle of the bounds, which are ``x1`` and ``x2`` by default.
    """
    low, high = bounds if bounds is not None else (x1, x2) if x1 <= x2 else (x2, x1)
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    d2_square = d1**2 - g1 * g2
    if not d2_square >= 0:
        return (low + high) / 2.0
    d2 = d2_square.sqrt()
    if x1 <= x2:
        minimum = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        minimum = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(minimum, low), high)


def _strong_wolfe(
    obj_func: Callable[[Any, Any, Tensor], tuple[float, Tensor]],
    x: Any,
    t: Any,
    d: Tensor,
    f: float,
    g: Tensor,
    gtd: Tensor,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Tensor, Any, int]:
    r"""Search along the direction ``d`` for a step :math:`t` with the strong Wolfe conditions.

    With :math:`\phi(t) = f(x + t d)`, the conditions are a sufficient decrease of the value and a flat slope:

    .. math::
        \phi(t) \le \phi(0) + c_1 t \phi'(0), \qquad |\phi'(t)| \le c_2 |\phi'(0)|

    The search has two phases. The first one makes the step longer until an interval contains a point with both
    conditions. The second one makes the interval smaller, by the minimum of a cubic through its ends.

    Args:
        obj_func: returns the value and the gradient at ``x + t d``.
        x: the point from which the search starts.
        t: the first step length.
        d: the direction.
        f: the value at ``x``.
        g: the gradient at ``x``.
        gtd: the slope :math:`\phi'(0)`, the product of ``g`` and ``d``.
        c1: :math:`c_1`.
        c2: :math:`c_2`.
        tolerance_change: the length of the interval from which the search gives up.
        max_ls: the largest number of evaluations after the first.

    Returns:
        The value, the gradient, the step length and the number of evaluations.
    """
    d_norm = d.abs().max()
    g = g.clone()
    f_new, g_new = obj_func(x, t, d)
    ls_func_evals = 1
    gtd_new = g_new.dot(d)

    # The first phase: find an interval, the bracket, that contains a point with the strong Wolfe conditions.
    t_prev, f_prev, g_prev, gtd_prev = 0, f, g, gtd
    done = False
    ls_iter = 0
    while ls_iter < max_ls:
        if f_new > (f + c1 * t * gtd) or (ls_iter > 1 and f_new >= f_prev):
            bracket = [t_prev, t]
            bracket_f = [f_prev, f_new]
            bracket_g = [g_prev, g_new.clone()]
            bracket_gtd = [gtd_prev, gtd_new]
            break

        if abs(gtd_new) <= -c2 * gtd:
            bracket, bracket_f, bracket_g = [t], [f_new], [g_new]
            done = True
            break

        if gtd_new >= 0:
            bracket = [t_prev, t]
            bracket_f = [f_prev, f_new]
            bracket_g = [g_prev, g_new.clone()]
            bracket_gtd = [gtd_prev, gtd_new]
            break

        # The slope still goes down: try a longer step.
        min_step = t + 0.01 * (t - t_prev)
        max_step = t * 10
        longer = _cubic_interpolate(t_prev, f_prev, gtd_prev, t, f_new, gtd_new, bounds=(min_step, max_step))
        t_prev, f_prev, g_prev, gtd_prev = t, f_new, g_new.clone(), gtd_new
        t = longer
        f_new, g_new = obj_func(x, t, d)
        ls_func_evals += 1
        gtd_new = g_new.dot(d)
        ls_iter += 1

    if ls_iter == max_ls:
        bracket, bracket_f, bracket_g = [0, t], [f, f_new], [g, g_new]

    # The second phase: make the bracket smaller until one of its points has the conditions.
    insuf_progress = False
    low_pos, high_pos = (0, 1) if bracket_f[0] <= bracket_f[-1] else (1, 0)
    while not done and ls_iter < max_ls:
        if abs(bracket[1] - bracket[0]) * d_norm < tolerance_change:
            break

        t = _cubic_interpolate(
            bracket[0], bracket_f[0], bracket_gtd[0], bracket[1], bracket_f[1], bracket_gtd[1]
        )  # fmt: skip

        # A point too near to an end of the bracket is moved a tenth of the bracket inside, unless the point is the
        # first such and lies within the bracket. Otherwise the bracket could shrink too slowly.
        eps = 0.1 * (max(bracket) - min(bracket))
        if min(max(bracket) - t, t - min(bracket)) < eps:
            if insuf_progress or t >= max(bracket) or t <= min(bracket):
                t = max(bracket) - eps if abs(t - max(bracket)) < abs(t - min(bracket)) else min(bracket) + eps
                insuf_progress = False
            else:
                insuf_progress = True
        else:
            insuf_progress = False

        f_new, g_new = obj_func(x, t, d)
        ls_func_evals += 1
        gtd_new = g_new.dot(d)
        ls_iter += 1

        if f_new > (f + c1 * t * gtd) or f_new >= bracket_f[low_pos]:
            # Not enough decrease, or not the lowest point: the new point becomes the high end.
            bracket[high_pos] = t
            bracket_f[high_pos] = f_new
            bracket_g[high_pos] = g_new.clone()
            bracket_gtd[high_pos] = gtd_new
            low_pos, high_pos = (0, 1) if bracket_f[0] <= bracket_f[1] else (1, 0)
        else:
            if abs(gtd_new) <= -c2 * gtd:
                done = True
            elif gtd_new * (bracket[high_pos] - bracket[low_pos]) >= 0:
                # The minimum lies between the new point and the old low end, which becomes the high end.
                bracket[high_pos] = bracket[low_pos]
                bracket_f[high_pos] = bracket_f[low_pos]
                bracket_g[high_pos] = bracket_g[low_pos]
                bracket_gtd[high_pos] = bracket_gtd[low_pos]
            bracket[low_pos] = t
            bracket_f[low_pos] = f_new
            bracket_g[low_pos] = g_new.clone()
            bracket_gtd[low_pos] = gtd_new

    return bracket_f[low_pos], bracket_g[low_pos], bracket[low_pos], ls_func_evals


class LBFGS(Optimizer):
    r"""A quasi-Newton method: it guesses the curvature from the last gradients, and evaluates the loss several times.

    With all parameters in one vector :math:`x` and the gradient :math:`g`, one iteration is

    .. math::
        d = -H g, \qquad x \leftarrow x + t d

    :math:`H` approximates the inverse of the matrix of second derivatives. It is never stored: the product is computed
    from the last :math:`k` pairs :math:`s = t d` (the change of the parameters) and :math:`y` (the change of the
    gradient) by two loops over the pairs,

    .. math::
        q &\leftarrow -g; \quad \text{newest to oldest: } a_i = \frac{s_i^T q}{y_i^T s_i}, \quad
            q \leftarrow q - a_i y_i \\
        d &\leftarrow \frac{y_k^T s_k}{y_k^T y_k} q; \quad \text{oldest to newest: }
            d \leftarrow d + s_i \Big( a_i - \frac{y_i^T d}{y_i^T s_i} \Big)

    The state takes :math:`2 k + 3` times the memory of the parameters. There is one group of parameters.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: the step length :math:`t`, or the first one that the line search tries (default 1).
        max_iter: the largest number of iterations in one step (default 20).
        max_eval: the largest number of evaluations in one step (default ``max_iter * 5 // 4``).
        tolerance_grad: the largest gradient at which a step ends (default 1e-7).
        tolerance_change: the change of the loss or of the parameters at which a step ends (default 1e-9).
        history_size: the number :math:`k` of pairs (default 100).
        line_search_fn: ``"strong_wolfe"``, or None for the fixed step length (default None).

    Raises:
        ValueError: the learning rate is negative, or there are several groups.
        RuntimeError: in ``step``, ``line_search_fn`` is another string.

    Example:
        >>> w = torch.nn.Parameter(torch.tensor([-1.0, 2.0]))
        >>> optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = (1 - w[0]) ** 2 + 10 * (w[1] - w[0] ** 2) ** 2  # a curved valley with its minimum at (1, 1)
        ...     loss.backward()
        ...     return loss
        >>> for _ in range(3):
        ...     loss = optimizer.step(closure)
        >>> torch.allclose(w, torch.ones(2), atol=1e-3)
        True

    Mirrors torch/optim/lbfgs.py, ``LBFGS``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        _check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    # --- all parameters as one vector -----------------------------------------------------------------------------

    def _gather_flat_grad(self) -> Tensor:
        grads = [p.new_zeros(p.numel()) if p.grad is None else p.grad.reshape(-1) for p in self._params]
        return _VF.cat(grads, 0)

    def _add_grad(self, step_size: Any, update: Tensor) -> None:
        offset = 0
        for p in self._params:
            p.add_(update[offset : offset + p.numel()].view_as(p), alpha=step_size)
            offset += p.numel()

    def _clone_param(self) -> list[Tensor]:
        return [p.clone() for p in self._params]

    def _set_param(self, params_data: list[Tensor]) -> None:
        for p, data in zip(self._params, params_data, strict=True):
            p.copy_(data)

    def _directional_evaluate(
        self, closure: Callable[[], Any], x: list[Tensor], t: Any, d: Tensor
    ) -> tuple[float, Tensor]:
        """Return the loss and the gradient at ``x + t d``, and go back to ``x``."""
        self._add_grad(t, d)
        loss = float(_get_value(closure()))
        flat_grad = self._gather_flat_grad()
        self._set_param(x)
        return loss, flat_grad

    @staticmethod
    def _direction(memory: dict[str, Any], flat_grad: Tensor, history_size: int, al: list[Any]) -> Tensor:
        """Add the last pair to the history in ``memory``, and return the direction that the history gives."""
        old_dirs, old_stps, ro = memory["old_dirs"], memory["old_stps"], memory["ro"]
        y = flat_grad.sub(memory["prev_flat_grad"])
        s = memory["d"].mul(memory["t"])
        ys = y.dot(s)
        if ys > 1e-10:  # otherwise the pair says that the curvature is not positive
            if len(old_dirs) == history_size:
                for history in (old_dirs, old_stps, ro):
                    history.pop(0)
            old_dirs.append(y)
            old_stps.append(s)
            ro.append(1.0 / ys)
            memory["H_diag"] = ys / y.dot(y)

        q = flat_grad.neg()
        for i in range(len(old_dirs) - 1, -1, -1):
            al[i] = old_stps[i].dot(q) * ro[i]
            q.add_(old_dirs[i], alpha=-al[i])
        d = q.mul(memory["H_diag"])
        for i in range(len(old_dirs)):
            be_i = old_dirs[i].dot(d) * ro[i]
            d.add_(old_stps[i], alpha=al[i] - be_i)
        return d

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:
        """Run up to ``max_iter`` iterations.

        Args:
            closure: clears the gradients, computes the loss and its gradients, and returns the loss.

        Returns:
            The loss before the step.

        Mirrors torch/optim/lbfgs.py, ``LBFGS.step``.
        """
        closure = enable_grad()(closure)
        group = self.param_groups[0]
        lr = _to_scalar(group["lr"])
        max_iter, max_eval = group["max_iter"], group["max_eval"]
        tolerance_grad, tolerance_change = group["tolerance_grad"], group["tolerance_change"]
        line_search_fn = group["line_search_fn"]

        # The state of all parameters is kept under the first one. What a step hands to the next one is written there
        # at the end.
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        orig_loss = closure()
        loss = float(_get_value(orig_loss))
        current_evals = 1
        state["func_evals"] += 1
        flat_grad = self._gather_flat_grad()
        if flat_grad.abs().max() <= tolerance_grad:
            return orig_loss

        memory = {name: state.get(name) for name in _MEMORY}
        n_iter = 0
        while n_iter < max_iter:
            n_iter += 1
            state["n_iter"] += 1

            if state["n_iter"] == 1:
                d = flat_grad.neg()
                memory.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            else:
                al = state.setdefault("al", [None] * group["history_size"])
                d = self._direction(memory, flat_grad, group["history_size"], al)
            prev_loss = loss
            memory.update(d=d, prev_flat_grad=flat_grad.clone(), prev_loss=loss)
            # The first direction is the gradient itself, whose length says nothing about a good step.
            t = min(1.0, 1.0 / flat_grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            memory["t"] = t

            gtd = flat_grad.dot(d)
            if gtd > -tolerance_change:
                break  # the direction does not go down

            ls_func_evals = 0
            flat = False
            if line_search_fn is not None:
                if line_search_fn != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                loss, flat_grad, t, ls_func_evals = _strong_wolfe(
                    lambda x, t, d: self._directional_evaluate(closure, x, t, d),
                    self._clone_param(),
                    t,
                    d,
                    loss,
                    flat_grad,
                    gtd,
                    max_ls=max_eval - current_evals,
                )
                memory["t"] = t
                self._add_grad(t, d)
                flat = bool(flat_grad.abs().max() <= tolerance_grad)
            else:
                self._add_grad(t, d)
                if n_iter != max_iter:  # the gradient after the last iteration is for the next step to compute
                    loss = float(_get_value(closure()))
                    flat_grad = self._gather_flat_grad()
                    flat = bool(flat_grad.abs().max() <= tolerance_grad)
                    ls_func_evals = 1

            current_evals += ls_func_evals
            state["func_evals"] += ls_func_evals

            if n_iter == max_iter or current_evals >= max_eval or flat:
                break
            if d.mul(t).abs().max() <= tolerance_change or abs(loss - prev_loss) < tolerance_change:
                break

        state.update(memory)
        return orig_loss
