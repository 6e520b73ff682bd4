#!/usr/bin/env bash
# Installs what this machine lacks for one task, and nothing when it lacks nothing.
#
#   scripts/setup.sh demo      PostgreSQL's server programs
#   scripts/setup.sh test      the same, Python, Docker's programs, a MinIO server, the test runner, Chromium, Node,
#                              promtool, helm, kubeconform; with packages behind it, what their tests use of these
#   scripts/setup.sh bench     the same as demo, Docker's programs, and Dask
#   scripts/setup.sh race      the same as test, and a C compiler for the race detector
#   scripts/setup.sh lint      the linters
#   scripts/setup.sh release   what makes packages and lists what the program is made of
#   scripts/setup.sh modules   the toolchain that builds the WASM modules that ship
#   scripts/setup.sh web       Node and the packages that build the portal
#
# System packages come from apt-get and need root. Programs written in Go are built
# at pinned versions into .cache/bin, which is ours to delete.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly tools=.cache/bin
readonly python_min_minor=11 # what Debian has; the harness itself needs 3.9
readonly postgres_min=14 # the oldest that our schema and queries are written for; the same as devdb.MinVersion
readonly apt_tries=5
readonly assemblyscript_version=0.28.20
readonly apt_lock_seconds=180 # how long to wait for another apt or dpkg to finish

# name, module, version, package inside the module, how long a first build takes
readonly minio=(minio github.com/minio/minio v0.0.0-20260212201848-7aac2a2c5b7c "" "5 minutes")
readonly gotestsum=(gotestsum gotest.tools/gotestsum v1.13.0 "" "10 seconds")
readonly nfpm=(nfpm github.com/goreleaser/nfpm/v2 v2.45.2 /cmd/nfpm "a minute")
readonly cyclonedx=(cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod v1.10.0 /cmd/cyclonedx-gomod "a minute")
readonly actionlint=(actionlint github.com/rhysd/actionlint v1.7.12 /cmd/actionlint "10 seconds")
readonly helm=(helm helm.sh/helm/v3 v3.18.6 /cmd/helm "4 minutes")
readonly kubeconform=(kubeconform github.com/yannh/kubeconform v0.6.7 /cmd/kubeconform "10 seconds")
readonly golangci_lint=(golangci-lint github.com/golangci/golangci-lint/v2 v2.15.0 /cmd/golangci-lint "3 minutes")

missing_things=()
missing_packages=()
test_files=() # none: those of all packages

say() { printf 'setup: %s\n' "$*"; }

die() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

# The checks say whether a thing is here, however it came to be here.

# have_postgres looks where devdb.FindBinaries looks.
have_postgres() {
    local dir version
    for dir in /usr/lib/postgresql/*/bin "$(pg_config --bindir 2>/dev/null || true)" \
        "$(dirname "$(command -v postgres || echo /nowhere/postgres)")"; do
        [[ -x $dir/initdb && -x $dir/postgres ]] || continue
        version=$("$dir/postgres" --version) # postgres (PostgreSQL) 15.18 (Debian …)
        version=${version#*) }
        ((${version%%[!0-9]*} >= postgres_min)) && return
    done
    return 1
}

have_dask() { /usr/bin/python3 -c "import distributed" 2>/dev/null; }

have_python() {
    python3 -c "import sys; sys.exit(sys.version_info < (3, $python_min_minor))" 2>/dev/null
}

# Debian's own numpy, which tests make a runtime of.
have_numpy() { [[ -d /usr/lib/python3/dist-packages/numpy ]]; }

# A compiler and Python's headers, with which tests build an extension of it.
have_python_headers() {
    local headers
    headers=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])' 2>/dev/null) || return
    echo '#include <Python.h>' | "${CC:-gcc}" "-I$headers" -E - >/dev/null 2>&1
}

# Debian's own notebooks and type checker, with the Python that they belong to.
have_notebooks() { /usr/bin/python3 -c 'import ipykernel, nbconvert.preprocessors' 2>/dev/null; }

have_mypy() { /usr/bin/python3 -c 'import mypy' 2>/dev/null; }

have_chromium() { command -v chromium || command -v google-chrome; } >/dev/null

# Tests start a daemon of their own, so the programs are all that is needed.
have_docker() {
    local program
    for program in dockerd containerd runc; do
        command -v "$program" >/dev/null || [[ -x /usr/sbin/$program ]] || return
    done
}

have_c_compiler() {
    echo '#include <stdlib.h>' | "${CC:-gcc}" -E - >/dev/null 2>&1 # headers too, not the compiler alone
}

# Debian's own Rust, whichever other is on PATH: the modules are compared to the byte in CI.
have_wasm_toolchain() {
    [[ -x /usr/bin/rustc ]] && command -v wasm-ld >/dev/null && compgen -G '/usr/lib/rustlib/wasm32-wasi*/lib/libstd-*.rlib' >/dev/null
}

# Debian's clang with the C library and the compiler's own functions for WASI.
have_clang_wasi() {
    [[ -x /usr/bin/clang && -f /usr/lib/wasm32-wasi/libc.a ]] && compgen -G '/usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a' >/dev/null
}

have_npm() { command -v npm >/dev/null; }

# What builds the portal says which Node it needs; Debian 12's own is older.
have_node() {
    command -v npm >/dev/null && node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}

have_promtool() { command -v promtool >/dev/null; }

have_shellcheck() { command -v shellcheck >/dev/null; }

# want CHECK THING PACKAGE...: notes what must be installed when CHECK fails.
want() {
    "$1" && return
    missing_things+=("$2")
    missing_packages+=("${@:3}")
}

want_demo() {
    want have_postgres "PostgreSQL $postgres_min or later, its server programs (initdb, postgres)" postgresql
}

# tests_use PATTERN: whether the tests of the packages that were asked for mention it.
tests_use() {
    ((${#test_files[@]} == 0)) || grep -qE "$1" "${test_files[@]}"
}

# find_tests PACKAGE...: where not all packages are asked for, notes their test files.
find_tests() {
    local dirs dir file
    [[ $# -gt 0 && $* != ./... ]] || return 0
    dirs=$(go list -f '{{.Dir}}' "$@")
    for dir in $dirs; do
        for file in "$dir"/*_test.go; do
            [[ ! -f $file ]] || test_files+=("$file")
        done
    done
    ((${#test_files[@]})) || die "there is no test in $*"
}

readonly tests_of_database='ostraka/(testenv|devdb)"|package devdb' tests_of_docker='StartDocker|DockerDaemon'
readonly tests_of_minio='\bMinIO\(' tests_of_chromium='[cC]hromium' tests_of_portal='"node", "--test"' tests_of_alerts='"promtool"'
readonly tests_of_chart='"kubeconform"'
readonly tests_of_numpy='\bnumpy\b' tests_of_extensions='TestScripts\b|collatz-c'
readonly tests_of_notebooks='"nbconvert"' tests_of_types='"mypy"'

want_test() {
    ! tests_use "$tests_of_database" || want_demo
    # Agents carry their own; a test runs a function on the machine's, as --python does.
    want have_python "Python 3.$python_min_minor or later" python3
    ! tests_use "$tests_of_numpy" || want have_numpy "numpy for /usr/bin/python3, of which tests make a runtime" python3-numpy
    ! tests_use "$tests_of_extensions" || want have_python_headers "a C compiler and Python's headers, with which tests build an extension" gcc libc6-dev libpython3-dev
    ! tests_use "$tests_of_notebooks" || want have_notebooks "Jupyter's nbconvert and the kernel for Python, which run a notebook in tests" jupyter-nbconvert python3-nbclient python3-ipykernel
    ! tests_use "$tests_of_types" || want have_mypy "mypy, which checks the types of ostraka.py" mypy
    ! tests_use "$tests_of_docker" || want_docker
    ! tests_use "$tests_of_chromium" || want have_chromium "Chromium, which opens the web pages in tests" chromium
    ! tests_use "$tests_of_portal" || want_web
    ! tests_use "$tests_of_alerts" || want have_promtool "promtool, which tries the alerts of Prometheus" prometheus
}

want_docker() {
    want have_docker "Docker's daemon (dockerd, containerd, runc), in which shards are executed again" docker.io
}

want_bench() {
    want_demo
    want_docker
    want have_dask "Dask (dask.distributed), which trivial shards are measured beside" python3-distributed
}

want_race() {
    want_test
    want have_c_compiler "a C compiler, which the race detector needs" gcc libc6-dev
}

want_modules() {
    want have_wasm_toolchain "Rust with its standard library for WASI, and a linker" rustc libstd-rust-dev-wasm32 lld
    want have_clang_wasi "C for WASI" clang lld wasi-libc libclang-rt-14-dev-wasm32
    want have_npm "npm, which installs AssemblyScript" npm
}

want_web() {
    want have_node "Node 20.19 or later with npm, which builds and tests the portal (Debian 13 has one, and https://nodejs.org)" nodejs npm
}

want_lint() { want have_shellcheck "ShellCheck, which reads our scripts" shellcheck; }

check_go() {
    local need have
    need=$(awk '$1 == "go" { print $2 }' go.mod)
    command -v go >/dev/null || die "Go $need or later is not on PATH: install it from https://go.dev/dl/ first"
    have=$(go env GOVERSION)
    [[ $(printf '%s\n' "$need" "${have#go}" | sort -V | head -n 1) == "$need" ]] ||
        die "this is $have and Ostraka needs Go $need or later: install it from https://go.dev/dl/"
}

# apt retries what passes by itself: another apt that holds the lists, a mirror that stumbles.
apt() {
    local try
    for ((try = 1; ; try++)); do
        DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=$apt_lock_seconds \
            -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@" </dev/null >"$apt_log" 2>&1 && return
        ((try < apt_tries)) || break
        say "apt-get $1 failed (try $try of $apt_tries), trying again in $((try * 5)) s"
        sleep $((try * 5))
    done
    cat "$apt_log" >&2
    die "apt-get $1 failed $apt_tries times; what it said last is above"
}

# Debian's postgresql packages create and start a cluster of their own. Ostraka runs its own
# and needs the programs only, so that habit is switched off for as long as we install.
without_main_cluster() {
    local drop_in=/etc/postgresql-common/createcluster.d/ostraka-setup.conf
    mkdir -p "${drop_in%/*}"
    echo 'create_main_cluster = false' >"$drop_in"
    cleanup+=("$drop_in")
}

# Debian's prometheus starts a server at once. Its promtool is all that is needed. A policy that is there already stays.
without_prometheus() {
    local policy=/usr/sbin/policy-rc.d
    [[ ! -e $policy ]] || return 0
    cat >"$policy" <<'EOF'
#!/bin/sh
case $1 in prometheus*) exit 101 ;; esac
EOF
    chmod 755 "$policy"
    cleanup+=("$policy")
}

install_packages() {
    local thing
    ((${#missing_packages[@]})) || return 0
    for thing in "${missing_things[@]}"; do say "missing: $thing"; done
    command -v apt-get >/dev/null ||
        die "there is no apt-get here: install the above in your system's way, then run this again"
    ((EUID == 0)) ||
        die "installing needs root. Run this, then the same command again:" \
            "  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing_packages[*]}"

    apt_log=$(mktemp)
    cleanup=("$apt_log")
    trap 'rm -f "${cleanup[@]}"' EXIT
    [[ " ${missing_packages[*]} " == *" postgresql "* ]] && without_main_cluster
    [[ " ${missing_packages[*]} " == *" prometheus "* ]] && without_prometheus
    say "installing ${missing_packages[*]} (a minute or two)"
    apt update
    apt install --no-install-recommends "${missing_packages[@]}"

    missing_things=() missing_packages=()
    "want_$1"
    ((${#missing_things[@]} == 0)) ||
        die "installed, and still missing: ${missing_things[*]}. Debian 12 or later has them"
}

# go_tool NAME MODULE VERSION PACKAGE TIME: builds a pinned program, once per version of it and of Go.
go_tool() {
    local name=$1 module=$2 version=$3 package=$4 how_long=$5
    if go version -m "$tools/$name" 2>/dev/null |
        awk -v go="$(go env GOVERSION)" -v module="$module" -v version="$version" \
            'NR == 1 && $2 == go { g = 1 } $1 == "mod" && $2 == module && $3 == version { m = 1 } END { exit !(g && m) }'; then
        return
    fi
    say "building $name $version (the first time about $how_long)"
    env -u GOFLAGS -u GOOS -u GOARCH GOBIN="$PWD/$tools" CGO_ENABLED=0 \
        go install "$module$package@$version" ||
        die "building $name failed: what go said is above. Without a network it must be in Go's caches already"
}

# AssemblyScript goes where our other tools are, at a pinned version.
assemblyscript() {
    local at=.cache/assemblyscript
    grep -qs "\"version\": \"$assemblyscript_version\"" "$at/node_modules/assemblyscript/package.json" && return
    say "installing AssemblyScript $assemblyscript_version"
    npm install --silent --no-audit --no-fund --prefix "$at" "assemblyscript@$assemblyscript_version" </dev/null ||
        die "npm could not install AssemblyScript $assemblyscript_version: what it said is above"
}

# web_packages installs what web/package-lock.json says, when it is not there yet.
web_packages() {
    [[ web/node_modules/.package-lock.json -nt web/package-lock.json ]] && return
    say "installing the packages that build and test the portal"
    npm ci --silent --no-audit --no-fund --prefix web </dev/null ||
        die "npm could not install what web/package-lock.json lists: what it said is above"
    touch web/node_modules/.package-lock.json
}

go_tools() {
    case $1 in
    test | race)
        go_tool "${gotestsum[@]}"
        ! tests_use "$tests_of_minio" || go_tool "${minio[@]}"
        ! tests_use "$tests_of_portal" || web_packages
        if tests_use "$tests_of_chart"; then
            go_tool "${helm[@]}"
            go_tool "${kubeconform[@]}"
        fi
        ;;
    lint)
        go_tool "${golangci_lint[@]}"
        go_tool "${actionlint[@]}"
        ;;
    release)
        go_tool "${nfpm[@]}"
        go_tool "${cyclonedx[@]}"
        ;;
    modules) assemblyscript ;;
    web) web_packages ;;
    esac
}

case "${1:-}" in
demo | test | race | bench | lint | release | modules | web) ;;
*) die "usage: scripts/setup.sh demo|test|race|bench|lint|release|modules|web [PACKAGE...]" ;;
esac

check_go
find_tests "${@:2}"
"want_$1"
install_packages "$1"
go_tools "$1"
