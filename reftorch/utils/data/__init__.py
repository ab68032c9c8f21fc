"""Datasets, samplers and the loader that makes batches from them.

Mirrors: torch/utils/data/__init__.py
Leaves out: worker processes, pinned memory, weighted and distributed sampling, and data pipes.
"""

from reftorch.utils.data._utils.collate import default_collate, default_convert
from reftorch.utils.data.dataloader import DataLoader
from reftorch.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from reftorch.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "default_collate",
    "default_convert",
    "random_split",
]
