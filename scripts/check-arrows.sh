#!/usr/bin/env bash
# Proves that the import rules in .golangci.yml (depguard) bite: a rule whose file pattern
# matches nothing, or that names a package that is no more, is silent otherwise.
#
# It writes a module with our folders' names in which every package imports everything, lets
# depguard refuse, and compares what was left with scripts/arrows.golden. To change an arrow:
# change .golangci.yml, run `scripts/check-arrows.sh --update`, and explain it in the commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly module=github.com/ostraka/ostraka
readonly golden=scripts/arrows.golden
readonly golangci_lint=$PWD/.cache/bin/golangci-lint

folders=(agent agent/isolation api api/rest api/fleet api/jobs api/oversight api/registry api/tenant api/workflows api/apitest audit backup bench blob blob/blobtest books certificate client cmd deploy devdb e2e examples functions functions/stepargs
    functions/base functions/flag functions/owner functions/tenant functions/registry functions/fleet functions/jobs functions/result
    functions/aggregation functions/trust functions/trust/classing functions/trust/controls functions/trust/execution functions/dispatch functions/heuristics functions/review functions/submit functions/bulk functions/schedule functions/webhook functions/workflow functions/policy functions/auditlog
    functions/archive functions/insight functions/engine
    functions/partition functions/planner functions/store functions/timetable functions/turns functions/verify functions/waiting functions/workflow/graph guardian migrations queue
    runtime runtime/canonical runtime/expression runtime/inputfile testenv wasm web)
# Packages of others whose use is fenced in, and some of the standard library for the pure folders.
others=(
    crypto/rand database/sql io/fs log log/slog math/rand net net/http net/netip os os/exec syscall testing
    github.com/danielgtaylor/huma/v2 github.com/jackc/pgx/v5 github.com/minio/minio-go/v7
    github.com/riverqueue/river github.com/spf13/cobra github.com/stretchr/testify/require
    github.com/tetratelabs/wazero go.uber.org/goleak golang.org/x/sys/unix pgregory.net/rapid
    riverqueue.com/riverui)

is_in() { [[ " ${*:2} " == *" $1 "* ]]; }

# Every name in the rules must be a folder of ours or a module that we depend on, and every
# folder of Go must be in the picture.
check_names() {
    local name unknown=0
    while read -r name; do
        case $name in
        "$module") ;;
        "$module"/*)
            name=${name#"$module"/}
            [[ -d $name ]] || { echo "arrows: .golangci.yml names $name, which is no folder" >&2; unknown=1; }
            ;;
        *) grep -q "^[[:space:]]*$name" go.mod || { echo "arrows: .golangci.yml names $name, which is not in go.mod" >&2; unknown=1; } ;;
        esac
    done < <(awk '/^    depguard:/ { on = 1; next } /^    [a-z]/ { on = 0 } on' .golangci.yml |
        grep -oE 'pkg: [a-z.]+\.[a-z]+/[^ ,$}]+|- github\.com/[^ ]+' | sed -E 's/^(pkg:|-) //' | sort -u)
    while read -r name; do
        is_in "$name" "${folders[@]}" || { echo "arrows: $name holds Go and has no rule: give it one in .golangci.yml and list it in $0" >&2; unknown=1; }
    done < <(git ls-files --cached --others --exclude-standard '*/*.go' | cut -d / -f 1 | sort -u)
    return $unknown
}

# write_package FILE: a package that imports all folders and others.
write_package() {
    local import
    {
        echo "package x"
        for import in "${folders[@]}"; do echo "import _ \"$module/$import/leaf\""; done
        for import in "${others[@]}"; do echo "import _ \"$import\""; done
    } >"$1"
}

# refused prints "FOLDER DEPTH IMPORT" for every import that depguard refuses.
refused() {
    "$golangci_lint" run --enable-only depguard --issues-exit-code 0 --max-same-issues 0 \
        --max-issues-per-linter 0 --show-stats=false --output.text.print-issued-lines=false ./... |
        sed -nE "s#^(.+)/(top|deep/deep)\.go:[0-9:]+ import '([^']+)' .*#\1 \2 \3#p" |
        sed -E "s# $module/# #; s#/leaf\$##" | sort -u
}

# matrix prints what the rules leave over. An import counts as allowed when a file of the
# folder itself or one further down may have it.
matrix() {
    awk -v ours="${folders[*]}" -v others="${others[*]}" '
        { no[$1, $2, $3] = 1 }
        function may(folder, import) { return !((folder, "top", import) in no && (folder, "deep/deep", import) in no) }
        END {
            n = split(ours, our, " ")
            m = split(others, other, " ")
            print "# What .golangci.yml allows outside tests; scripts/check-arrows.sh makes and checks this.\n"
            for (i = 1; i <= n; i++) {
                line = our[i] " imports:"
                for (j = 1; j <= n; j++) if (i != j && may(our[i], our[j])) line = line " " our[j]
                print line
            }
            print ""
            for (j = 1; j <= m; j++) {
                line = other[j] " is imported by:"
                for (i = 1; i <= n; i++) if (may(our[i], other[j])) line = line " " our[i]
                print line
            }
        }'
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp .golangci.yml go.mod go.sum "$scratch"
for folder in "${folders[@]}"; do
    mkdir -p "$scratch/$folder/leaf" "$scratch/$folder/deep"
    echo "package leaf" >"$scratch/$folder/leaf/leaf.go"
    write_package "$scratch/$folder/top.go"
    write_package "$scratch/$folder/deep/deep.go"
done
(cd "$scratch" && refused | matrix) >"$scratch/arrows"

if [[ ${1:-} == --update ]]; then
    cp "$scratch/arrows" "$golden"
elif ! diff -u "$golden" "$scratch/arrows"; then
    echo "arrows: .golangci.yml allows other imports than $golden says (see above)" >&2
    exit 1
fi
check_names
