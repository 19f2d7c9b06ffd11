# shellcheck shell=bash
# Programs, libraries and headers of another architecture than this machine's: packages of the distribution, unpacked
# into a folder, not installed. Sourced by roce-lab, whose guest of that architecture has them for its own, and by
# package, which links against them.
# shellcheck disable=SC2034  # what it sets is read by its callers

# What the guest's scripts and the tests use, a JDK included, and what our native code is linked with.
FOREIGN_PACKAGES=(base-files bash dash coreutils util-linux mount iproute2 procps grep sed mawk findutils hostname kmod
  busybox-static libc6-dev librdmacm-dev libibverbs-dev librdmacm1 ibverbs-providers ibverbs-utils rdmacm-utils perftest
  openjdk-17-jre-headless)

# Debian's name of an architecture, or nothing.
foreign_debian() {
  case $1 in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
  esac
}

# foreign_apt DEBIAN_ARCH CACHE: has apt work for that architecture, with lists of its own in FOREIGN_LISTS: this
# machine's dpkg does not hear of it.
foreign_apt() {
  local apt=$2/apt-$1
  FOREIGN_LISTS=$apt/state/lists
  if [ ! -s "$apt/conf" ]; then
    mkdir -p "$apt"/{state/lists/partial,cache/archives/partial}
    : >"$apt/state/status"
    cat >"$apt/conf" <<END
APT::Architecture "$1";
APT::Architectures { "$1"; };
Dir::State "$apt/state";
Dir::State::status "$apt/state/status";
Dir::Cache "$apt/cache";
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
END
  fi
  export APT_CONFIG=$apt/conf
}

# foreign_ensure ARCH CACHE: sets FOREIGN_ROOT to the folder, and makes it if it is new. Fails where that is impossible,
# with the reason in FOREIGN_WHY.
foreign_ensure() {
  local debian recipe lock deb apt
  debian=$(foreign_debian "$1")
  FOREIGN_WHY="Debian has no packages of $1"
  [ -n "$debian" ] || return 1
  recipe=$(sha256sum <"${BASH_SOURCE[0]}" | cut -c1-12)
  FOREIGN_ROOT=$2/root-$debian-$recipe
  [ ! -e "$FOREIGN_ROOT.done" ] || { touch "$FOREIGN_ROOT.done"; return 0; }
  FOREIGN_WHY="packages of $1 need Debian's apt-get"
  command -v apt-get >/dev/null || return 1
  mkdir -p "$2"
  # One maker at a time; the others wait and then find it done.
  exec {lock}>"$2/lock"
  flock "$lock"
  if [ ! -e "$FOREIGN_ROOT.done" ]; then
    echo "${0##*/}: unpacking Debian's packages of $debian into ${FOREIGN_ROOT%/*} (once)" >&2
    rm -rf "$FOREIGN_ROOT"
    mkdir -p "$FOREIGN_ROOT"/usr/{bin,sbin,lib}
    ln -s usr/bin usr/sbin usr/lib "$FOREIGN_ROOT"
    (
      foreign_apt "$debian" "$2"
      # The lists may be absent or too old for what the mirror still holds.
      download() { apt-get install -y -qq --download-only "${FOREIGN_PACKAGES[@]}" >/dev/null; }
      download 2>/dev/null || { apt-get update -qq >&2 && download; }
    ) || { FOREIGN_WHY="apt-get cannot download packages of $debian"; return 1; }
    apt=$2/apt-$debian/cache/archives
    for deb in "$apt"/*.deb; do
      dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$FOREIGN_ROOT" --keep-directory-symlink --no-same-owner ||
        { FOREIGN_WHY="cannot unpack $deb"; return 1; }
    done
    rm -f "$apt"/*.deb
    touch "$FOREIGN_ROOT.done"
    # Those of former recipes, once nobody has used them for a week.
    find "$2" -maxdepth 1 -name 'root-*.done' -mtime +7 -printf '%p\n' | while read -r deb; do
      rm -rf "${deb%.done}" "$deb"
    done
  fi
  exec {lock}>&-
}

# foreign_compiler ARCH: has our native build, rsocket-core/src/main/native/build, find a compiler for that machine.
# Fails with the reason in FOREIGN_WHY.
foreign_compiler() {
  local lab=${BASH_SOURCE[0]%/*}
  "$lab/../install-deps" "cross-$1" || { FOREIGN_WHY="no compiler for $1, see above"; return 1; }
  foreign_ensure "$1" "${XDG_CACHE_HOME:-$HOME/.cache}/jrsocket-lab" || return 1
  export "CC_$1=$1-linux-gnu-gcc --sysroot=$FOREIGN_ROOT"
}
