"""Wrong answers to the exercises of chapter 12: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.
"""


# %% exercise="12.1" role="mutant" why="a bucket never exceeds its limit, and the first step has buckets already"
def numbers() -> dict[str, int]:
    return {
        "samples of a rank": 26,
        "samples that come twice": 1,
        "samples of a rank, drop_last": 25,
        "all_reduce, step 0": 3,
        "all_reduce, step 2": 3,
        "numbers, step 2": 7904,
        "broadcast, step 2": 2,
    }


# %% exercise="12.1" role="mutant" why="one message for each buffer, and buffers are averaged with the gradients"
def numbers() -> dict[str, int]:
    return {
        "samples of a rank": 26,
        "samples that come twice": 1,
        "samples of a rank, drop_last": 25,
        "all_reduce, step 0": 1,
        "all_reduce, step 2": 2,
        "numbers, step 2": 8005,
        "broadcast, step 2": 3,
    }


# %% exercise="12.1" role="mutant" why="the last rank gets what is left"
def numbers() -> dict[str, int]:
    return {
        "samples of a rank": 25,
        "samples that come twice": 0,
        "samples of a rank, drop_last": 25,
        "all_reduce, step 0": 1,
        "all_reduce, step 2": 2,
        "numbers, step 2": 7904,
        "broadcast, step 2": 2,
    }


# %% exercise="12.2" role="mutant" why="does not average"
class Parallel(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module, self.under_way = module, []
        for tensor in (*module.parameters(), *module.buffers()):
            dist.broadcast(tensor.detach(), src=0)
        for parameter in module.parameters():
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self.send)

    def forward(self, *args):
        return self.module(*args)

    def send(self, parameter):
        self.under_way.append(dist.all_reduce(parameter.grad, async_op=True))

    def finish(self):
        for work in self.under_way:
            work.wait()
        self.under_way.clear()


# %% exercise="12.2" role="mutant" why="sends everything after backward"
class Parallel(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        for tensor in (*module.parameters(), *module.buffers()):
            dist.broadcast(tensor.detach(), src=0)

    def forward(self, *args):
        return self.module(*args)

    def finish(self):
        works = []
        for parameter in self.module.parameters():
            if parameter.requires_grad:
                parameter.grad /= dist.get_world_size()
                works.append(dist.all_reduce(parameter.grad, async_op=True))
        for work in works:
            work.wait()


# %% exercise="12.2" role="mutant" why="waits in the hook"
class Parallel(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        for tensor in (*module.parameters(), *module.buffers()):
            dist.broadcast(tensor.detach(), src=0)
        for parameter in module.parameters():
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self.send)

    def forward(self, *args):
        return self.module(*args)

    def send(self, parameter):
        parameter.grad /= dist.get_world_size()
        dist.all_reduce(parameter.grad)

    def finish(self):
        pass


# %% exercise="12.2" role="mutant" why="forgets the buffers at the start"
class Parallel(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module, self.under_way = module, []
        for tensor in module.parameters():
            dist.broadcast(tensor.detach(), src=0)
        for parameter in module.parameters():
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self.send)

    def forward(self, *args):
        return self.module(*args)

    def send(self, parameter):
        parameter.grad /= dist.get_world_size()
        self.under_way.append(dist.all_reduce(parameter.grad, async_op=True))

    def finish(self):
        for work in self.under_way:
            work.wait()
        self.under_way.clear()


# %% exercise="12.2" role="mutant" why="a hook on the tensor, which runs before the gradient is added to .grad"
class Parallel(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module, self.under_way = module, []
        for tensor in (*module.parameters(), *module.buffers()):
            dist.broadcast(tensor.detach(), src=0)
        for parameter in module.parameters():
            if parameter.requires_grad:
                parameter.register_hook(lambda _, parameter=parameter: self.send(parameter))

    def forward(self, *args):
        return self.module(*args)

    def send(self, parameter):
        parameter.grad /= dist.get_world_size()
        self.under_way.append(dist.all_reduce(parameter.grad, async_op=True))

    def finish(self):
        for work in self.under_way:
            work.wait()
        self.under_way.clear()


# %% exercise="12.3" role="mutant" why="the `if` of the function in which rank 1 waits"
def desync() -> dict[str, int | str]:
    return {
        "if": 16,
        "step of rank 0": 1,
        "step of rank 1": 1,
        "who takes the if": 0,
        "rank 0 calls next": "barrier",
    }


# %% exercise="12.3" role="mutant" why="the next average is one step later, and the training ends after it"
def desync() -> dict[str, int | str]:
    return {
        "if": 18,
        "step of rank 0": 2,
        "step of rank 1": 1,
        "who takes the if": 1,
        "rank 0 calls next": "barrier",
    }


# %% exercise="12.4" role="mutant" why="leaves samples out, as drop_last does"
class FairSampler(DistributedSampler):
    def __init__(self, dataset, num_replicas, rank, shuffle=False, seed=0):
        super().__init__(dataset, num_replicas, rank, shuffle, seed, drop_last=True)


# %% exercise="12.4" role="mutant" why="nothing is lost, but each rank takes a stretch"
class FairSampler:
    def __init__(self, dataset, num_replicas, rank, shuffle=False, seed=0):
        self.total, self.num_replicas, self.rank = len(dataset), num_replicas, rank
        self.shuffle, self.seed, self.epoch = shuffle, seed, 0

    def share(self):
        order = list(range(self.total))
        if self.shuffle:
            order = torch.randperm(self.total, generator=torch.Generator().manual_seed(self.seed + self.epoch)).tolist()
        begin, end = (self.total * rank // self.num_replicas for rank in (self.rank, self.rank + 1))
        return order[begin:end]

    def __iter__(self):
        return iter(self.share())

    def __len__(self):
        return len(self.share())

    def set_epoch(self, epoch):
        self.epoch = epoch


# %% exercise="12.4" role="mutant" why="shuffles its own share, after the deal"
class FairSampler:
    def __init__(self, dataset, num_replicas, rank, shuffle=False, seed=0):
        self.share, self.shuffle, self.seed, self.epoch = range(rank, len(dataset), num_replicas), shuffle, seed, 0

    def __iter__(self):
        order = list(self.share)
        if self.shuffle:
            generator = torch.Generator().manual_seed(self.seed + self.epoch)
            order = [order[place] for place in torch.randperm(len(order), generator=generator).tolist()]
        return iter(order)

    def __len__(self):
        return len(self.share)

    def set_epoch(self, epoch):
        self.epoch = epoch


# %% exercise="12.4" role="mutant" why="the length of the largest share, for every rank"
class FairSampler:
    def __init__(self, dataset, num_replicas, rank, shuffle=False, seed=0):
        self.total, self.num_replicas, self.rank = len(dataset), num_replicas, rank
        self.shuffle, self.seed, self.epoch = shuffle, seed, 0

    def __iter__(self):
        order = list(range(self.total))
        if self.shuffle:
            order = torch.randperm(self.total, generator=torch.Generator().manual_seed(self.seed + self.epoch)).tolist()
        return iter(order[self.rank :: self.num_replicas])

    def __len__(self):
        return -(-self.total // self.num_replicas)

    def set_epoch(self, epoch):
        self.epoch = epoch


# %% exercise="12.4" role="mutant" why="every epoch has the same order"
class FairSampler:
    def __init__(self, dataset, num_replicas, rank, shuffle=False, seed=0):
        self.total, self.num_replicas, self.rank = len(dataset), num_replicas, rank
        self.shuffle, self.seed = shuffle, seed

    def __iter__(self):
        order = list(range(self.total))
        if self.shuffle:
            order = torch.randperm(self.total, generator=torch.Generator().manual_seed(self.seed)).tolist()
        return iter(order[self.rank :: self.num_replicas])

    def __len__(self):
        return len(range(self.rank, self.total, self.num_replicas))

    def set_epoch(self, epoch):
        pass


# %% exercise="12.5" role="mutant" why="the loss of train.py: each rank takes its own mean"
def whole_mean(logits, targets):
    return nn.functional.cross_entropy(logits, targets)


# %% exercise="12.5" role="mutant" why="divides by the number of all labels, and forgets that the ranks are averaged"
def whole_mean(logits, targets):
    count = (targets != -100).sum()
    dist.all_reduce(count)
    return nn.functional.cross_entropy(logits, targets, reduction="sum") / count.clamp(min=1)


# %% exercise="12.5" role="mutant" why="weights the mean: a rank without labels gives nan times 0"
def whole_mean(logits, targets):
    mine = (targets != -100).sum()
    count = mine.clone()
    dist.all_reduce(count)
    return nn.functional.cross_entropy(logits, targets) * mine / count.clamp(min=1) * dist.get_world_size()


# %% exercise="12.5" role="mutant" why="counts all samples, the ones without a label too"
def whole_mean(logits, targets):
    count = torch.tensor(len(targets))
    dist.all_reduce(count)
    return nn.functional.cross_entropy(logits, targets, reduction="sum") / count * dist.get_world_size()


# %% exercise="12.5" role="mutant" why="divides by zero where nobody has a label"
def whole_mean(logits, targets):
    count = (targets != -100).sum()
    dist.all_reduce(count)
    return nn.functional.cross_entropy(logits, targets, reduction="sum") / count * dist.get_world_size()


# %% exercise="12.5" role="mutant" why="a rank without labels returns early: the others wait for it"
def whole_mean(logits, targets):
    count = (targets != -100).sum()
    if count == 0:
        return logits.sum() * 0
    dist.all_reduce(count)
    return nn.functional.cross_entropy(logits, targets, reduction="sum") / count * dist.get_world_size()


# %% exercise="12.6" role="mutant" why="reads the buckets in the order of backward"
def first_buckets() -> dict[str, list | int | str]:
    return {
        "bucket_indices": [[5, 6, 7], [3, 4], [0, 1, 2]],
        "reduced first": [0, 1, 2],
        "first limit": 629,
        "name of parameter 4": "2.weight",
    }


# %% exercise="12.6" role="mutant" why="a bucket with the default of the first limit, 1 MiB"
def first_buckets() -> dict[str, list | int | str]:
    return {
        "bucket_indices": [[0, 1, 2, 3, 4, 5, 6, 7]],
        "reduced first": [0, 1, 2, 3, 4, 5, 6, 7],
        "first limit": 1048576,
        "name of parameter 4": "2.weight",
    }


# %% exercise="12.7" role="mutant" why="the whole state on each rank: right, and it saves nothing"
class Sharded:
    def __init__(self, params, optimizer_class, **defaults):
        self.params = list(params)
        sizes = [0] * dist.get_world_size()
        self.shares = [[] for _ in sizes]
        for index in sorted(range(len(self.params)), key=lambda index: -self.params[index].numel()):
            rank = sizes.index(min(sizes))
            self.shares[rank].append(index)
            sizes[rank] += self.params[index].numel()
        self.shares = [sorted(share) for share in self.shares]
        self.local = optimizer_class(self.params, **defaults)

    def zero_grad(self):
        self.local.zero_grad()

    def step(self):
        self.local.step()

    def full_state(self):
        return self.local.state_dict()


class Dealt:
    """What the next wrong answers have in common: the right one, with parts to replace."""

    def __init__(self, params, optimizer_class, **defaults):
        self.params = list(params)
        self.shares = self.dealt(dist.get_world_size())
        self.mine = self.shares[dist.get_rank()]
        self.local = optimizer_class([self.params[index] for index in self.mine], **defaults) if self.mine else None

    def dealt(self, ranks):
        shares, sizes = [[] for _ in range(ranks)], [0] * ranks
        for index in sorted(range(len(self.params)), key=lambda index: -self.params[index].numel()):
            rank = sizes.index(min(sizes))
            shares[rank].append(index)
            sizes[rank] += self.params[index].numel()
        return [sorted(share) for share in shares]

    def zero_grad(self):
        for parameter in self.params:
            parameter.grad = None

    def step(self):
        if self.local is not None:
            self.local.step()
        self.send()

    def send(self):
        with torch.no_grad():
            for rank, share in enumerate(self.shares):
                if share:
                    flat = torch.cat([self.params[index].flatten() for index in share])
                    dist.broadcast(flat, src=rank)
                    parts = flat.split([self.params[index].numel() for index in share])
                    for index, part in zip(share, parts, strict=True):
                        self.params[index].copy_(part.view_as(self.params[index]))

    def full_state(self):
        states = [None] * dist.get_world_size()
        dist.all_gather_object(states, self.local.state_dict() if self.local is not None else None)
        whole = {}
        for share, state in zip(self.shares, states, strict=True):
            if state is not None:
                whole |= {share[place]: value for place, value in state["state"].items()}
                groups = state["param_groups"]
        return {"state": whole, "param_groups": [{**groups[0], "params": list(range(len(self.params)))}]}


# %% exercise="12.7" role="mutant" why="deals out in turns, not by size"
class Sharded(Dealt):
    def dealt(self, ranks):
        return [list(range(rank, len(self.params), ranks)) for rank in range(ranks)]


# %% exercise="12.7" role="mutant" why="of two equal sizes the later parameter comes first"
class Sharded(Dealt):
    def dealt(self, ranks):
        shares, sizes = [[] for _ in range(ranks)], [0] * ranks
        for index in sorted(range(len(self.params)), key=lambda index: self.params[index].numel())[::-1]:
            rank = sizes.index(min(sizes))
            shares[rank].append(index)
            sizes[rank] += self.params[index].numel()
        return [sorted(share) for share in shares]


# %% exercise="12.7" role="mutant" why="a missing gradient is a gradient of zeros, and weight decay moves the parameter"
class Sharded(Dealt):
    def step(self):
        for parameter in self.params:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        super().step()


# %% exercise="12.7" role="mutant" why="one message for each parameter"
class Sharded(Dealt):
    def send(self):
        for rank, share in enumerate(self.shares):
            for index in share:
                dist.broadcast(self.params[index].detach(), src=rank)


# %% exercise="12.7" role="mutant" why="each rank updates its share, and keeps it"
class Sharded(Dealt):
    def send(self):
        pass


# %% exercise="12.7" role="mutant" why="clears the gradients of its own share only"
class Sharded(Dealt):
    def zero_grad(self):
        if self.local is not None:
            self.local.zero_grad()


# %% exercise="12.7" role="mutant" why="the state of this rank alone"
class Sharded(Dealt):
    def full_state(self):
        groups = [{**self.local.state_dict()["param_groups"][0], "params": list(range(len(self.params)))}]
        state = {self.mine[place]: value for place, value in self.local.state_dict()["state"].items()}
        return {"state": state, "param_groups": groups}


# %% exercise="12.7" role="mutant" why="the numbers of the shares in the place of those of the whole"
class Sharded(Dealt):
    def full_state(self):
        states = [None] * dist.get_world_size()
        dist.all_gather_object(states, self.local.state_dict() if self.local is not None else None)
        whole = {}
        for state in filter(None, states):
            whole |= {len(whole) + place: value for place, value in state["state"].items()}
            groups = state["param_groups"]
        return {"state": whole, "param_groups": [{**groups[0], "params": list(range(len(self.params)))}]}


# %% exercise="12.7" role="mutant" why="a rank with an empty share makes an optimizer of nothing, which raises"
class Sharded(Dealt):
    def __init__(self, params, optimizer_class, **defaults):
        self.params = list(params)
        self.shares = self.dealt(dist.get_world_size())
        self.mine = self.shares[dist.get_rank()]
        self.local = optimizer_class([self.params[index] for index in self.mine], **defaults)
