# shellcheck shell=bash
# Kernel, modules and initrd of the guest, built once into the cache. Sourced by roce-lab.
# shellcheck disable=SC2034  # what it sets is read by its callers

# Loaded at boot with all they depend on. crc32_generic is no dependency on paper, but rxe asks the crypto API for it
# and fails with ENOENT where it is absent. Everything else is found by modprobe in the guest.
LAB_MODULES=(virtio_pci 9pnet_virtio 9p overlay veth virtio_net virtio_rng)
LAB_RDMA_MODULES=(crc32_generic rdma_rxe ib_uverbs rdma_ucm ib_umad)

# What is kept of the kernel package (400 MB unpacked): enough for rxe, netem, filters and congestion control.
LAB_TREES=(arch crypto lib net fs/9p fs/netfs fs/fscache fs/overlayfs fs/configfs drivers/virtio 'drivers/net/veth.ko*'
  'drivers/net/virtio_net.ko*' 'drivers/net/net_failover.ko*' 'drivers/net/ifb.ko*' 'drivers/net/dummy.ko*'
  drivers/char/hw_random drivers/infiniband/core drivers/infiniband/sw)

image_apt() { apt-get -qq -o APT::Sandbox::User="$(id -un)" "$@"; }

# The kernel package that the distribution installs today: name and version. Asking apt takes a second, so the answer is
# kept until apt's lists change.
image_candidate() {
  local kept=$LAB_CACHE/candidate-$arch
  if ! [ "$kept" -nt "${FOREIGN_LISTS:-/var/lib/apt/lists}" ] || ! [ -s "$kept" ]; then
    mkdir -p "$LAB_CACHE"
    image_ask_apt >"$kept.$$" || { rm -f "$kept.$$"; return 1; }
    mv "$kept.$$" "$kept"
  fi
  cat "$kept"
}

image_ask_apt() {
  local meta name
  meta=linux-image-$(foreign_debian "$arch")
  name=$(apt-cache depends --no-recommends --no-suggests "$meta" 2>/dev/null |
    awk '$1 == "Depends:" { print $2; exit }')
  [ -n "$name" ] || return 1
  apt-cache policy "$name" | awk -v name="$name" '
    $1 == "Candidate:" && $2 != "(none)" { print name, $2; found = 1 }
    END { exit !found }'
}

# Sets LAB_IMAGE to a folder with kernel, initrd, release, modules/; builds it first if it is new.
image_ensure() {
  local recipe name version lock
  recipe=$(cat "$LAB_DIR/initrd-init" "$LAB_DIR/image.sh" | sha256sum | cut -c1-12)
  image_name || { [ -z "$kernel" ] && image_update && image_name; } ||
    skip "apt knows no package linux-image-$(foreign_debian "$arch")" \
      "(Debian is needed, and the lists that apt-get update fetches)"
  if [ -e "$LAB_IMAGE/done" ]; then
    touch "$LAB_IMAGE/done"
    return
  fi
  # One builder at a time; the others wait and then find it done.
  exec {lock}>"$LAB_CACHE/lock"
  flock "$lock"
  # The lists may be too old for what the mirror still holds.
  image_download || { image_update && image_name && image_download; } ||
    skip "cannot download $name=$version by apt-get (where its lists are old, run apt-get update first)"
  [ -e "$LAB_IMAGE/done" ] || image_build "$name" "$version"
  exec {lock}>&-
}

# Sets LAB_IMAGE, and image_ensure's name and version, from what apt knows; fails if that is nothing.
image_name() {
  local candidate
  if [ -n "$kernel" ]; then
    name=$(dpkg-deb -f "$kernel" Package) && version=$(dpkg-deb -f "$kernel" Version) || die "$kernel is no package"
  else
    candidate=$(image_candidate) || return 1
    read -r name version <<<"$candidate"
  fi
  LAB_IMAGE=$LAB_CACHE/${name#linux-image-}_${version//[^A-Za-z0-9.+~-]/_}-$recipe
}

# New lists for apt, where we may; fails where we may not, or there is no network.
image_update() {
  { [ "$(id -u)" -eq 0 ] || [ -n "$FOREIGN_ROOT" ]; } && apt-get update -qq >&2 && rm -f "$LAB_CACHE/candidate-$arch"
}

# The package, into the image's folder; nothing to do if there is an image.
image_download() {
  [ ! -e "$LAB_IMAGE/done" ] || return 0
  say "building the guest's image from $name $version (once)"
  rm -rf "$LAB_IMAGE" && mkdir -p "$LAB_IMAGE/tmp" &&
    if [ -n "$kernel" ]; then
      cp "$kernel" "$LAB_IMAGE/tmp"
    else
      (cd "$LAB_IMAGE/tmp" && image_apt download "$name=$version" >&2)
    fi ||
    { rm -rf "$LAB_IMAGE"; return 1; }
}

image_build() {
  local name=$1 version=$2 work=$LAB_IMAGE/tmp release tree
  release=${name#linux-image-}
  # Under /usr since Debian 13.
  local patterns=("./boot/vmlinuz-$release" "*lib/modules/$release/modules.*")
  for tree in "${LAB_TREES[@]}"; do patterns+=("*lib/modules/$release/kernel/$tree"); done
  dpkg-deb --fsys-tarfile "$work"/*.deb | (cd "$work" && tar -x --wildcards "${patterns[@]}" 2>tar.log) ||
    image_partial "$work" "$release" || die "cannot unpack $name: $(tail -n 3 "$work/tar.log")"
  image_kernel "$work/boot/vmlinuz-$release"
  mv "$work"/*/modules/"$release" "$LAB_IMAGE/modules" 2>/dev/null ||
    mv "$work"/usr/lib/modules/"$release" "$LAB_IMAGE/modules"
  # Compressed since then, too: the initrd has nothing that unpacks them.
  find "$LAB_IMAGE/modules" -name '*.ko.xz' -exec xz -d {} +
  mkdir -p "$work/base/lib/modules" && ln -s "$LAB_IMAGE/modules" "$work/base/lib/modules/$release"
  depmod -b "$work/base" "$release"
  image_initrd "$work/initrd" "$work/base" "$release"
  echo "$release" >"$LAB_IMAGE/release"
  rm -rf "$work"
  touch "$LAB_IMAGE/done"
  # Images of former kernels and recipes, once nobody has used them for a week.
  find "$LAB_CACHE" -mindepth 2 -maxdepth 2 -name 'done' -mtime +7 -printf '%h\0' | xargs -0r rm -rf
}

# tar ends with 2 when a pattern matched nothing: another kernel version may have built a folder in. depmod and modprobe
# tell later if something needed is absent; only the kernel itself is checked here.
image_partial() {
  [ -e "$1/boot/vmlinuz-$2" ] && [ -n "$(find "$1" -path "*/lib/modules/$2/kernel/net" -print -quit)" ]
}

# Unpacks the kernel out of its bzImage (offsets: the kernel's Documentation/x86/boot.rst), because unpacking itself
# under TCG takes it 3 s at every boot. QEMU enters the ELF file by its PVH note. Where that fails the bzImage serves.
# That of aarch64 is not compressed.
image_kernel() {
  local sectors offset length
  [ "$arch" = x86_64 ] || { cp "$1" "$LAB_IMAGE/kernel"; return; }
  sectors=$(od -An -tu1 -j $((0x1f1)) -N1 "$1")
  offset=$(od -An -tu4 -j $((0x248)) -N4 "$1")
  length=$(od -An -tu4 -j $((0x24c)) -N4 "$1")
  # xz grumbles about the size that follows the payload, having unpacked all of it; so its status says nothing.
  tail -c +$(((sectors + 1) * 512 + offset + 1)) "$1" | head -c $((length)) |
    xz -dc --single-stream >"$LAB_IMAGE/kernel" 2>/dev/null || true
  [ "$(head -c 4 "$LAB_IMAGE/kernel" | tail -c 3)" = ELF ] || cp "$1" "$LAB_IMAGE/kernel"
}

# An initrd of busybox, the modules in load order, and initrd-init. Not compressed: unpacking costs more under TCG than
# reading.
image_initrd() {
  local root=$1 base=$2 release=$3 module verb path
  mkdir -p "$root"/{bin,dev,proc,sys,modules}
  cp "$([ -n "$FOREIGN_ROOT" ] && echo "$FOREIGN_ROOT/bin/busybox" || command -v busybox)" "$root/bin/busybox"
  cp "$LAB_DIR/initrd-init" "$root/init"
  chmod 755 "$root/init"
  image_modules "${LAB_MODULES[@]}" >"$root/modules/order"
  image_modules "${LAB_RDMA_MODULES[@]}" >"$root/modules/order.rdma"
  (cd "$root" && find . | cpio --quiet -o -H newc) >"$LAB_IMAGE/initrd"
}

# Copies modules with what they depend on, and prints the order to load them in; uses image_initrd's variables.
image_modules() {
  for module in "$@"; do
    modprobe -d "$base" -S "$release" --show-depends "$module" || die "the kernel package lacks the module $module"
  done | while read -r verb path _; do
    [ "$verb" = insmod ] || continue
    [ -e "$root/modules/${path##*/}" ] && continue
    cp "$path" "$root/modules/"
    echo "${path##*/}"
  done
}
