#!/usr/bin/env bash
# Fuzzes every decoder of external input, one after the other, each for the given time: hack/fuzz.sh 10m [PATTERN].
# PATTERN selects fuzz tests or folders by name. Failing inputs stay in testdata/fuzz of the package: fix the bug, and
# commit the input under a name that describes it.
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
  # One worker and little minimizing leave most of the time for the decoders.
  go test -run='^$' -fuzz="^$name\$" -fuzztime="$fuzztime" -fuzzminimizetime=20x -parallel=1 "$package" || failed+=("$package $name")
done < <(grep -rE --include='*_test.go' '^func Fuzz[A-Za-z]+\(f \*testing\.F\)' internal | sort)

[[ $fuzzed -gt 0 ]] || { echo "wanted a pattern that matches a fuzz test or its folder, found $pattern" >&2; exit 1; }
[[ ${#failed[@]} -eq 0 ]] || { printf 'failed: %s\n' "${failed[@]}" >&2; exit 1; }
