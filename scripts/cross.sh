#!/usr/bin/env bash
# cross.sh [FOLDER]: build and vet bin/ostraka for every system that agents run on, and put the programs with their checksums into a
# folder; TARGETS="linux/amd64" for some of them. Tests that start databases and servers are vetted for Linux only, where those run.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-bin/cross}
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
module=$(go list -m)
mkdir -p "$out"
export CGO_ENABLED=0
for target in ${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}; do
    export GOOS=${target%/*} GOARCH=${target#*/}
    name=ostraka-$GOOS-$GOARCH
    [[ $GOOS == windows ]] && name+=.exe
    go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$out/$name" ./cmd/ostraka
    while read -r package; do
        if [[ $(go list -deps -test "$package") != *"$module/devdb"* ]]; then
            go vet -trimpath "$package"
            continue
        fi
        # Only the files that the program is made of: the package's tests bring in the server.
        mapfile -t files < <(go list -f '{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}' "$package" | sed '/^$/d')
        go vet -trimpath "${files[@]}"
    done < <(go list -deps ./cmd/ostraka | grep "^$module")
    echo "$target: $out/$name"
done
(cd "$out" && sha256sum ostraka-* >SHA256SUMS)
