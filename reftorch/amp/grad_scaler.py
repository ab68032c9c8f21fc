"""Losses that are scaled up, so that small gradients in float16 do not become zero.

A training step multiplies the loss by a scale before the backward pass and divides the gradients by it before the
optimizer's step. If a gradient is infinite or NaN, the scale was too large: the step is left out and the scale becomes
smaller. After many good steps, the scale becomes larger.

Mirrors: torch/amp/grad_scaler.py, aten/src/ATen/native/cuda/AmpKernels.cu
Leaves out: copies of the scale for several devices; sparse gradients.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.amp.autocast_mode import _has_cuda_devices
from reftorch.autograd.grad_mode import no_grad

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """What a scaler has done with an optimizer since the last :meth:`GradScaler.update`.

    Mirrors torch/amp/grad_scaler.py, ``OptState``.
    """

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


def _amp_foreach_non_finite_check_and_unscale_(grads: list[Tensor], found_inf: Tensor, inv_scale: Tensor) -> None:
    """Set ``found_inf`` to 1 if an element is infinite or NaN, and multiply the gradients by ``inv_scale``."""
    for grad in grads:
        if grad.is_cuda:  # the program does not wait for the device, and a graph can record the question
            found_inf.copy_(_VF.maximum(found_inf, grad.isfinite().all().logical_not().to(found_inf.dtype)))
        elif not bool(grad.isfinite().all()):
            found_inf.fill_(1.0)
        grad.mul_(inv_scale)


class GradScaler:
    """Scales losses, unscales gradients, and leaves out the steps whose gradients overflowed.

    Args:
        device: the type of the device, ``"cpu"`` or ``"cuda"``. Without CUDA devices, ``"cuda"`` disables the scaler
            with a warning.
        init_scale: the first scale.
        growth_factor: the scale is multiplied by this number after ``growth_interval`` steps without an overflow.
        backoff_factor: the scale is multiplied by this number after a step with an overflow.
        growth_interval: the number of steps after which the scale grows.
        enabled: if False, :meth:`step` calls the optimizer and the other methods do nothing.

    Raises:
        AssertionError: ``growth_factor`` is not above 1, or ``backoff_factor`` not below 1.

    Example:
        >>> layer = torch.nn.Linear(2, 1)
        >>> optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        >>> scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        >>> with torch.autocast("cpu", dtype=torch.float16):
        ...     loss = layer(torch.ones(3, 2)).square().mean()
        >>> scaler.scale(loss).backward()
        >>> _ = scaler.step(optimizer)
        >>> scaler.update()
        >>> scaler.get_scale()
        1024.0

    Mirrors torch/amp/grad_scaler.py, ``GradScaler``.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda" and not _has_cuda_devices():
            warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
            self._init_scale = init_scale
            self._scale: Tensor | None = None  # made by the first scale(), on the device of the loss
            self._growth_factor = growth_factor
            self._backoff_factor = backoff_factor
            self._growth_interval = growth_interval
            self._init_growth_tracker = 0
            self._growth_tracker: Tensor | None = None  # the number of good steps since the scale changed
            self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_refresh_per_optimizer_state)

    def _check_scale_growth_tracker(self, funcname: str) -> tuple[Tensor, Tensor]:
        fix = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
        if self._scale is None:
            raise AssertionError(f"Attempted {funcname} but _scale is None.  " + fix)
        if self._growth_tracker is None:
            raise AssertionError(f"Attempted {funcname} but _growth_tracker is None.  " + fix)
        return self._scale, self._growth_tracker

    def _lazy_init_scale_growth_tracker(self, dev: Any) -> Tensor:
        if self._growth_tracker is not None:
            raise AssertionError("_growth_tracker initialized before _scale")
        self._scale = _VF.full((), self._init_scale, dtype=_C.float32, device=dev)
        self._growth_tracker = _VF.full((), self._init_growth_tracker, dtype=_C.int32, device=dev)
        return self._scale

    def scale(self, outputs: Any) -> Any:
        """Multiply a tensor, or the tensors of nested iterables, by the scale.

        Raises:
            ValueError: ``outputs`` is neither a tensor nor an iterable.

        Mirrors torch/amp/grad_scaler.py, ``GradScaler.scale``.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            scale = self._lazy_init_scale_growth_tracker(outputs.device) if self._scale is None else self._scale
            return outputs * scale.to(outputs.device)
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, list | tuple) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _unscale_grads_(
        self, optimizer: Any, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[Any, Tensor]:
        grads_of_device: dict[Any, list[Tensor]] = defaultdict(list)
        found: dict[Any, Tensor] = {}
        with no_grad():
            for group in optimizer.param_groups:
                for param in group["params"]:
                    if not isinstance(param, Tensor):
                        raise AssertionError(f"expected param to be torch.Tensor, got {type(param).__name__}")
                    if param.grad is None:
                        continue
                    if not allow_fp16 and param.grad.dtype == _C.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    grads_of_device[param.grad.device].append(param.grad)
            for device, grads in grads_of_device.items():
                found[device] = found_inf.to(device, copy=True)
                _amp_foreach_non_finite_check_and_unscale_(grads, found[device], inv_scale.to(device))
        return found

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer by the scale, for example in order to clip them before :meth:`step`.

        Raises:
            AssertionError: nothing has been scaled.
            RuntimeError: the gradients were unscaled, or the optimizer stepped, since the last :meth:`update`.
            ValueError: a gradient is in float16, where the unscaled numbers would vanish.

        Mirrors torch/amp/grad_scaler.py, ``GradScaler.unscale_``.
        """
        if not self._enabled:
            return
        scale, _ = self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inv_scale = scale.double().reciprocal().float()
        found_inf = _VF.full((), 0.0, dtype=_C.float32, device=scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inv_scale, found_inf, False)
        state["stage"] = OptState.UNSCALED

    def _maybe_opt_step(self, optimizer: Any, optimizer_state: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        if not sum(v.item() for v in optimizer_state["found_inf_per_device"].values()):
            return optimizer.step(*args, **kwargs)
        return None

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale the gradients, unless :meth:`unscale_` did, and call ``optimizer.step`` if all of them are finite.

        Returns:
            The result of ``optimizer.step(*args, **kwargs)``; None if the step was left out.

        Raises:
            RuntimeError: a closure is given, or the optimizer stepped since the last :meth:`update`.
            AssertionError: nothing has been scaled, or the optimizer has no gradients.

        Mirrors torch/amp/grad_scaler.py, ``GradScaler.step``.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            return self._step_of_scaling_optimizer(optimizer, state, *args, **kwargs)
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if len(state["found_inf_per_device"]) == 0:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _step_of_scaling_optimizer(self, optimizer: Any, state: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Call the step of an optimizer that unscales its gradients itself, as PyTorch's fused ones do."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warn(
                "GradScaler is going to stop passing itself as a keyword argument to the passed "
                "optimizer. In the near future GradScaler registers `grad_scale: Tensor` and "
                "`found_inf: Tensor` to the passed optimizer and let the optimizer use them directly.",
                FutureWarning,
            )
            result = optimizer.step(*args, **kwargs, grad_scaler=self)
            state["stage"] = OptState.STEPPED
            return result
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        scale, _ = self._check_scale_growth_tracker("step")
        is_unscaled = state["stage"] is OptState.UNSCALED
        given = getattr(optimizer, "grad_scale", None)
        optimizer.grad_scale = given if is_unscaled else scale * (1 if given is None else given)
        optimizer.found_inf = sum(t.to(scale.device) for t in state["found_inf_per_device"].values())
        result = optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        del optimizer.grad_scale, optimizer.found_inf
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Change the scale at the end of an iteration, after the steps of all optimizers.

        Args:
            new_scale: the new scale, a float or a tensor with one element; by default the scale follows from the steps.

        Raises:
            AssertionError: nothing has been scaled, no optimizer stepped, or the tensor is not fit to be a scale.

        Mirrors torch/amp/grad_scaler.py, ``GradScaler.update``.
        """
        if not self._enabled:
            return
        scale, growth_tracker = self._check_scale_growth_tracker("update")
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
        elif new_scale is not None:
            reason = (
                "new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
                "torch.FloatTensor with requires_grad=False."
            )
            if new_scale.device.type != self._device or new_scale.numel() != 1 or new_scale.requires_grad:
                raise AssertionError(reason)
            scale.copy_(new_scale)
        else:
            found_infs = [
                found.to(scale.device)
                for state in self._per_optimizer_states.values()
                for found in state["found_inf_per_device"].values()
            ]
            if len(found_infs) == 0:
                raise AssertionError("No inf checks were recorded prior to update.")
            total = found_infs[0]
            for found in found_infs[1:]:
                total = total + found
            if scale.is_cuda:
                self._amp_update_scale_on_device_(scale, growth_tracker, total)
            else:
                self._amp_update_scale_(scale, growth_tracker, bool(total))
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _amp_update_scale_(self, scale: Tensor, growth_tracker: Tensor, found_inf: bool) -> None:
        if found_inf:
            scale.mul_(self._backoff_factor)
            growth_tracker.fill_(0)
            return
        growth_tracker.add_(1)
        if growth_tracker.item() == self._growth_interval:
            grown = scale * self._growth_factor
            if bool(grown.isfinite()):  # the scale itself must not overflow
                scale.copy_(grown)
            growth_tracker.fill_(0)

    def _amp_update_scale_on_device_(self, scale: Tensor, growth_tracker: Tensor, found_inf: Tensor) -> None:
        """Do what the function above does, without a question to the device, so that a graph can record the update."""
        overflowed = found_inf.view(()) > 0
        successes = growth_tracker + 1
        is_due = (successes == self._growth_interval).logical_and(overflowed.logical_not())
        grown = scale * self._growth_factor
        grows = is_due.logical_and(grown.isfinite())
        scale.copy_(_VF.where(overflowed, scale * self._backoff_factor, _VF.where(grows, grown, scale)))
        growth_tracker.copy_(_VF.where(overflowed.logical_or(is_due), _VF.zeros_like(successes), successes))

    def _get_scale_async(self) -> Tensor | None:
        return self._scale

    def get_scale(self) -> float:
        """Return the scale; 1.0 if the scaler is disabled.

        Mirrors torch/amp/grad_scaler.py, ``GradScaler.get_scale``.
        """
        if not self._enabled:
            return 1.0
        scale = self._get_scale_async()
        return self._init_scale if scale is None else float(scale.item())

    def get_growth_factor(self) -> float:
        """Return the factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the factor by which the scale becomes smaller."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale becomes smaller."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return the number of good steps after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of good steps after which the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def is_enabled(self) -> bool:
        """Return whether the scaler does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Return the state as numbers, for a checkpoint after :meth:`update`; empty if the scaler is disabled.

        Mirrors torch/amp/grad_scaler.py, ``GradScaler.state_dict``.
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state that :meth:`state_dict` returned. A disabled scaler does nothing.

        Raises:
            RuntimeError: the state is empty.

        Mirrors torch/amp/grad_scaler.py, ``GradScaler.load_state_dict``.
        """
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if len(self._per_optimizer_states) != 0:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning "
                    "of an iteration, or at the end after scaler.update()."
                )
            # The scale is made anew, on the device of the first loss after unpickling.
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _check_inf_per_device(self, optimizer: Any) -> dict[Any, Tensor]:
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        state = self._per_optimizer_states[id(optimizer)]
        one = _VF.full((), 1.0, dtype=_C.float32, device=scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, one, _VF.zeros_like(one), True)
        return state["found_inf_per_device"]

    def _found_inf_per_device(self, optimizer: Any) -> dict[Any, Tensor]:
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
