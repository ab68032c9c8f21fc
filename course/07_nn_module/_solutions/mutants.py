"""Wrong answers to the exercises of chapter 07: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.
"""


# %% exercise="07.1" role="mutant" why="whatever requires a gradient is a parameter, and tied weights count twice"
def who_finds_what() -> dict[str, str]:
    return {
        "gain": "ps",
        "half": "ps",
        "heads.0.weight": "ps",
        "body.0.weight": "ps",
        "alias": "ps",
        "mask": "b",
        "shift": "",
        "table": "bs",
        "frozen": "s",
    }


# %% exercise="07.1" role="mutant" why="an assignment makes the buffer a plain tensor, and the child's name wins"
def who_finds_what() -> dict[str, str]:
    return {
        "gain": "ps",
        "half": "",
        "heads.0.weight": "",
        "body.0.weight": "ps",
        "alias": "s",
        "mask": "",
        "shift": "ps",
        "table": "bs",
        "frozen": "ps",
    }


# %% exercise="07.2" role="mutant" why="the bug as it was"
class Mixer(BrokenMixer):
    pass


# %% exercise="07.2" role="mutant" why="mix is a plain tensor still"
class Mixer(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.acts = nn.ModuleDict({"prelu": nn.PReLU()})
        self.mix = nn.Parameter(torch.ones(depth)) / depth
        self.register_buffer("mask", (torch.arange(width) % 2).float())
        self.register_buffer("last", torch.zeros(()), persistent=False)

    forward = BrokenMixer.forward


# %% exercise="07.2" role="mutant" why="last has a history, and keeps the graph of the latest call"
class Mixer(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.acts = nn.ModuleDict({"prelu": nn.PReLU()})
        self.mix = nn.Parameter(torch.ones(depth) / depth)
        self.register_buffer("mask", (torch.arange(width) % 2).float())
        self.register_buffer("last", torch.zeros(()), persistent=False)

    forward = BrokenMixer.forward


# %% exercise="07.2" role="mutant" why="the mask is a parameter, and is trained"
class Mixer(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.acts = nn.ModuleDict({"prelu": nn.PReLU()})
        self.mix = nn.Parameter(torch.ones(depth) / depth)
        self.mask = nn.Parameter((torch.arange(width) % 2).float())
        self.register_buffer("last", torch.zeros(()), persistent=False)

    def forward(self, x):
        result = BrokenMixer.forward(self, x)
        self.last = self.last.detach()
        return result


# %% exercise="07.3" role="mutant" why="all hooks have the last name"
def shapes_of(model, *args) -> list[tuple[str, tuple[int, ...]]]:
    pairs, handles, latest = [], [], ""

    def hook(module, args, output):
        if isinstance(output, torch.Tensor):
            pairs.append((latest, tuple(output.shape)))

    for name, module in model.named_modules():
        latest = name
        handles.append(module.register_forward_hook(hook))
    model(*args)
    for handle in handles:
        handle.remove()
    return pairs


# %% exercise="07.3" role="mutant" why="an error leaves the hooks behind"
def shapes_of(model, *args) -> list[tuple[str, tuple[int, ...]]]:
    pairs, handles = [], []
    for name, module in model.named_modules():

        def hook(module, args, output, name=name):
            if isinstance(output, torch.Tensor):
                pairs.append((name, tuple(output.shape)))

        handles.append(module.register_forward_hook(hook))
    model(*args)
    for handle in handles:
        handle.remove()
    return pairs


# %% exercise="07.3" role="mutant" why="cleans up by removing all hooks, those of others too"
def shapes_of(model, *args) -> list[tuple[str, tuple[int, ...]]]:
    pairs = []
    for name, module in model.named_modules():

        def hook(module, args, output, name=name):
            if isinstance(output, torch.Tensor):
                pairs.append((name, tuple(output.shape)))

        module.register_forward_hook(hook)
    try:
        model(*args)
    finally:
        for module in model.modules():
            module._forward_hooks.clear()
    return pairs


# %% exercise="07.4" role="mutant" why="no hook runs after an error, and backward always goes from the outside in"
def order_of_hooks() -> dict[str, str]:
    return {"error": "ADEF", "with": "MTL", "without": "MTL"}


# %% exercise="07.4" role="mutant" why="takes backward hooks for hooks of the outputs' gradients in both cases"
def order_of_hooks() -> dict[str, str]:
    return {"error": "ADEFHC", "with": "TLM", "without": "TLM"}


# %% exercise="07.5" role="mutant" why="the bugs as they were"
def fit(model, steps, step, score) -> float:
    return broken_fit(model, steps, step, score)


# %% exercise="07.5" role="mutant" why="a copy of the dict does not copy the tensors"
def fit(model, steps, step, score) -> float:
    best_score, best = float("inf"), None
    for _ in range(steps):
        step(model)
        now = score(model)
        if now < best_score:
            best_score, best = now, dict(model.state_dict())
    if best is not None:
        model.load_state_dict(best)
    return best_score


# %% exercise="07.5" role="mutant" why="the optimizer keeps the old parameters"
def fit(model, steps, step, score) -> float:
    best_score, best = float("inf"), None
    for _ in range(steps):
        step(model)
        now = score(model)
        if now < best_score:
            best_score = now
            best = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    if best is not None:
        model.load_state_dict(best, assign=True)
    return best_score


# %% exercise="07.5" role="mutant" why="forgets the buffers"
def fit(model, steps, step, score) -> float:
    best_score, best = float("inf"), None
    for _ in range(steps):
        step(model)
        now = score(model)
        if now < best_score:
            best_score = now
            best = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    if best is not None:
        model.load_state_dict(best, strict=False)
    return best_score


# %% exercise="07.6" role="mutant" why="lets nn.Module do it"
Solved = Module


class Module(nn.Module):
    pass


# %% exercise="07.6" role="mutant" why="what a forward hook returns is thrown away"
class Module(Solved):
    def run_hook(self, entry, args, kwargs, output):
        super().run_hook(entry, args, kwargs, output)
        return output


# %% exercise="07.6" role="mutant" why="no hook runs after an error"
class Module(Solved):
    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return super().register_forward_hook(hook, prepend=prepend, with_kwargs=with_kwargs)


# %% exercise="07.6" role="mutant" why="backward hooks hang on the output's node alone"
class Module(Solved):
    def register_full_backward_hook(self, hook):
        def on_output(module, args, output):
            output.register_hook(lambda gradient: hook(module, (gradient,), (gradient,)) and None)

        return self.register_forward_hook(on_output)


# %% exercise="07.6" role="mutant" why="registered values are in __dict__ as well"
class Module(Solved):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        self.__dict__[name] = value


# %% exercise="07.7" role="mutant" why="takes the registration for the culprit, so a new model has the key already"
def change() -> tuple[str, str]:
    return (
        "reftorch/nn/modules/module/__init__.py",
        """
-        if persistent:
+        if True:
             self._non_persistent_buffers_set.discard(name)
""",
    )


# %% exercise="07.7" role="mutant" why="takes saving for the culprit"
def change() -> tuple[str, str]:
    return (
        "reftorch/nn/modules/module/state_dict.py",
        """
-            if buffer is not None and name not in self._non_persistent_buffers_set:
+            if buffer is not None:
""",
    )


# %% exercise="07.8" role="mutant" why="counts the registered buffer and the missing bias as assignments"
def assignments() -> dict[str, int | list[str]]:
    return {"calls": 9, "ordinary": ["in_features", "out_features", "mask"]}


# %% exercise="07.8" role="mutant" why="takes a plain tensor for a buffer"
def assignments() -> dict[str, int | list[str]]:
    return {"calls": 7, "ordinary": ["in_features", "out_features"]}
