#!/usr/bin/env bash
# packages.sh PROGRAM ARCH FOLDER: make a deb and an rpm of a program for Linux, and look at them. The same program, version and commit make
# the same packages, byte for byte.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$1 arch=$2 out=$3
described=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
# Versions of packages begin with a digit and have no dash: v1.2.0-3-gabc is after 1.2.0, v1.2.0-rc1 before it, and a commit without a tag before
# any release.
case $described in
v[0-9]*) version=${described#v} ;;
*) version=0~$described ;;
esac
version=$(sed -E 's/-(alpha|beta|rc)/~\1/; s/-/+/g' <<<"$version")
stamp=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
mtime=$(date -u -d "@$stamp" +%Y-%m-%dT%H:%M:%SZ)
export SOURCE_DATE_EPOCH=$stamp
config=$(mktemp)
trap 'rm -f "$config"' EXIT
sed -e "s|@PROGRAM@|$program|" -e "s|@ARCH@|$arch|" -e "s|@VERSION@|$version|" -e "s|@MTIME@|$mtime|" deploy/packages/nfpm.yaml >"$config"
mkdir -p "$out"
for kind in deb rpm; do
    target=$out/ostraka-linux-$arch.$kind
    said=$(.cache/bin/nfpm package --config "$config" --packager "$kind" --target "$target") || {
        printf 'packages: %s\n' "$said" >&2
        exit 1
    }
    echo "$target"
done
scripts/check-packages.sh "$out" "$arch"
