#!/usr/bin/env bash
# Checks the messages of new commits: a subject of at most 72 characters that does not end in a full
# stop, an empty line, and a body that says why.
#
#   scripts/check-commits.sh [BASE]    BASE..HEAD; without one, those that origin's main branch does not have
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly longest=72

# base is where the new commits begin. A clone without any other branch has the last commit alone to check.
base() {
    local name
    for name in origin/HEAD origin/main origin/master; do
        if git rev-parse --verify --quiet "$name^{commit}" >/dev/null; then
            git merge-base "$name" HEAD
            return
        fi
    done
    git rev-parse --verify --quiet 'HEAD~1^{commit}' || git rev-parse HEAD
}

wrong=0
complain() {
    printf 'commits: %.10s %s: %s\n' "$1" "$2" "$3" >&2
    wrong=1
}

range=${1:-$(base)}..HEAD
while read -r commit; do
    subject=$(git log -1 --format=%s "$commit")
    body=$(git log -1 --format=%b "$commit")
    ((${#subject} <= longest)) || complain "$commit" "$subject" "the subject has ${#subject} characters, of which $longest are allowed"
    [[ $subject != *. ]] || complain "$commit" "$subject" "the subject ends in a full stop"
    [[ $subject == [[:upper:]]* || $subject == *:\ * ]] || complain "$commit" "$subject" "the subject begins with a small letter"
    [[ -n ${body//[[:space:]]/} ]] || complain "$commit" "$subject" "there is no body that says why"
done < <(git rev-list --no-merges "$range")
exit "$wrong"
