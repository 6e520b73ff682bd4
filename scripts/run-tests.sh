#!/usr/bin/env bash
# Runs tests for gotestsum, which reads what go test -json says of each:
#
#   gotestsum --raw-command -- scripts/run-tests.sh [FLAG OF GO TEST]... -- PACKAGE...
#
# The longest packages begin first, so that at the end no core is idle while one works on them. As many are tested at a time as there are
# cores: beside more, servers and agents are late for what tests wait for. Those that wait themselves, and leave their core idle, are tested one
# after the other beside these. With -race, packages of pure functions are tested without it: it
# makes them several times as long, and can find nothing in a package that starts no goroutine. Vet is among the linters.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly module=github.com/ostraka/ostraka
readonly longest=(functions/engine e2e cmd/ostraka bench/chaos wasm api agent queue)
# These wait for the limits of sandboxes to run out, and for processes to end: their core is idle for most of their time.
readonly waiting=(runtime/linux runtime/docker runtime/harness devdb)
# These start no goroutine, or hand what they do to one function that other tests run with the race detector.
readonly pure=(
    functions/verify/simulate functions/verify functions/partition functions/planner functions/turns
    runtime/canonical runtime/bundle runtime/statement runtime/signing runtime/inputfile runtime/monitor/threshold
    agent/prefs audit bench/trust certificate examples examples/modules wasm/builtin wasm/guests wasm/meter wasm/precheck)
# These of them are the latter.
readonly raced_elsewhere=(functions/verify/simulate)
# What is said of those that are tested beside others is shown after these: their lines are not to be mixed.
readonly said_beside=.cache/tests-beside.json

flags=()
while (($#)) && [[ $1 != -- ]]; do
    flags+=("$1")
    shift
done
shift || { echo 'usage: scripts/run-tests.sh [FLAG OF GO TEST]... -- PACKAGE...' >&2; exit 2; }

is_in() { [[ " ${*:2} " == *" $1 "* ]]; }

# A package that has begun to start goroutines belongs to the others.
check_pure() {
    local folder found wrong=0
    for folder in "${pure[@]}"; do
        is_in "$folder" "${raced_elsewhere[@]}" && continue
        [[ -d $folder ]] || { echo "tests: scripts/run-tests.sh names $folder, which is no folder" >&2; wrong=1; continue; }
        found=$(find "$folder" -maxdepth 1 -name '*.go' ! -name '*_test.go' -exec grep -HnE '^\s*go (func\b|[A-Za-z_.]+\()|\.Go\(' {} + || true)
        if [[ $found ]]; then
            echo "$found" >&2
            echo "tests: $folder starts a goroutine: take it out of the list in scripts/run-tests.sh" >&2
            wrong=1
        fi
    done
    return "$wrong"
}

# in_order PACKAGE...: the longest first, then the others.
in_order() {
    local folder
    for folder in "${longest[@]}"; do
        ! is_in "$folder" "$@" || echo "$folder"
    done
    for folder in "$@"; do
        is_in "$folder" "${longest[@]}" || echo "$folder"
    done
}

# test_them AT_A_TIME FOLDER... One package's tests start databases, servers and agents: they take minutes with the race detector on two
# cores, never as long as the limit. Not from the cache: tests run programs, bin/ostraka among them, that it does not see change.
test_them() {
    local folders=("${@:2}")
    ((${#folders[@]})) || return 0
    go test -json -count=1 -vet=off -p "$1" -timeout "${TEST_TIMEOUT:-60m}" "${flags[@]}" "${folders[@]/#/./}"
}

# test_beside FOLDER... tests those that wait beside the others.
test_beside() {
    local folder busy=() idle=() beside failed=0
    for folder in "$@"; do
        if is_in "$folder" "${waiting[@]}"; then idle+=("$folder"); else busy+=("$folder"); fi
    done
    if ((!${#busy[@]} || !${#idle[@]})); then
        test_them "$(nproc)" "$@"
        return
    fi
    # Both would compile what both need.
    if is_in -race "${flags[@]}"; then go build -race "${idle[@]/#/./}"; else go build "${idle[@]/#/./}"; fi || return 1
    test_them 1 "${idle[@]}" >"$said_beside" &
    beside=$!
    test_them "$(nproc)" "${busy[@]}" || failed=1
    wait "$beside" || failed=1
    cat "$said_beside"
    return "$failed"
}

status=0
listed=$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' "$@")
mapfile -t packages <<<"$listed"
mapfile -t folders < <(in_order "${packages[@]#"$module/"}")

if is_in -race "${flags[@]}"; then
    check_pure
    # Modules run in the program that make has built, except in the tests of wasm: with the race detector a runner is many times as slow.
    export RACE_WASM_RUNNER="$PWD/bin/ostraka"
    raced=() unraced=()
    for folder in "${pure[@]}"; do
        ! is_in "$folder" "${folders[@]}" || unraced+=("$folder")
    done
    for folder in "${folders[@]}"; do
        is_in "$folder" "${pure[@]}" || raced+=("$folder")
    done
    with=("${flags[@]}")
    for i in "${!flags[@]}"; do
        [[ ${flags[i]} != -race ]] || unset "flags[i]"
    done
    test_them "$(nproc)" "${unraced[@]}" || status=1
    flags=("${with[@]}")
    test_beside "${raced[@]}" || status=1
else
    test_beside "${folders[@]}" || status=1
fi
exit "$status"
