"""Which machine keeps the store, where nobody has given the machines numbers.

Mirrors: test/distributed/elastic/agent/server/test/local_elastic_agent_test.py
"""

from reftorch.distributed.elastic.agent.server.local_elastic_agent import _is_this_machine


def test_the_store_is_on_the_machine_of_the_address() -> None:
    """A store listens on all addresses, so that it opens its port also on a machine that it is not meant for."""
    assert _is_this_machine("127.0.0.1") and _is_this_machine("localhost")
    assert not _is_this_machine("192.0.2.1")  # reserved for documentation
    assert not _is_this_machine("no-such-machine.invalid")
