"""Wrong answers to the exercises of chapter 05: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.
"""


# %% exercise="05.1" role="mutant" why="every op keeps its inputs"
def what_is_kept() -> dict[str, list[str]]:
    calls = ("x / f", "f / x", "f @ x", "x - f", "x.tanh()", "x.log()")
    return {text: sorted(name for name in ("f", "x") if name in text) for text in calls}


# %% exercise="05.1" role="mutant" why="forgets that f is frozen"
def what_is_kept() -> dict[str, list[str]]:
    return {
        "x / f": ["f", "x"],
        "f / x": ["f", "x"],
        "f @ x": ["f", "x"],
        "x - f": [],
        "x.tanh()": ["result"],
        "x.log()": ["x"],
    }


# %% exercise="05.2" role="mutant" why="counts what a view shows"
def kept_bytes(forward) -> int:
    seen = {}
    with saved_tensors_hooks(lambda t: seen.update({t.data_ptr(): t.nbytes}) or t.detach(), lambda t: t):
        result = forward()
    del result
    return sum(seen.values())


# %% exercise="05.2" role="mutant" why="counts a storage as often as it is kept"
def kept_bytes(forward) -> int:
    seen = []
    with saved_tensors_hooks(lambda t: seen.append(t.untyped_storage().nbytes()) or t.detach(), lambda t: t):
        result = forward()
    del result
    return sum(seen)


# %% exercise="05.2" role="mutant" why="measures the result instead of the graph"
def kept_bytes(forward) -> int:
    return forward().untyped_storage().nbytes()


# %% exercise="05.3" role="mutant" why="each tensor counts its own changes"
def versions() -> tuple[dict[str, int], str]:
    return {"whole": 2, "row": 1, "twin": 1, "data": 1, "copy": 0}, "data"


# %% exercise="05.3" role="mutant" why="detach() is taken for the one that hides"
def versions() -> tuple[dict[str, int], str]:
    return {"whole": 4, "row": 4, "twin": 4, "data": 1, "copy": 0}, "twin"


# %% exercise="05.4" role="mutant" why="the bug as it was"
class Sigmoid(BrokenSigmoid):
    pass


# %% exercise="05.4" role="mutant" why="no cycle any more, and still no check of the version"
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = 1 / (1 + (-x).exp())
        ctx.result = result.detach()
        return result

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.result * (1 - ctx.result)


# %% exercise="05.4" role="mutant" why="keeps the input instead"
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sigmoid()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x.sigmoid() * (1 - x.sigmoid())


# %% exercise="05.5" role="mutant" why="does not say that x is dirty"
class LeakyReLUInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        ctx.slope = slope
        x.mul_(torch.where(x > 0, 1.0, slope))
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * torch.where(result > 0, 1.0, ctx.slope), None


# %% exercise="05.5" role="mutant" why="works out of place"
class LeakyReLUInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        ctx.slope = slope
        ctx.save_for_backward(x)
        return torch.where(x > 0, x, x * slope)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * torch.where(x > 0, 1.0, ctx.slope), None


# %% exercise="05.5" role="mutant" why="lets every gradient through"
class LeakyReLUInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        ctx.mark_dirty(x)
        return x.mul_(torch.where(x > 0, 1.0, slope))

    @staticmethod
    def backward(ctx, grad):
        return grad, None


# %% exercise="05.6" role="mutant" why="the bug as it was"
def softmax(x, temperature):
    return broken_softmax(x, temperature)


# %% exercise="05.6" role="mutant" why="changes the harmless line as well"
def softmax(x, temperature):
    shifted = x - x.max(dim=1, keepdim=True).values.detach()
    weights = (shifted * (1 / temperature)).exp()
    return weights / weights.sum(dim=1, keepdim=True)


# %% exercise="05.6" role="mutant" why="hides the change from the version counter"
def softmax(x, temperature):
    shifted = x - x.max(dim=1, keepdim=True).values.detach()
    weights = shifted.mul_(1 / temperature).exp()
    weights.data.div_(weights.sum(dim=1, keepdim=True))
    return weights


# %% exercise="05.6" role="mutant" why="the total is a constant to autograd"
def softmax(x, temperature):
    shifted = x - x.max(dim=1, keepdim=True).values.detach()
    weights = shifted.mul_(1 / temperature).exp()
    return weights / weights.sum(dim=1, keepdim=True).detach()


# %% exercise="05.7" role="mutant" why="the average keeps its history"
class Trainer(LeakyTrainer):
    def step(self, batch):
        class Lean(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                gate = x.sigmoid()
                result = x * gate
                ctx.save_for_backward(gate, result)
                return result

            @staticmethod
            def backward(ctx, grad):
                gate, result = ctx.saved_tensors
                return grad * (result + gate * (1 - result))

        self.weight.grad = None
        hidden = Lean.apply(batch @ self.weight)
        loss = (hidden * hidden).mean()
        loss.backward()
        self.norms.append(self.weight.grad.norm().item())
        self.average = 0.9 * self.average + 0.1 * loss
        self.samples.append(hidden[0].detach().clone())
        with torch.no_grad():
            self.weight -= 0.01 * self.weight.grad


# %% exercise="05.7" role="mutant" why="a sample is a view without history, and keeps the whole storage"
class Trainer(LeakyTrainer):
    def step(self, batch):
        class Lean(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                gate = x.sigmoid()
                result = x * gate
                ctx.save_for_backward(gate, result)
                return result

            @staticmethod
            def backward(ctx, grad):
                gate, result = ctx.saved_tensors
                return grad * (result + gate * (1 - result))

        self.weight.grad = None
        hidden = Lean.apply(batch @ self.weight)
        loss = (hidden * hidden).mean()
        loss.backward()
        self.norms.append(self.weight.grad.norm().item())
        self.average = 0.9 * self.average + 0.1 * loss.detach()
        self.samples.append(hidden[0].detach())
        with torch.no_grad():
            self.weight -= 0.01 * self.weight.grad


# %% exercise="05.7" role="mutant" why="the Function still makes a cycle"
class Trainer(LeakyTrainer):
    def step(self, batch):
        class Lean(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                gate = x.sigmoid()
                result = x * gate
                ctx.save_for_backward(gate, result)
                return result

            @staticmethod
            def backward(ctx, grad):
                gate, result = ctx.saved_tensors
                return grad * (result + gate * (1 - result))

        self.weight.grad = None
        hidden = Swish.apply(batch @ self.weight)
        loss = (hidden * hidden).mean()
        loss.backward()
        self.norms.append(self.weight.grad.norm().item())
        self.average = 0.9 * self.average + 0.1 * loss.detach()
        self.samples.append(hidden[0].detach().clone())
        with torch.no_grad():
            self.weight -= 0.01 * self.weight.grad


# %% exercise="05.7" role="mutant" why="each step adds a hook"
class Trainer(LeakyTrainer):
    def step(self, batch):
        class Lean(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                gate = x.sigmoid()
                result = x * gate
                ctx.save_for_backward(gate, result)
                return result

            @staticmethod
            def backward(ctx, grad):
                gate, result = ctx.saved_tensors
                return grad * (result + gate * (1 - result))

        self.weight.grad = None
        self.weight.register_hook(lambda grad: self.norms.append(grad.norm().item()))
        hidden = Lean.apply(batch @ self.weight)
        loss = (hidden * hidden).mean()
        loss.backward()
        self.average = 0.9 * self.average + 0.1 * loss.detach()
        self.samples.append(hidden[0].detach().clone())
        with torch.no_grad():
            self.weight -= 0.01 * self.weight.grad


# %% exercise="05.7" role="mutant" why="the bug as it was"
class Trainer(LeakyTrainer):
    pass


# %% exercise="05.8" role="mutant" why="takes the lists of tensors for the culprit, which neither exp nor mul has"
def change() -> tuple[str, str]:
    return (
        "cpp/csrc/autograd/formula.cpp",
        """
     for (SavedVariable& saved : list) {
-      dropped.push_back(saved.release());
""",
    )


# %% exercise="05.8" role="mutant" why="takes the check of versions for the check of a freed graph"
def change() -> tuple[str, str]:
    return (
        "cpp/csrc/autograd/saved_variable.cpp",
        """
-  if (impl::version(data_) == saved_version_) {
+  if (true) {
""",
    )


# %% exercise="05.9" role="mutant" why="every tensor that changes is copied"
def copies() -> dict[str, list]:
    return {"copied": ["b", "c", "d"], "b": [2.0, 2.0], "c": [3.0, 3.0], "d": [5.0, 5.0]}


# %% exercise="05.9" role="mutant" why="each change copies"
def copies() -> dict[str, list]:
    return {"copied": ["b", "b", "c"], "b": [2.0, 2.0], "c": [3.0, 3.0], "d": [5.0, 50.0]}


# %% exercise="05.9" role="mutant" why="a change by way of a view is never seen"
def copies() -> dict[str, list]:
    return {"copied": ["b"], "b": [2.0, 2.0], "c": [30.0, 3.0], "d": [5.0, 50.0]}


# %% exercise="05.9" role="mutant" why="backward gets what is there now"
def copies() -> dict[str, list]:
    return {"copied": ["b", "c"], "b": [4.0, 4.0], "c": [30.0, 3.0], "d": [5.0, 50.0]}


# %% exercise="05.9" role="mutant" why="the copy is made after the first change"
def copies() -> dict[str, list]:
    return {"copied": ["b", "c"], "b": [3.0, 3.0], "c": [3.0, 3.0], "d": [5.0, 50.0]}


# %% exercise="05.9" role="mutant" why="a check of versions protects the third"
def copies() -> dict[str, list]:
    return {"copied": ["b", "c"], "b": [2.0, 2.0], "c": [3.0, 3.0], "d": [5.0, 5.0]}
