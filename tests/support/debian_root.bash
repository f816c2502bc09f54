# debian_root.bash - sourced by tests in bare roots: a Debian 12 in a temporary folder, from where this machine's own
# packages come, with namespaces of its own. Needs root, debootstrap and the right to mount.
script=$(basename "$0")
: "${MUSTER_SOURCE_DIR:?names the tree}"

fail() {
  echo "$script: $*" >&2
  exit 1
}

# The address that a Debian mirror has in this machine's configuration.
find_mirror() {
  local codename
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' |
    sed -n "s|^$codename main \\(.*[^/]\\)/*\$|\\1|p" | head -n 1
}

# apt there gets its packages from where apt here does.
copy_apt_configuration() { # ROOT
  rm -f "$1/etc/apt/sources.list"
  [ ! -e /etc/apt/sources.list ] || cp /etc/apt/sources.list "$1/etc/apt/"
  find /etc/apt/sources.list.d '(' -name '*.list' -o -name '*.sources' ')' -exec cp -t "$1/etc/apt/sources.list.d" {} +
  cp -rn /usr/share/keyrings/. "$1/usr/share/keyrings/"
  [ ! -d /etc/apt/keyrings ] || cp -rn /etc/apt/keyrings "$1/etc/apt/"
  apt-config dump | grep '^Acquire::' >"$1/etc/apt/apt.conf.d/00machine" || :
  cp -L /etc/resolv.conf "$1/etc/resolv.conf"
}

# An installer writes it; debootstrap does not, and the browser's driver is asked by this name.
name_localhost() { # ROOT
  printf '127.0.0.1 localhost\n::1 localhost\n' >"$1/etc/hosts"
}

make_root() { # ROOT INCLUDED-PACKAGES
  local mirror start=$SECONDS
  mirror=$(find_mirror)
  [ -n "$mirror" ] || fail "apt-get indextargets names no mirror of this release: is this a Debian system?"
  echo "$script: a Debian 12 from $mirror"
  debootstrap --variant=minbase --include="$2" bookworm "$1" "$mirror" >"$1.log" 2>&1 ||
    fail "debootstrap failed: $(tail -n 5 "$1.log")"
  copy_apt_configuration "$1"
  name_localhost "$1"
  mount -t proc proc "$1/proc"
  mount -t tmpfs tmpfs "$1/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$1/dev/pts"
  echo "$script: $((SECONDS - start)) s"
}

# Runs "COMMAND --inside WORD... WORK" in namespaces of its own: what is mounted and started there ends with it. WORK is a
# temporary folder.
enter_namespaces() { # COMMAND WORD...
  [ "$(id -u)" -eq 0 ] || fail "this must run as root"
  command -v debootstrap >/dev/null || fail "no debootstrap; tools/setup --long installs it"
  work=$(mktemp -d)
  chmod 755 "$work" # a user may work below it
  trap 'rm -rf --one-file-system "$work"' EXIT
  unshare --mount --pid --fork --kill-child --mount-proc "$1" --inside "${@:2}" "$work"
}
