"""Wrong answers to the exercises of chapter 14: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.
"""


# %% exercise="14.1" role="mutant" why="takes a where behind the op for a guard"
def at_zero() -> dict[str, str]:
    finite = {"c", "d", "f", "g", "h"}
    return {**{letter: "finite" if letter in finite else "NaN" for letter in "abcdefgh"}, "a": "Inf"}


# %% exercise="14.1" role="mutant" why="believes that every root and every norm fails at 0"
def at_zero() -> dict[str, str]:
    return {"a": "NaN", "b": "NaN", "c": "NaN", "d": "NaN", "e": "NaN", "f": "NaN", "g": "finite", "h": "finite"}


# %% exercise="14.2" role="mutant" why="keeps the hooks when run raises"
def flow(model, run) -> list[tuple[str, float]]:
    found, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):

            def after(module, args, output, name=name):
                if output.requires_grad:
                    output.register_hook(lambda grad: found.append((name, grad.norm().item())))

            handles.append(module.register_forward_hook(after))
    run()
    for handle in handles:
        handle.remove()
    return found


# %% exercise="14.2" role="mutant" why="reads the loop variable too late"
def flow(model, run) -> list[tuple[str, float]]:
    found, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):

            def after(module, args, output):
                if output.requires_grad:
                    output.register_hook(lambda grad: found.append((name, grad.norm().item())))  # noqa: B023

            handles.append(module.register_forward_hook(after))
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    return found


# %% exercise="14.2" role="mutant" why="one entry for each name"
def flow(model, run) -> list[tuple[str, float]]:
    found, handles = {}, []
    for name, module in model.named_modules():
        if not list(module.children()):

            def after(module, args, output, name=name):
                if output.requires_grad:
                    output.register_hook(lambda grad: found.update({name: grad.norm().item()}))

            handles.append(module.register_forward_hook(after))
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    return list(found.items())


# %% exercise="14.2" role="mutant" why="removes the hooks of forward, and leaves those of backward"
def flow(model, run) -> list[tuple[str, float]]:
    found = []
    for name, module in model.named_modules():
        if not list(module.children()):

            def after(module, args, grads, name=name):
                if grads[0] is not None:
                    found.append((name, grads[0].norm().item()))

            module.register_full_backward_hook(after)
    run()
    for module in model.modules():
        module._forward_hooks.clear()
    return found


# %% exercise="14.3" role="mutant" why="the bug as it was"
class Sensors(BrokenSensors):
    pass


# %% exercise="14.3" role="mutant" why="a where behind the root"
class Sensors(BrokenSensors):
    def forward(self, x):
        x = x * self.gain
        centered = x - x.mean(0)
        variance = centered.square().mean(0)
        deviation = torch.where(variance > 0, variance.sqrt(), 0.0)
        return self.out(centered / (deviation + 1e-5))


# %% exercise="14.3" role="mutant" why="takes the deviation out of the graph"
class Sensors(BrokenSensors):
    def forward(self, x):
        x = x * self.gain
        centered = x - x.mean(0)
        deviation = centered.square().mean(0).sqrt().detach()
        return self.out(centered / (deviation + 1e-5))


# %% exercise="14.4" role="mutant" why="the bug as it was"
class Reader(BrokenReader):
    pass


# %% exercise="14.4" role="mutant" why="never cuts"
class Reader(BrokenReader):
    def forward(self, x):
        state, outputs = torch.zeros(x.shape[1], 4), []
        for time in range(x.shape[0]):
            state = (self.read(x[time]) + self.remember(state)).tanh()
            outputs.append(state)
        return torch.stack(outputs)


# %% exercise="14.4" role="mutant" why="cuts one step late"
class Reader(BrokenReader):
    def forward(self, x):
        state, outputs = torch.zeros(x.shape[1], 4), []
        for time in range(x.shape[0]):
            if time % self.every == 1:
                state = state.detach()
            state = (self.read(x[time]) + self.remember(state)).tanh()
            outputs.append(state)
        return torch.stack(outputs)


# %% exercise="14.5" role="mutant" why="the bug as it was"
class Scale(BrokenScale):
    pass


# %% exercise="14.5" role="mutant" why="sums over the first dimension alone"
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        for_x = grad * weight if ctx.needs_input_grad[0] else None
        return for_x, (grad * x).sum(0) if ctx.needs_input_grad[1] else None


# %% exercise="14.5" role="mutant" why="computes both gradients always"
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad * weight, (grad * x).reshape(-1, len(weight)).sum(0)


# %% exercise="14.6" role="mutant" why="takes all that diagnose does not name for healthy"
def illnesses() -> dict[str, str]:
    return {"p1": "g", "p2": "g", "p3": "g", "p4": "g", "p5": "d", "p6": "e"}


# %% exercise="14.6" role="mutant" why="sees two outputs of two calls, and does not ask for the parameters first"
def illnesses() -> dict[str, str]:
    return {"p1": "c", "p2": "f", "p3": "b", "p4": "c", "p5": "d", "p6": "e"}


# %% exercise="14.6" role="mutant" why="takes the noise of p1 for an influence of the other samples"
def illnesses() -> dict[str, str]:
    return {"p1": "d", "p2": "f", "p3": "b", "p4": "a", "p5": "d", "p6": "e"}


# %% exercise="14.7" role="mutant" why="the softmax stays at the end: the loss falls, slowly"
Fixed, fixed_loss_of = Talker, loss_of


class Talker(Fixed):
    def forward(self, ids):
        return super().forward(ids).softmax(-1)


# %% exercise="14.7" role="mutant" why="the attention still adds up over the wrong dimension"
class Talker(Fixed):
    attention = BrokenTalker.attention


# %% exercise="14.7" role="mutant" why="positions are not trained"
class Talker(Fixed):
    def forward(self, ids):
        self.position.weight.requires_grad_(False)
        return super().forward(ids)


# %% exercise="14.7" role="mutant" why="the target is not shifted: it repeats what it reads"
class Talker(Fixed):
    pass


def loss_of(model, ids):
    return broken_loss_of(model, ids)


# %% exercise="14.7" role="mutant" why="gradients pile up"
def loss_of(model, ids):
    return fixed_loss_of(model, ids)


def train(model, ids, steps, lr) -> list[float]:
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=lr), []
    for _ in range(steps):
        loss = loss_of(model, ids)
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
    return losses


# %% exercise="14.8" role="mutant" why="thinks that a copy of the input is moved"
def measured() -> dict[str, int | float]:
    return {"stops": 3, "orig": 2.0, "v": 0.001, "entry": 2.0}


# %% exercise="14.8" role="mutant" why="counts both calls for each element"
def measured() -> dict[str, int | float]:
    return {"stops": 6, "orig": 2.0, "v": 0.001, "entry": 1.999}
