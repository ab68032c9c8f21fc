"""Train a small classifier, in one process or on several ranks, and print its loss on the whole data.

    python train.py
    python -m reftorch.distributed.run --standalone --nproc-per-node 2 train.py

Mirrors: nothing in PyTorch: the program of chapter 12, and a program for the debugger.
Leaves out: devices other than the CPU, and a second data set for the loss at the end.
"""

import argparse

import reftorch as torch
import reftorch.distributed as dist
from reftorch import nn
from reftorch.nn.parallel import DistributedDataParallel
from reftorch.utils.data import DataLoader, DistributedSampler, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--samples", type=int, default=61)
parser.add_argument("--dropout", type=float, default=0.5)
parser.add_argument("--norm", choices=("batch", "sync"), default="batch")
parser.add_argument("--all-labelled", action="store_true")
parser.add_argument("--double", action="store_true", help="float64 in place of float32")
parser.add_argument("--masks", type=int, help="a seed for the masks of dropout: the first weights stay as they are")
options = parser.parse_args()

rank, ranks = 0, 1
if dist.is_torchelastic_launched():  # the launcher has started this process
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()

torch.manual_seed(7)  # every process makes the same data
inputs = torch.randn(options.samples, 10)
classes = (inputs @ torch.randn(10, 4)).argmax(1)
labels = classes.clone()
if not options.all_labelled:
    labels[torch.rand(options.samples) < 0.3] = -100  # nobody has labelled these yet, and the loss leaves them out

torch.manual_seed(0)  # every process makes the same model
model = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.Tanh(), nn.Dropout(options.dropout), nn.Linear(32, 4))
if options.norm == "sync" and ranks > 1:
    model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
if options.double:
    inputs, model = inputs.double(), model.double()
if options.masks is not None:
    torch.manual_seed(options.masks)

data = TensorDataset(inputs, labels)
sampler = DistributedSampler(data, num_replicas=ranks, rank=rank)
loader = DataLoader(data, batch_size=16 // ranks, sampler=sampler)
trained = DistributedDataParallel(model) if ranks > 1 else model
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for epoch in range(8):
    sampler.set_epoch(epoch)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(trained(x), y).backward()
        optimizer.step()

model.eval()
with torch.no_grad():
    loss = nn.functional.cross_entropy(model(inputs), classes).item()
if rank == 0:
    print(f"{ranks} rank{'s' * (ranks > 1)}: loss {loss}")
if ranks > 1:
    dist.destroy_process_group()
