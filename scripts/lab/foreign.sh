# shellcheck shell=bash
# Programs, libraries and headers of another architecture than this machine's: packages of the distribution, unpacked
# into a folder of the lab's cache, not installed. Sourced by roce-lab, whose guest of that architecture has them for
# its own, and by what compiles for it.
# shellcheck disable=SC2034  # what it sets is read by its callers

FOREIGN_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/jrsocket-lab

# What our native code is linked with.
FOREIGN_LINK=(libc6-dev librdmacm-dev libibverbs-dev)
# What the guest's scripts and the tests use. The JDK is the distribution's own choice.
FOREIGN_GUEST=(base-files bash dash coreutils util-linux mount iproute2 procps grep sed mawk findutils hostname kmod
  busybox-static librdmacm1 ibverbs-providers ibverbs-utils rdmacm-utils perftest default-jre-headless)

# Debian's name of an architecture, or nothing.
foreign_debian() {
  case $1 in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
  esac
}

# foreign_apt DEBIAN_ARCH: has apt work for that architecture, with lists of its own in FOREIGN_LISTS: this machine's
# dpkg does not hear of it.
foreign_apt() {
  local apt=$FOREIGN_CACHE/apt-$1
  FOREIGN_LISTS=$apt/state/lists
  mkdir -p "$apt"/{state/lists/partial,cache/archives/partial}
  : >>"$apt/state/status"
  {
    [ -z "${APT_CONFIG:-}" ] || [ "$APT_CONFIG" = "$apt/conf" ] || echo "#include \"$APT_CONFIG\""
    cat <<END
APT::Architecture "$1";
APT::Architectures { "$1"; };
Dir::State "$apt/state";
Dir::State::status "$apt/state/status";
Dir::State::lists "$apt/state/lists";
Dir::Cache "$apt/cache";
Dir::Cache::archives "$apt/cache/archives";
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
END
  } >"$apt/conf.$BASHPID"
  mv "$apt/conf.$BASHPID" "$apt/conf"
  export APT_CONFIG=$apt/conf
}

# foreign_ensure ARCH PACKAGE...: sets FOREIGN_ROOT to a folder with these and what they need, and makes it if it is
# new. Fails where that is impossible, with the reason in FOREIGN_WHY.
foreign_ensure() {
  local arch=$1 debian recipe
  shift
  debian=$(foreign_debian "$arch")
  FOREIGN_WHY="Debian has no packages of $arch"
  [ -n "$debian" ] || return 1
  FOREIGN_WHY="packages of $arch need Debian's apt-get"
  command -v apt-get >/dev/null || return 1
  recipe=$({ echo "$*"; cat "${BASH_SOURCE[0]}"; } | sha256sum | cut -c1-12)
  FOREIGN_ROOT=$FOREIGN_CACHE/root-$debian-$recipe
  FOREIGN_WHY="apt-get cannot get packages of $debian (Ubuntu has them elsewhere than its own), or not unpack them"
  mkdir -p "$FOREIGN_CACHE" || return 1
  foreign_is_made && touch "$FOREIGN_ROOT.done" && return
  # In a process of its own, with which the lock ends.
  (foreign_make "$debian" "$@")
}

foreign_is_made() { [ -e "$FOREIGN_ROOT.done" ] && [ -d "$FOREIGN_ROOT" ]; }

# foreign_make DEBIAN_ARCH PACKAGE...: makes FOREIGN_ROOT. In a subshell.
foreign_make() {
  local debian=$1 apt=$FOREIGN_CACHE/apt-$1/cache/archives lock deb old
  shift
  # One maker at a time; the others wait and then find it done.
  exec {lock}>"$FOREIGN_CACHE/lock-roots" && flock "$lock" || return 1
  ! foreign_is_made || return 0
  echo "${0##*/}: unpacking Debian's packages of $debian into ${FOREIGN_ROOT%/*} (once)" >&2
  rm -rf "$FOREIGN_ROOT" "$apt"/*.deb # what is left of a former try may be of other versions
  mkdir -p "$FOREIGN_ROOT"/usr/{bin,sbin,lib} && ln -s usr/bin usr/sbin usr/lib "$FOREIGN_ROOT" || return 1
  foreign_apt "$debian"
  # The lists may be absent or too old for what the mirror still holds.
  foreign_download "$@" 2>/dev/null || { apt-get update -qq >&2 && foreign_download "$@"; } || return 1
  for deb in "$apt"/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$FOREIGN_ROOT" --keep-directory-symlink --no-same-owner || return 1
  done
  rm -f "$apt"/*.deb
  touch "$FOREIGN_ROOT.done"
  # Those of former recipes, once nobody has used them for a week.
  for old in "$FOREIGN_CACHE"/root-*; do
    case $old in *.done) continue ;; esac
    [ -n "$(find "$old.done" -mtime -7 2>/dev/null)" ] || rm -rf "$old" "$old.done"
  done
}

foreign_download() { apt-get install -y -qq --download-only "$@" >/dev/null; }

# foreign_compiler ARCH: has our native build, rsocket-core/src/main/native/build, find a compiler for that machine, in
# CC_ARCH, unless there is one. Fails with the reason in FOREIGN_WHY.
foreign_compiler() {
  local lab=${BASH_SOURCE[0]%/*} compiler=CC_$1
  [ -z "${!compiler:-}" ] || return 0
  "$lab/../install-deps" "cross-$1" || { FOREIGN_WHY="no compiler for $1, see above"; return 1; }
  foreign_ensure "$1" "${FOREIGN_LINK[@]}" || return 1
  FOREIGN_WHY="the compiler's options are split at spaces, and $FOREIGN_CACHE has one"
  [[ $FOREIGN_ROOT != *[[:space:]]* ]] || return 1
  export "CC_$1=$1-linux-gnu-gcc --sysroot=$FOREIGN_ROOT"
}
