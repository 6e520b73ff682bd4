#!/usr/bin/env bash
# gotestsum runs this when the tests are over. A test that was skipped did not run, and
# a run of no test proves nothing: both fail the run. The slowest tests come first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly slowest=20 # tests

if [[ -s ${GOTESTSUM_JSONFILE:-} ]]; then
    echo "=== the slowest tests"
    .cache/bin/gotestsum tool slowest --jsonfile "$GOTESTSUM_JSONFILE" --threshold 1s --num "$slowest"
fi

if ((TESTS_TOTAL == 0)); then
    echo "tests: no test ran" >&2
    exit 1
fi
if ((TESTS_SKIPPED > 0)); then
    echo "tests: $TESTS_SKIPPED skipped; a test that cannot run must fail and say what it lacks" >&2
    exit 1
fi
