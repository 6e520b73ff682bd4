#!/usr/bin/env bash
# Runs a command and fails when it changed, added or removed a file of the working tree.
#
#   scripts/unchanged.sh make generate
#
# It compares with the files as they are, not with the last commit, so that it can be
# used in the middle of work.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fingerprint() {
    git ls-files -z --cached --others --exclude-standard | sort -zu |
        while IFS= read -r -d '' file; do [[ -f $file ]] && printf '%s\0' "$file"; done |
        xargs -0 sha256sum --
}

before=$(fingerprint)
"$@"
after=$(fingerprint)
if [[ $before != "$after" ]]; then
    echo "unchanged: '$*' changed these files; look at them and commit them:" >&2
    diff <(echo "$before") <(echo "$after") | sed -nE 's/^[<>] [0-9a-f]{64}  /  /p' | sort -u >&2
    exit 1
fi
