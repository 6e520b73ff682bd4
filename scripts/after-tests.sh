#!/usr/bin/env bash
# gotestsum runs this when the tests are over. A test that was skipped did not run, and
# a run of no test proves nothing: both fail the run.
set -euo pipefail

if ((TESTS_TOTAL == 0)); then
    echo "tests: no test ran" >&2
    exit 1
fi
if ((TESTS_SKIPPED > 0)); then
    echo "tests: $TESTS_SKIPPED skipped; a test that cannot run must fail and say what it lacks" >&2
    exit 1
fi
