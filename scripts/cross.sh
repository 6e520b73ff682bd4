#!/usr/bin/env bash
# cross.sh [FOLDER]: build and vet bin/ostraka for every system that agents run on, and put the programs with their checksums into a
# folder. Tests are vetted for Linux only: they start databases and servers, which run there.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-bin/cross}
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
module=$(go list -m)
mkdir -p "$out"
export CGO_ENABLED=0
for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
    export GOOS=${target%/*} GOARCH=${target#*/}
    name=ostraka-$GOOS-$GOARCH
    [[ $GOOS == windows ]] && name+=.exe
    go build -trimpath -ldflags "-X main.version=$version" -o "$out/$name" ./cmd/ostraka
    # Only the files that the program is made of: a package's tests would bring in the server.
    while read -r package; do
        mapfile -t files < <(go list -f '{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}' "$package" | sed '/^$/d')
        go vet -trimpath "${files[@]}"
    done < <(go list -deps ./cmd/ostraka | grep "^$module")
    echo "$target: $out/$name"
done
(cd "$out" && sha256sum ostraka-* >SHA256SUMS)
