#!/usr/bin/env bash
# Fuzzes every decoder of what others say, one after the other, for so long each: hack/fuzz.sh 10m [PATTERN].
# PATTERN narrows it to matching names of fuzz tests or folders. What is found stays in testdata/fuzz of the package: mend
# it, and commit the input under a name that says what it was.
set -euo pipefail
cd "$(dirname "$0")/.."

fuzztime=${1:?wanted the time for each fuzz test, such as 10m}
pattern=${2:-.}
failed=() fuzzed=0
while IFS=: read -r file declaration; do
  name=${declaration#func } name=${name%%(*} package=./$(dirname "$file")
  [[ "$package/$name" =~ $pattern ]] || continue
  fuzzed=$((fuzzed + 1))
  echo "==> $package $name for $fuzztime"
  # One worker, and no minutes spent on making each input small, leave the time to the decoders.
  go test -run='^$' -fuzz="^$name\$" -fuzztime="$fuzztime" -fuzzminimizetime=20x -parallel=1 "$package" || failed+=("$package $name")
done < <(grep -rE --include='*_test.go' '^func Fuzz[A-Za-z]+\(f \*testing\.F\)' internal | sort)

[[ $fuzzed -gt 0 ]] || { echo "wanted a pattern that matches a fuzz test or its folder, found $pattern" >&2; exit 1; }
[[ ${#failed[@]} -eq 0 ]] || { printf 'failed: %s\n' "${failed[@]}" >&2; exit 1; }
