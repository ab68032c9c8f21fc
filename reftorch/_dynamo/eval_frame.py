"""The class of compiled modules, at the place where libraries import it.

Mirrors: torch/_dynamo/eval_frame.py
Leaves out: the tracer.
"""

from reftorch._dynamo import OptimizedModule, optimize

__all__ = ["OptimizedModule", "optimize"]
