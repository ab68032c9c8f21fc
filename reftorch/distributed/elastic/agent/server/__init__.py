"""The agent of a machine: it starts the machine's workers, watches them, and ends them all if one fails.

Mirrors: torch/distributed/elastic/agent/server/__init__.py
Leaves out: other agents than that of local processes.
"""

from reftorch.distributed.elastic.agent.server.local_elastic_agent import LocalElasticAgent

__all__ = ["LocalElasticAgent"]
