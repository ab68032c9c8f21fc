"""Datasets, samplers and the loader that makes batches from them.

Mirrors: torch/utils/data/__init__.py
Leaves out: data pipes, which PyTorch has given up.
"""

from reftorch.utils.data._utils.collate import default_collate, default_convert
from reftorch.utils.data._utils.worker import get_worker_info
from reftorch.utils.data.dataloader import DataLoader
from reftorch.utils.data.dataloader import _DatasetKind as _DatasetKind
from reftorch.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from reftorch.utils.data.distributed import DistributedSampler
from reftorch.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]
