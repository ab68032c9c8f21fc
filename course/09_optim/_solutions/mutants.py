"""Wrong answers to the exercises of chapter 09: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.
"""


# %% exercise="09.1" role="mutant" why="forgets what options add"
def tensors_kept() -> dict[str, int]:
    return {"SGD": 0, "momentum": 1, "Adagrad": 1, "RMSprop": 1, "Adam": 2, "AMSGrad": 2}


# %% exercise="09.1" role="mutant" why="counts the number of steps as a tensor"
def tensors_kept() -> dict[str, int]:
    return {"SGD": 0, "momentum": 1, "Adagrad": 2, "RMSprop": 4, "Adam": 3, "AMSGrad": 4}


# %% exercise="09.2" role="mutant" why="goes by names"
def groups_of(model, weight_decay) -> list[dict]:
    trained = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    return [
        {"params": [parameter for name, parameter in trained if "weight" in name], "weight_decay": weight_decay},
        {"params": [parameter for name, parameter in trained if "weight" not in name], "weight_decay": 0.0},
    ]


# %% exercise="09.2" role="mutant" why="frozen parameters take part"
def groups_of(model, weight_decay) -> list[dict]:
    groups = [
        {"params": [parameter for parameter in model.parameters() if parameter.dim() >= 2]},
        {"params": [parameter for parameter in model.parameters() if parameter.dim() < 2], "weight_decay": 0.0},
    ]
    groups[0]["weight_decay"] = weight_decay
    return [group for group in groups if group["params"]]


# %% exercise="09.2" role="mutant" why="walks over modules, so a tied parameter comes twice"
def groups_of(model, weight_decay) -> list[dict]:
    own = [p for module in model.modules() for p in module.parameters(recurse=False) if p.requires_grad]
    groups = [
        {"params": [p for p in own if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in own if p.dim() < 2], "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


# %% exercise="09.3" role="mutant" why="the schedulers act one step later, and the first step is forgotten"
def rates() -> dict[str, list[float]]:
    return {
        "step": [0.2, 0.2, 0.2, 0.1, 0.1],
        "both": [1.0, 0.5, 0.375, 0.5, 0.25],
        "late": [1.0, 0.5, 0.3333, 0.25, 0.2],
    }


# %% exercise="09.3" role="mutant" why="every schedule begins with the present rate"
def rates() -> dict[str, list[float]]:
    return {
        "step": [0.2, 0.2, 0.1, 0.1, 0.05],
        "both": [0.5, 0.75, 0.5, 0.5, 0.25],
        "late": [1.0, 0.5, 3.3333, 2.5, 2.0],
    }


# %% exercise="09.4" role="mutant" why="the bugs as they were"
def save(model, optimizer, scheduler) -> dict:
    return broken_save(model, optimizer, scheduler)


def load(checkpoint, model, optimizer, scheduler) -> None:
    broken_load(checkpoint, model, optimizer, scheduler)


# %% exercise="09.4" role="mutant" why="copies when saving alone, so the first load is the last"
def save(model, optimizer, scheduler) -> dict:
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    checkpoint = {name: copy.deepcopy(part.state_dict()) for name, part in parts.items()}
    return {**checkpoint, "random": torch.get_rng_state()}


def load(checkpoint, model, optimizer, scheduler) -> None:
    for name, part in {"model": model, "optimizer": optimizer, "scheduler": scheduler}.items():
        part.load_state_dict(checkpoint[name])
    torch.set_rng_state(checkpoint["random"])


# %% exercise="09.4" role="mutant" why="forgets the random numbers"
def save(model, optimizer, scheduler) -> dict:
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    return {name: copy.deepcopy(part.state_dict()) for name, part in parts.items()}


def load(checkpoint, model, optimizer, scheduler) -> None:
    for name, part in {"model": model, "optimizer": optimizer, "scheduler": scheduler}.items():
        part.load_state_dict(copy.deepcopy(checkpoint[name]))


# %% exercise="09.4" role="mutant" why="forgets the scheduler"
def save(model, optimizer, scheduler) -> dict:
    parts = {"model": model, "optimizer": optimizer}
    checkpoint = {name: copy.deepcopy(part.state_dict()) for name, part in parts.items()}
    return {**checkpoint, "random": torch.get_rng_state()}


def load(checkpoint, model, optimizer, scheduler) -> None:
    for name, part in {"model": model, "optimizer": optimizer}.items():
        part.load_state_dict(copy.deepcopy(checkpoint[name]))
    torch.set_rng_state(checkpoint["random"])


# %% exercise="09.5" role="mutant" why="the bugs as they were"
class AdamW(BrokenAdamW):
    pass


# %% exercise="09.5" role="mutant" why="the decay is decoupled, and the count is still that of the optimizer"
class AdamW(BrokenAdamW):
    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        parameter.mul_(1 - group["lr"] * group["weight_decay"])
        decays = [group["weight_decay"] for group in self.param_groups]
        for group in self.param_groups:
            group["weight_decay"] = 0.0
        super().step()
        for group, decay in zip(self.param_groups, decays, strict=True):
            group["weight_decay"] = decay
        return loss


# %% exercise="09.5" role="mutant" why="the closure runs without gradients"
class AdamW(torch.optim.AdamW):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None if closure is None else closure()
        super().step()
        return loss


# %% exercise="09.6" role="mutant" why="one mean with one beta: the sign of momentum"
Solved = Lion


class Lion(Solved):
    def update(self, parameter, gradient, group):
        state = self.state[parameter]
        if not state:
            state["exp_avg"] = torch.zeros_like(parameter)
        state["exp_avg"].lerp_(gradient, 1 - group["betas"][1])
        parameter.mul_(1 - group["lr"] * group["weight_decay"]).add_(state["exp_avg"].sign(), alpha=-group["lr"])


# %% exercise="09.6" role="mutant" why="the decay goes into the gradient"
class Lion(Solved):
    def update(self, parameter, gradient, group):
        gradient = gradient + group["weight_decay"] * parameter
        super().update(parameter, gradient, {**group, "weight_decay": 0.0})


# %% exercise="09.6" role="mutant" why="the blend is computed in place"
class Lion(Solved):
    def update(self, parameter, gradient, group):
        state, (beta1, beta2), lr = self.state[parameter], group["betas"], group["lr"]
        if not state:
            state["exp_avg"] = torch.zeros_like(parameter)
        direction = state["exp_avg"].lerp_(gradient, 1 - beta1).sign()
        parameter.mul_(1 - lr * group["weight_decay"]).add_(direction, alpha=-lr)
        state["exp_avg"].lerp_(gradient, 1 - beta2)


# %% exercise="09.6" role="mutant" why="checks nothing"
class Lion(Solved):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, *, maximize=False):
        options = {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize}
        torch.optim.Optimizer.__init__(self, params, options)


# %% exercise="09.6" role="mutant" why="the means stand beside the state"
class Lion(Solved):
    def update(self, parameter, gradient, group):
        self.__dict__.setdefault("means", {})
        self.state[parameter] = self.means.setdefault(parameter, {})
        super().update(parameter, gradient, group)
        del self.state[parameter]


# %% exercise="09.7" role="mutant" why="takes the other copy, which nobody notices here"
def change() -> tuple[str, str]:
    return (
        "reftorch/optim/optimizer.py",
        """
-        state_dict = state_dict.copy()
+        state_dict = state_dict
         for pre_hook in self._optimizer_load_state_dict_pre_hooks.values():
""",
    )


# %% exercise="09.7" role="mutant" why="loses the states in every load"
def change() -> tuple[str, str]:
    return (
        "reftorch/optim/optimizer.py",
        """
-            if key in params:
+            if key not in params:
                 state[params[key]] = _cast(params[key], value)
""",
    )


# %% exercise="09.8" role="mutant" why="stops in the second step"
def third_step() -> dict[str, float | str]:
    return {"bias_correction2": 0.0199, "step_size": 0.5263, "denom": 2.9219, "step": "float"}


# %% exercise="09.8" role="mutant" why="takes the mean of squares that is not the largest one"
def third_step() -> dict[str, float | str]:
    return {"bias_correction2": 0.0297, "step_size": 0.369, "denom": 2.38, "step": "float"}
