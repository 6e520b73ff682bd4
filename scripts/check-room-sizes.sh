#!/usr/bin/env bash
# Holds the rooms small enough to be read: counts the lines of each Go package without its tests and generated files, prints the largest,
# and fails where one is beyond its bound. A package that comes near it is cut by subject (docs/ARCHITECTURE.md): move files, not lines.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly shown=12

# bound FOLDER: the most lines that a package may have; nothing where it may have any number.
bound() {
    case $1 in
    cmd/ostraka) ;; # a flat list of commands of one shape
    functions) echo 1500 ;; # the words of the domain
    functions/*) echo 5000 ;;
    *) echo 6500 ;;
    esac
}

# files lists the Go files that count: those that were removed, and not committed yet, are in git's list still.
files() {
    git ls-files --cached --others --exclude-standard '*.go' | grep -vE '_test\.go$|(^|/)testdata/' |
        while read -r file; do [[ ! -f $file ]] || printf '%s\0' "$file"; done
}

# sizes prints "LINES FOLDER" for each package, the largest first.
sizes() {
    files | xargs -0 awk '/^\/\/ Code generated .* DO NOT EDIT\.$/ { delete n[FILENAME]; nextfile } { n[FILENAME]++ }
        END { for (file in n) print n[file], file }' | awk '
        { folder = $2; sub(/\/[^\/]*$/, "", folder); lines[folder] += $1 }
        END { for (folder in lines) print lines[folder], folder }' | sort -k 1,1nr -k 2
}

all=$(sizes)
echo "The largest packages, in lines without tests and generated files:"
while read -r lines folder; do
    most=$(bound "$folder")
    printf '%7d  %s%s\n' "$lines" "$folder" "${most:+ (of $most)}"
done < <(head -n "$shown" <<<"$all"; grep -E ' functions$' <<<"$all")

beyond=0
while read -r lines folder; do
    most=$(bound "$folder")
    if [[ -n $most ]] && ((lines > most)); then
        echo "room sizes: $folder has $lines lines and may have $most: move files of one subject into a package of their own" >&2
        beyond=1
    fi
done <<<"$all"
exit $beyond
