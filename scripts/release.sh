#!/usr/bin/env bash
# release.sh [FOLDER]: all that a release has: the program for every system, packages for Linux, what each program is made of (CycloneDX), and the
# checksums of all of it. Needs no network once Go's modules and the tools of scripts/setup.sh are there. The same commit and the same Go make the
# same files. TARGETS="linux/amd64" makes it for some systems only.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-bin/release}
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export VERSION=$version SOURCE_DATE_EPOCH
rm -rf "$out"
scripts/cross.sh "$out"
for program in "$out"/ostraka-*; do
    # Without a serial number and a time, which would be others each time.
    .cache/bin/cyclonedx-gomod bin -json -noserial -notimestamp -std -version "$version" -output "$program.cdx.json" "$program"
done
for arch in amd64 arm64; do
    [[ ! -f $out/ostraka-linux-$arch ]] || scripts/packages.sh "$out/ostraka-linux-$arch" "$arch" "$out"
done
(cd "$out" && sha256sum ostraka-* >SHA256SUMS && sha256sum --quiet --check SHA256SUMS)
echo "$out: $(grep -c . "$out/SHA256SUMS") files of version $version"
