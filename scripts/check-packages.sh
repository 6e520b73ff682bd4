#!/usr/bin/env bash
# check-packages.sh FOLDER ARCH: unpack the packages that packages.sh made into folders of their own, and run the program in them where this
# machine can. Fails where a package lacks something, or the program in it does not start or cannot write its unit.
set -euo pipefail
folder=$1 arch=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf 'packages: %s\n' "$*" >&2
    exit 1
}

# look ROOT NAME: what must be in an unpacked package.
look() {
    local root=$1 name=$2
    [[ -x $root/usr/bin/ostraka ]] || fail "$name has no program /usr/bin/ostraka"
    [[ -s $root/usr/share/doc/ostraka/copyright ]] || fail "$name has no licence"
    [[ $(uname -m) == "$machine" ]] || return 0
    "$root/usr/bin/ostraka" --version >/dev/null || fail "the program in $name does not start"
    local unit=$root/etc/systemd/system/ostraka-agent.service eula
    eula=$("$root/usr/bin/ostraka" agent eula show -o json | sed -n 's/.*"version": *"\([^"]*\)".*/\1/p')
    OSTRAKA_TOKEN=token "$root/usr/bin/ostraka" agent install --root "$root" --url https://ostraka.example -- --accept-eula "$eula" >"$work/said" 2>&1 ||
        fail "the program in $name cannot make a service of itself: $(cat "$work/said")"
    grep -q '^ExecStart=/usr/local/lib/ostraka-agent/ostraka agent start' "$unit" || fail "the program in $name writes no unit"
}

case $arch in
amd64) machine=x86_64 ;;
arm64) machine=aarch64 ;;
*) fail "no such architecture: $arch" ;;
esac

looked=0
if command -v dpkg-deb >/dev/null; then
    deb=$folder/ostraka-linux-$arch.deb
    [[ $(dpkg-deb --field "$deb" Architecture) == "$arch" ]] || fail "$deb is for another architecture"
    dpkg --validate-version "$(dpkg-deb --field "$deb" Version)" || fail "$deb has no version"
    dpkg-deb --extract "$deb" "$work/deb"
    look "$work/deb" "$deb"
    looked=1
fi
if command -v rpm2cpio >/dev/null && command -v cpio >/dev/null; then
    mkdir "$work/rpm"
    (cd "$work/rpm" && rpm2cpio - | cpio --quiet -idm) <"$folder/ostraka-linux-$arch.rpm"
    look "$work/rpm" "$folder/ostraka-linux-$arch.rpm"
    looked=1
fi
((looked)) || echo "packages: neither dpkg-deb nor rpm2cpio is here: nothing was looked at" >&2
