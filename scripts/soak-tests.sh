#!/usr/bin/env bash
# Runs tests again and again, each round in another order and beside a load on every core: what fails
# here by chance fails sooner or later on somebody's machine.
#
#   scripts/soak-tests.sh ROUNDS PACKAGE...
#   TESTFLAGS='-run Name' scripts/soak-tests.sh 50 ./functions/engine
#   SEED=1234 scripts/soak-tests.sh 1 ./functions/engine    the order of a round that failed
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly rounds=${1:?usage: scripts/soak-tests.sh ROUNDS PACKAGE...}
shift
(($#)) || set -- ./...
read -ra flags <<<"${TESTFLAGS:-}"

load=()
failed=()

quieten() {
    local process
    for process in "${load[@]}"; do kill "$process" 2>/dev/null || true; done
}
trap quieten EXIT

# A loop for each core, at the same priority as the tests: they get about half of the machine.
for ((core = $(nproc); core > 0; core--)); do
    (while :; do :; done) &
    load+=($!)
done

for ((round = 1; round <= rounds; round++)); do
    seed=${SEED:-$((RANDOM * 32768 + RANDOM))}
    began=$SECONDS
    echo "=== round $round of $rounds, seed $seed"
    if GORACE=atexit_sleep_ms=0 .cache/bin/gotestsum --format pkgname --format-hide-empty-pkg --raw-command -- \
        scripts/run-tests.sh -shuffle="$seed" "${flags[@]}" -- "$@"; then
        echo "=== round $round: ok, $((SECONDS - began)) s"
    else
        failed+=("$seed")
        echo "=== round $round: FAILED with seed $seed, $((SECONDS - began)) s"
    fi
done

if ((${#failed[@]})); then
    echo "soak: ${#failed[@]} of $rounds rounds failed, with the seeds ${failed[*]}" >&2
    exit 1
fi
echo "soak: $rounds rounds passed"
