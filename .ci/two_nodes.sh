#!/usr/bin/env bash
# Tries training on two machines: `make two-nodes` runs this. The machines are two network namespaces with a cable.
#
#   two_nodes.sh [PART ...]     default: endpoint name interface noone firewall address cable
#
# Each part starts one agent of the launcher in each namespace, as a user would on two machines, and looks for the
# messages that the page course/_tools/site/pages/howto/several_machines.md shows:
#
#   endpoint   --rdzv-endpoint with the address of node 0; no node has a number
#   name       --rdzv-endpoint with a name, which is 127.0.1.1 on the machine itself, as in Debian
#   interface  a second cable that leads nowhere; GLOO_SOCKET_IFNAME names the right one, and one that does not exist
#   noone      the other machine does not come
#   firewall   the port of the store is open, and those of the ranks are not
#   address    the address of node 0 is wrong
#   cable      the cable is cut while the ranks work
#
# Needs root and iproute2. Nothing reaches a network outside the two namespaces, which are removed at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ $(id -u) == 0 ]] || { echo "two_nodes.sh: needs root, to make network namespaces" >&2; exit 1; }

a=reftorch_a b=reftorch_b tmp=$(mktemp -d)
clean() {
  ip netns del $a 2>/dev/null || true
  ip netns del $b 2>/dev/null || true
  rm -rf "$tmp" /etc/netns/$a /etc/netns/$b
}
trap clean EXIT
clean
mkdir -p "$tmp" /etc/netns/$a /etc/netns/$b
for node in $a $b; do
  ip netns add $node
  ip -n $node link set lo up
done
cable() { # NAME NETWORK: a cable with the addresses NETWORK.1 and NETWORK.2 at its ends
  ip -n $a link add "$1" type veth peer name "$1" netns $b
  ip -n $a addr add "$2.1/24" dev "$1"
  ip -n $b addr add "$2.2/24" dev "$1"
  ip -n $a link set "$1" up
  ip -n $b link set "$1" up
}
cable eth0 10.77.0
printf '127.0.0.1 localhost\n127.0.1.1 nodea\n10.77.0.2 nodeb\n' >/etc/netns/$a/hosts
printf '127.0.0.1 localhost\n10.77.0.1 nodea\n127.0.1.1 nodeb\n' >/etc/netns/$b/hosts

cat >"$tmp/train.py" <<'PROGRAM'
import os, sys, time
from datetime import timedelta
import reftorch as torch
import reftorch.distributed as dist

seconds = float(os.environ.get("TIMEOUT", "60"))
dist.init_process_group("gloo", timeout=timedelta(seconds=seconds))
tensor = torch.ones(1000) * (dist.get_rank() + 1)
dist.all_reduce(tensor)
print(f"rank {dist.get_rank()} of {dist.get_world_size()} on node {os.environ['GROUP_RANK']}: {tensor[0].item()}", flush=True)
while "work" in sys.argv:
    dist.all_reduce(tensor)
    time.sleep(0.01)
dist.destroy_process_group()
PROGRAM

run="$PWD/.venv/bin/python -m reftorch.distributed.run --nnodes 2 --nproc-per-node 2"
on() { # NODE OPTION ...: the agent of a node
  local node=$1
  shift
  ip netns exec "$node" env PYTHONPATH="$PWD" ${TIMEOUT:+TIMEOUT=$TIMEOUT} ${IFNAME:+GLOO_SOCKET_IFNAME=$IFNAME} \
    timeout 90 $run "$@" >"$tmp/$node.out" 2>&1
}
both() { # OPTION ...: both agents; what they say is in $tmp
  on $a "$@" &
  local first=$!
  on $b "$@" || true
  wait $first || true
}
says() { # TEXT: one of the agents, or of their ranks, says this
  grep -qF -- "$1" "$tmp/$a.out" "$tmp/$b.out" && return
  echo "two_nodes.sh: nobody says: $1" >&2
  tail -n 40 "$tmp/$a.out" "$tmp/$b.out" >&2
  exit 1
}
works() { for rank in 0 1 2 3; do says "rank $rank of 4 on node $((rank / 2)): 10.0"; done; }

parts=("$@")
[[ ${#parts[@]} -gt 0 ]] || parts=(endpoint name interface noone firewall address cable)
for part in "${parts[@]}"; do
  rm -f "$tmp"/*.out
  touch "$tmp/$a.out" "$tmp/$b.out"
  case $part in
    endpoint)
      both --rdzv-endpoint 10.77.0.1:29400 "$tmp/train.py"
      works
      ;;
    name)
      both --rdzv-endpoint nodea:29400 "$tmp/train.py"
      works
      ;;
    interface)
      cable eth1 10.88.0
      ip -n $b link set eth1 down # the other end of node a's second cable
      IFNAME=eth0 both --rdzv-endpoint 10.77.0.1:29400 "$tmp/train.py"
      works
      IFNAME=eth9 both --rdzv-endpoint 10.77.0.1:29400 "$tmp/train.py"
      says "GLOO_SOCKET_IFNAME: there is no interface 'eth9' with an address"
      IFNAME=eth1 TIMEOUT=5 both --rdzv-endpoint 10.77.0.1:29400 "$tmp/train.py"
      says "waited in vain for the connections of the ranks"
      ;;
    noone)
      TIMEOUT=5 on $a --rdzv-endpoint 10.77.0.1:29400 "$tmp/train.py" || true
      says "rank 0 waited in vain for the connections of the ranks 2, 3"
      ;;
    firewall) # packets to the ports from which the kernel gives a rank one are dropped, as by a firewall
      ip -n $b rule add ipproto tcp dport 32768-60999 blackhole
      TIMEOUT=5 both --rdzv-endpoint 10.77.0.1:29400 "$tmp/train.py"
      says "waited in vain for the connections of the ranks 2, 3"
      says "The client socket has timed out while trying to connect to 10.77.0.1:"
      ip -n $b rule del ipproto tcp dport 32768-60999 blackhole
      ;;
    address)
      both --rdzv-endpoint 10.77.0.9:29400 --rdzv-timeout 3 "$tmp/train.py"
      says "[launcher] The client socket has timed out while trying to connect to 10.77.0.9:29400"
      ;;
    cable)
      TIMEOUT=5 on $a --rdzv-endpoint 10.77.0.1:29400 "$tmp/train.py" work &
      first=$!
      TIMEOUT=5 on $b --rdzv-endpoint 10.77.0.1:29400 "$tmp/train.py" work &
      second=$!
      for _ in $(seq 300); do [[ $(grep -c 10.0 "$tmp/$b.out") == 2 ]] && break; sleep 0.1; done
      ip -n $b link set eth0 down
      wait $first || true
      wait $second || true
      says "rank 2 does not answer; rank 3 does not answer (after 5000 ms)"
      ip -n $b link set eth0 up
      ;;
    *)
      echo "two_nodes.sh: unknown part $part" >&2
      exit 1
      ;;
  esac
  echo "two_nodes.sh: $part: as the page says"
  [[ -z ${SHOW:-} ]] || tail -n 30 "$tmp/$a.out" "$tmp/$b.out"
done
