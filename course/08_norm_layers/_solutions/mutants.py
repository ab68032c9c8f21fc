"""Wrong answers to the exercises of chapter 08: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.
"""


# %% exercise="08.1" role="mutant" why="every norm has a mean for each channel"
def how_many() -> dict[str, int]:
    return {
        "batch": 6,
        "layer": 4,
        "last": 4,
        "instance": 6,
        "groups": 3,
        "one group": 1,
        "weight of layer": 6,
        "weight of groups": 6,
    }


# %% exercise="08.1" role="mutant" why="counts the elements of a mean"
def how_many() -> dict[str, int]:
    return {
        "batch": 100,
        "layer": 150,
        "last": 5,
        "instance": 25,
        "groups": 50,
        "one group": 150,
        "weight of layer": 150,
        "weight of groups": 3,
    }


# %% exercise="08.2" role="mutant" why="runs the model in training mode, dropout included"
def recalibrate(model, batches) -> None:
    modes = {module: module.training for module in model.modules()}
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d) and m.track_running_stats]
    momenta = [norm.momentum for norm in norms]
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    with torch.no_grad():
        for batch in batches:
            model(batch)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    for module, training in modes.items():
        module.training = training


# %% exercise="08.2" role="mutant" why="lets the statistics move by the momentum, from where they are"
def recalibrate(model, batches) -> None:
    modes = {module: module.training for module in model.modules()}
    model.eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d) and module.track_running_stats:
            module.train()
    with torch.no_grad():
        for batch in batches:
            model(batch)
    for module, training in modes.items():
        module.training = training


# %% exercise="08.2" role="mutant" why="forgets what the modes were"
def recalibrate(model, batches) -> None:
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d) and m.track_running_stats]
    momenta = [norm.momentum for norm in norms]
    model.eval()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
        norm.train()
    with torch.no_grad():
        for batch in batches:
            model(batch)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train()


# %% exercise="08.3" role="mutant" why="thinks that without statistics nothing is updated, and that backward has all"
def kernels_entered() -> dict[str, str]:
    return {
        "training": "abcd",
        "evaluation": "cd",
        "untracked": "acd",
        "instance": "abcd",
        "groups": "e",
        "backward": "f",
    }


# %% exercise="08.3" role="mutant" why="thinks that every class has its own kernel"
def kernels_entered() -> dict[str, str]:
    return {
        "training": "abcd",
        "evaluation": "d",
        "untracked": "acd",
        "instance": "e",
        "groups": "acd",
        "backward": "f",
    }


# %% exercise="08.4" role="mutant" why="the bugs as they were"
class Frozen(BrokenFrozen):
    pass


# %% exercise="08.4" role="mutant" why="keeps the mode, and still cuts the graph"
class Frozen(BrokenFrozen):
    def train(self, mode=True):
        super().train(mode)
        self.part.eval()
        return self


# %% exercise="08.4" role="mutant" why="switches to evaluation in forward, and leaves the dropout of a child as it was"
class Frozen(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part
        self.requires_grad_(False)

    def forward(self, x):
        for module in self.part.children():
            module.training = False
        return self.part(x)


# %% exercise="08.5" role="mutant" why="takes the other term away"
def change() -> tuple[str, str]:
    return (
        "ATen/native/cpu/NormalizationKernel.cpp",
        """
-      of_x[c] = scalar_t(-factor * istd * istd * products[c] / count);
+      of_x[c] = scalar_t(0.0);
""",
    )


# %% exercise="08.5" role="mutant" why="takes the gradient of the bias away"
def change() -> tuple[str, str]:
    return (
        "ATen/native/cpu/NormalizationKernel.cpp",
        """
-        grad_bias.data_ptr<scalar_t>()[c] = scalar_t(sums[c]);
+        grad_bias.data_ptr<scalar_t>()[c] = scalar_t(0.0);
""",
    )


# %% exercise="08.6" role="mutant" why="the gradient as if mean and variance were constants"
SolvedNormalize = Normalize


class Normalize(SolvedNormalize):
    @staticmethod
    def backward(ctx, grad):
        ctx.training = False
        return SolvedNormalize.backward(ctx, grad)


# %% exercise="08.6" role="mutant" why="a biased running variance"
class Normalize(SolvedNormalize):
    @staticmethod
    def forward(ctx, x, weight, bias, running_mean, running_var, training, momentum, eps):
        count = x.numel() // x.shape[1]
        before = None if running_var is None else running_var.clone()
        y = SolvedNormalize.forward(ctx, x, weight, bias, running_mean, running_var, training, momentum, eps)
        if training and running_var is not None:
            moved = running_var - before * (1 - momentum)
            running_var.copy_(before * (1 - momentum) + moved * (count - 1) / count)
        return y


# %% exercise="08.6" role="mutant" why="a mean of gradients where the bias needs their sum"
class Normalize(SolvedNormalize):
    @staticmethod
    def backward(ctx, grad):
        of_x, of_weight, of_bias, *rest = SolvedNormalize.backward(ctx, grad)
        count = grad.numel() // grad.shape[1]
        return of_x, of_weight, None if of_bias is None else of_bias / count, *rest


# %% exercise="08.7" role="mutant" why="takes eval() for training=False in every layer"
def arguments() -> dict[str, tuple[bool, float]]:
    return {"third": (True, 0.3333), "eval": (False, 0.0), "frozen": (False, 0.1)}


# %% exercise="08.7" role="mutant" why="takes the factor of the step before"
def arguments() -> dict[str, tuple[bool, float]]:
    return {"third": (True, 0.5), "eval": (False, 0.0), "frozen": (True, 0.1)}
