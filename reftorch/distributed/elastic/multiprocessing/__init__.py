"""The processes of a job on one machine.

Mirrors: torch/distributed/elastic/multiprocessing/__init__.py
Leaves out: processes that run a function; ``reftorch.multiprocessing.spawn`` starts those.
"""
