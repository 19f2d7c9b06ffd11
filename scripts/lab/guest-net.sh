# shellcheck shell=bash
# Network and RDMA device of the guest. Sourced by guest.
# shellcheck disable=SC2154,SC2034  # mode, rxe, ... come from the job's config; net_env is read by guest

net_env=(ROCE_LAB=1)

net_up() {
  # Duplicate address detection would keep an address unusable for a second, and there is nobody to clash with.
  echo 0 >/proc/sys/net/ipv6/conf/all/accept_dad
  echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
  echo 1 >/proc/sys/net/core/devconf_inherit_init_net
  case $mode in
    run) net_one ;;
    hosts) net_pair ;;
  esac
}

net_one() {
  $bb hostname roce-lab
  # Only so is the second namespace a host without an RDMA device; must be set before there is one.
  [ "$rxe" = 0 ] || rdma system set netns exclusive
  ip -batch - <<END || fail "cannot make the network"
link set lo up
link add veth0 mtu 9000 type veth peer name veth1 mtu 9000
netns add tcponly
link set veth1 netns tcponly
address add 10.77.0.1/24 dev veth0
address add fd77::1/64 dev veth0 nodad
link set veth0 up
END
  ip -n tcponly -batch - <<END || fail "cannot make the network of tcponly"
link set lo up
address add 10.77.0.2/24 dev veth1
address add fd77::2/64 dev veth1 nodad
link set veth1 up
END
  net_env+=(ROCE_LAB_NETDEV=veth0 ROCE_LAB_ADDR=10.77.0.1 ROCE_LAB_ADDR6=fd77::1
    ROCE_LAB_TCP_NETNS=tcponly ROCE_LAB_TCP_ADDR=10.77.0.2 ROCE_LAB_TCP_ADDR6=fd77::2)
  net_rxe veth0 0a4d:0001 fd77:0000:0000:0000:0000:0000:0000:0001
}

net_pair() {
  local self=1 peer=2
  other=b
  [ "$guest" = a ] || { self=2; peer=1; other=a; }
  $bb hostname "roce-lab-$guest"
  # So that an IPv6 address outlives lab-link down.
  echo 1 >/proc/sys/net/ipv6/conf/all/keep_addr_on_down
  ip -batch - <<END || fail "cannot make the network"
link set lo up
address add 10.78.0.$self/24 dev eth0
address add fd78::$self/64 dev eth0 nodad
link set eth0 mtu 9000 up
END
  if [ -e /sys/class/net/eth1 ]; then
    # No address of its own making. Once up: before that the card takes every packet, and QEMU keeps them for it.
    echo 1 >/proc/sys/net/ipv6/conf/eth1/disable_ipv6
    ip -batch - <<END || fail "cannot make the second network device"
link set eth1 mtu 9000 up
link set eth1 down
END
  fi
  net_env+=("ROCE_LAB_HOST=$guest" ROCE_LAB_NETDEV=eth0
    "ROCE_LAB_ADDR=10.78.0.$self" "ROCE_LAB_ADDR6=fd78::$self"
    "ROCE_LAB_PEER=10.78.0.$peer" "ROCE_LAB_PEER6=fd78::$peer")
  net_rxe eth0 "0a4e:000$self" "fd78:0000:0000:0000:0000:0000:0000:000$self"
  net_reach "10.78.0.$peer"
  net_reach "fd78::$peer"
  # The last wait: only when this host knows that the other has come that far too may it disturb the network.
  : >"$ctl/$guest/reached"
  net_wait "$ctl/$other/reached"
  if [ -n "$netem" ]; then
    # shellcheck disable=SC2086  # several words
    ROCE_LAB_NETDEV=eth0 "$lab_dir/guest-bin/lab-link" netem $netem || fail "tc refused the netem '$netem'"
  fi
}

net_reach() {
  local tries
  for ((tries = 0; tries < 120; tries++)); do
    $bb ping -c 1 -W 1 -A "$1" >/dev/null 2>&1 && return
    $bb usleep 100000
  done
  fail "the other host does not answer at $1"
}

# Waits until the other host has written a control file; the host side ends both guests if one of them dies.
net_wait() { until [ -e "$1" ]; do $bb usleep 50000; done; }

# net_rxe NETDEV V4_IN_HEX V6_IN_FULL: the device, and the wait until the kernel has made a GID of each address.
net_rxe() {
  [ "$rxe" = 1 ] || return 0
  rdma link add rxe0 type rxe netdev "$1" || fail "cannot add rxe0"
  net_gid "0000:0000:0000:0000:0000:ffff:$2"
  net_gid "$3"
  net_env+=(ROCE_LAB_DEVICE=rxe0)
}

net_gid() {
  local port=/sys/class/infiniband/rxe0/ports/1 tries index gid type
  for ((tries = 0; tries < 600; tries++)); do
    # rxe has 1024 slots and fills them from the first; reading them all takes seconds here.
    for ((index = 0; index < 8; index++)); do
      gid='' type=''
      read -r gid <"$port/gids/$index"
      read -r type <"$port/gid_attrs/types/$index"
      [ "$gid $type" != "$1 RoCE v2" ] || return 0
    done 2>/dev/null
    $bb usleep 50000
  done
  fail "rxe0 has no GID $1 after 30 s"
}

# A real host stays on the network when a program ends: its last packets may have to be sent again.
net_end() { [ "$mode" = run ] || net_wait "$ctl/$other/status"; }
