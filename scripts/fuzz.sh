#!/usr/bin/env bash
# Runs every fuzz target for a short time, one after the other: scripts/fuzz.sh [TIME, 10s unless told]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly fuzz_time=${1:-10s}

targets=$(git grep --untracked -h -o -E '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | wc -l)
((targets > 0)) || { echo "fuzz: no fuzz target found" >&2; exit 1; }
echo "fuzz: $targets targets, $fuzz_time each"

git grep --untracked -E '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' |
    sed -E 's|^(.*)/[^/:]+:func (Fuzz[A-Za-z0-9_]+).*|\1 \2|' |
    while read -r package target; do
        go test -run '^$' -fuzz "^$target\$" -fuzztime "$fuzz_time" "./$package" </dev/null
    done
