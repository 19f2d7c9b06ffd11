# shellcheck shell=bash
# Starts guests and waits for them. Sourced by roce-lab, whose variables it uses.
# shellcheck disable=SC2154  # timeout, memory, ... are roce-lab's options

# A stock kernel does not boot under every /dev/kvm: under some nested hypervisors the guest hangs before its first
# line. So a boot is tried once per host kernel, guest kernel and QEMU, with a limit.
accel_ensure() {
  LAB_ACCEL=$accel
  [ -z "$FOREIGN_ROOT" ] || LAB_ACCEL=tcg
  [ -z "$LAB_ACCEL" ] || return 0
  LAB_ACCEL=tcg
  [ -r /dev/kvm ] && [ -w /dev/kvm ] || return 0
  local key known
  key=$({ uname -rv; grep -m1 'model name' /proc/cpuinfo; qemu-system-x86_64 --version; cat "$LAB_IMAGE/release"; } |
    sha256sum)
  known=$LAB_CACHE/accel-${key:0:16}
  if [ ! -s "$known" ]; then
    local log
    log=$(mktemp)
    LAB_ACCEL=kvm
    # In a shell of its own, whose report of the kill nobody wants.
    accel_args
    (timeout -s KILL 10 qemu-system-x86_64 "${QEMU_BASE[@]}" "${accel_args[@]}" -m 512 -smp 1 \
      -kernel "$LAB_IMAGE/kernel" -initrd "$LAB_IMAGE/initrd" -serial "file:$log" \
      -append "console=ttyS0 panic=-1 roce-lab.probe" || true) </dev/null >/dev/null 2>&1
    if ! grep -q 'roce-lab: probe ok' "$log"; then
      say "/dev/kvm is here, but a guest does not boot with it within 10 s: using TCG (remembered)"
      LAB_ACCEL=tcg
    fi
    rm -f "$log"
    echo "$LAB_ACCEL" >"$known.$$" && mv "$known.$$" "$known"
  fi
  LAB_ACCEL=$(cat "$known")
}

QEMU_BASE=(-nodefaults -no-user-config -display none -monitor none -no-reboot)

# TCG runs "rep movsb" byte by byte, and the kernel copies by it where the CPU claims that to be fast: without erms and
# fsrm rxe reaches twice the bandwidth (75 and 150 MB/s). Without AVX the JVM's array code takes half the time. Five
# levels of page tables, SMAP and XSAVE are a twelfth of what the start of a JVM takes.
# Of aarch64 a processor of servers: "max" signs each return address, which takes an emulator long.
accel_args() {
  case $LAB_ACCEL-$arch in
    *-aarch64) accel_args=(-machine virt,gic-version=3 -accel "tcg,thread=multi" -cpu "${ROCE_LAB_CPU:-neoverse-n1}") ;;
    kvm-*) accel_args=(-machine q35 -accel kvm -cpu host) ;;
    tcg-*)
      accel_args=(-machine q35 -accel "tcg,thread=multi"
        -cpu "${ROCE_LAB_CPU:-max,erms=off,fsrm=off,avx=off,avx2=off,la57=off,smap=off,xsave=off}") ;;
  esac

}

guests=() streams=()

# Any number of runs share a lock, one that measures has it alone. Everybody queues for the turn first, so that one that
# waits to be alone is not overtaken for ever. The lock ends with the last process of the run that holds it.
lab_turn() {
  local turn use how=-s
  [ "$alone" -eq 0 ] || how=-x
  exec {turn}>"$LAB_CACHE/turn" {use}>"$LAB_CACHE/use"
  if ! flock -w 1 "$turn" || ! flock -n $how "$use"; then
    say "waiting for another roce-lab run to end (one of the two is to be --alone)"
    # Second by second: a flock that outlives this script, because that was killed, must not take what nobody gives
    # back.
    until flock -w 1 "$turn"; do :; done
    until flock -w 1 $how "$use"; do :; done
  fi
  exec {turn}>&-
}

lab_prepare() {
  trap 'lab_end' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  run=$(mktemp -d "${TMPDIR:-/tmp}/roce-lab.XXXXXX")
  if [ -z "$scratch" ]; then
    scratch=$run/scratch
    mkdir "$scratch"
  else
    mkdir -p "$scratch"
    scratch=$(cd "$scratch" && pwd)
  fi
  mkdir "$run/ctl"
  echo "$LAB_DIR" >"$run/ctl/lab-dir"
}

lab_end() {
  local status=$?
  trap - EXIT
  trap '' HUP INT TERM
  guests_kill
  # By name: a bare "wait" also waits for process substitutions. Bash sometimes misses the end of one, and then waits
  # for children that it was started with, such as the reader of its own output, for ever.
  [ ${#streams[@]} -eq 0 ] || wait "${streams[@]}" 2>/dev/null || true
  rm -rf "$run"
  exit "$status"
}

# guest_job NAME COMMAND...: writes what the guest needs to know; strings are separated by NUL, so any are possible.
guest_job() {
  local job=$run/ctl/$1 name
  if [ -n "$FOREIGN_ROOT" ]; then
    local JAVA_HOME=/usr/lib/jvm/default-java
    local PATH=$JAVA_HOME/bin:$PATH
  fi
  shift
  mkdir "$job"
  printf '%s\0' "$@" >"$job/argv"
  pwd >"$job/cwd"
  {
    for name in PATH HOME JAVA_HOME LANG; do
      [ -z "${!name+set}" ] || printf '%s\0' "$name=${!name}"
    done
    [ ${#extra_env[@]} -eq 0 ] || printf '%s\0' "${extra_env[@]}"
  } >"$job/env"
  {
    declare -p mode scratch memlock rxe netem link_down_after
    echo "modules=${LAB_IMAGE@Q}/modules"
  } >"$job/config"
  : >"$job/out"
  : >"$job/err"
}

# On a busy host the guest gets its timer ticks late. It must not conclude that there is no timer (a panic) nor measure
# a wrong clock rate: under TCG the guest's TSC is the host's, and bogomips is twice its MHz.
kernel_args() {
  local khz
  kernel_args="quiet panic=-1 mitigations=off random.trust_cpu=on${FOREIGN_ROOT:+ roce-lab.foreign}"
  case $arch in
    x86_64) kernel_args+=" console=ttyS0 unknown_nmi_panic tsc=reliable no_timer_check" ;;
    *) kernel_args+=" console=ttyAMA0" ;;
  esac
  [ "$LAB_ACCEL" = tcg ] || return 0
  # The emulator keeps what it has translated by virtual address: where each program has its libraries elsewhere, it
  # translates them for each one again. The start of a program takes half as long without that, a JVM's start too. The
  # rest is work that protects nothing here: pages are cleared twice, and each system call is checked.
  kernel_args+=" norandmaps init_on_alloc=0 apparmor=0 audit=0"
  [ "$arch" = x86_64 ] || return 0
  khz=$(awk '$1 == "bogomips" { printf "%d", $3 * 500; exit }' /proc/cpuinfo)
  [ -z "$khz" ] || kernel_args+=" tsc_early_khz=$khz"
}

# guest_start NAME QEMU_ARG...: boots one guest. It dies with this script, whatever ends the script.
guest_start() {
  local name=$1 foreign=()
  shift
  accel_args
  kernel_args
  [ -z "$FOREIGN_ROOT" ] ||
    foreign=(-fsdev "local,id=foreign,path=${FOREIGN_ROOT//,/,,},security_model=none,readonly=on,multidevs=remap"
      -device virtio-9p-pci,fsdev=foreign,mount_tag=labforeign)
  mkfifo "$run/$name.monitor.in" "$run/$name.monitor.out"
  setpriv --pdeathsig KILL "qemu-system-$arch" "${QEMU_BASE[@]}" "${accel_args[@]}" \
    -name "roce-lab-$name" -m "$memory" -smp "$cpus" \
    -kernel "$LAB_IMAGE/kernel" -initrd "$LAB_IMAGE/initrd" -serial "file:${run//,/,,}/$name.console" \
    -append "$kernel_args roce-lab.rxe=$rxe roce-lab.guest=$name" \
    -chardev "pipe,id=monitor,path=${run//,/,,}/$name.monitor" -mon chardev=monitor \
    -object rng-random,id=rng0,filename=/dev/urandom -device virtio-rng-pci,rng=rng0 \
    -fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap" \
    -device virtio-9p-pci,fsdev=root,mount_tag=labroot \
    "${foreign[@]}" \
    -fsdev "local,id=ctl,path=${run//,/,,}/ctl,security_model=none" -device virtio-9p-pci,fsdev=ctl,mount_tag=labctl \
    -fsdev "local,id=scratch,path=${scratch//,/,,},security_model=none,multidevs=remap" \
    -device virtio-9p-pci,fsdev=scratch,mount_tag=labscratch \
    "$@" </dev/null >"$run/$name.qemu" 2>&1 &
  guest_pid=$!
  # Else bash reports how it was killed, at length.
  disown "$guest_pid"
  guests+=("$guest_pid")
}

# Prints a growing file until the process ends, then the rest of it.
follow() { tail -q -s 0.1 -c +1 --pid="$1" -f "$2"; }

# The limits count from here; the pipe is what guests_wait sleeps on.
clock_start() {
  exec {clock}<> <(:)
  SECONDS=0
}

# guests_wait: until all guests in names/guests have ended; sets expired when it had to end them.
guests_wait() {
  local i alive
  local -A beat=() beaten=() # of each guest: the newest beat of its heart, and when it was seen
  expired=''
  while :; do
    alive=0
    for i in "${!names[@]}"; do
      if kill -0 "${guests[i]}" 2>/dev/null; then
        alive=1
        ((SECONDS < LAB_BOOT_LIMIT)) || [ -e "$run/ctl/${names[i]}/started" ] || expired=boot
        guest_lives "${names[i]}" || expired=frozen
      elif [ ! -s "$run/ctl/${names[i]}/status" ]; then
        expired=${expired:-death}
      fi
    done
    [ $alive -eq 1 ] || return 0
    for i in "${!streams[@]}"; do
      # Whoever read the output has gone, as in "roce-lab run ... | head". Each guest has two streams, which end with
      # it.
      kill -0 "${streams[i]}" 2>/dev/null || ! kill -0 "${guests[i / 2]}" 2>/dev/null || expired=unread
    done
    ((SECONDS < timeout)) || expired=timeout
    if [ -n "$expired" ]; then
      case $expired in timeout | frozen) guests_explain ;; esac
      guests_kill
      return 0
    fi
    # A sleep without a process: this loop runs as long as the guest does.
    read -r -t 0.1 -u "$clock" || true
  done
}

# guest_lives NAME: fails when its heart has not been seen to beat for too long. Only of a guest whose command has
# started.
guest_lives() {
  local name=$1 now=''
  [ -e "$run/ctl/$name/alive" ] || return 0
  # Empty in the moment in which the guest writes it.
  read -r now <"$run/ctl/$name/alive" || [ -n "$now" ] || return 0
  if [ "$now" != "${beat[$name]:-}" ]; then
    beat[$name]=$now
    beaten[$name]=$SECONDS
  fi
  ((SECONDS - beaten[$name] < LAB_FROZEN_LIMIT))
}

# What the guests are at, on stderr, before they are killed: their own account of their processes; or, of a guest that
# does not answer, where its processors stand and the backtrace with which its kernel answers an NMI.
guests_explain() {
  local name i
  : >"$run/ctl/explain"
  for name in "${names[@]}"; do
    for ((i = 0; i < 200; i++)); do
      [ ! -e "$run/ctl/$name/explained" ] || break
      read -r -t 0.1 -u "$clock" || true
    done
    if [ -e "$run/ctl/$name/explained" ]; then
      read -r -t 1 -u "$clock" || true # the stream of its output
      continue
    fi
    say "guest $name does not answer; its processors, and what its kernel prints at an NMI:"
    printf 'info registers -a\nnmi\n' | timeout 2 tee "$run/$name.monitor.in" >/dev/null || true
    timeout 3 cat "$run/$name.monitor.out" | grep -a 'CPU#\|RIP=\| PC=' >&2 || true
    tail -n 60 "$run/$name.console" >&2 2>/dev/null || true
  done
}

guests_kill() {
  local pid
  for pid in "${guests[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
}

# guest_status NAME: the command's status, or what replaces it, told on stderr.
guest_status() {
  local name=$1 job=$run/ctl/$1 what=guest
  [ "$mode" = run ] || what="host $name"
  if [ -s "$job/status" ]; then
    cat "$job/status"
    return
  fi
  if [ "$expired" = timeout ] && [ -e "$job/started" ]; then
    say "$what: the command did not end within $timeout s, killed"
    echo 124
    return
  fi
  case $expired in
    unread) echo 141; return ;;
    timeout) say "$what: not ready within the timeout of $timeout s; its console:" ;;
    boot) say "$what: not ready within $LAB_BOOT_LIMIT s; its console:" ;;
    frozen)
      say "$what: stood still for $LAB_FROZEN_LIMIT s, or was ended because the other did, killed; see above"
      echo 125
      return ;;
    *) say "$what: died or was ended because the other died; its console:" ;;
  esac
  tail -n 40 "$run/$name.qemu" "$run/$name.console" >&2 2>/dev/null || true
  echo 125
}

lab_run() {
  local status
  names=(a)
  clock_start
  guest_job a "${command_a[@]}"
  guest_start a
  follow "$guest_pid" "$run/ctl/a/out" & streams+=($!)
  follow "$guest_pid" "$run/ctl/a/err" >&2 & streams+=($!)
  guests_wait
  wait "${streams[@]}" || true
  status=$(guest_status a)
  exit "$status"
}

# Sets nics: the network devices of a guest on the cable, whose MAC addresses end with a digit. Where there are two, a
# hub joins them and the cable.
nics_of() {
  nics=(-device "virtio-net-pci,netdev=net,mac=52:54:00:78:00:0$1")
  [ "$two_links" -eq 0 ] || nics=(-netdev hubport,id=plug,hubid=0,netdev=net
    -netdev hubport,id=port0,hubid=0 -device "virtio-net-pci,netdev=port0,mac=52:54:00:78:00:0$1"
    -netdev hubport,id=port1,hubid=0 -device "virtio-net-pci,netdev=port1,mac=52:54:00:78:00:1$1")
}

# Two guests on one emulated cable: a stream socket, which a listens on and b connects to.
lab_hosts() {
  local socket=$run/net.sock status_a status_b nics
  names=(a b)
  clock_start
  guest_job a "${command_a[@]}"
  guest_job b "${command_b[@]}"
  nics_of 1
  guest_start a -netdev "stream,id=net,server=on,addr.type=unix,addr.path=$socket" "${nics[@]}"
  follow_prefixed a
  until [ -S "$socket" ]; do
    kill -0 "$guest_pid" 2>/dev/null || die "host a: QEMU did not start: $(cat "$run/a.qemu")"
    read -r -t 0.1 -u "$clock" || true
  done
  nics_of 2
  guest_start b -netdev "stream,id=net,server=off,addr.type=unix,addr.path=$socket" "${nics[@]}"
  follow_prefixed b
  guests_wait
  wait "${streams[@]}" || true
  status_a=$(guest_status a)
  status_b=$(guest_status b)
  [ "$status_a" -eq 0 ] || exit "$status_a"
  exit "$status_b"
}

follow_prefixed() {
  follow "$guest_pid" "$run/ctl/$1/out" | sed -u "s/^/$1| /" & streams+=($!)
  follow "$guest_pid" "$run/ctl/$1/err" | sed -u "s/^/$1| /" >&2 & streams+=($!)
}
