#!/usr/bin/env bash
# Run by hand after a change of rules: changes the rules (the `domain/` folders), one change at a time, and runs the unit
# tests that pass the changed code. Fails if a change is not noticed and not listed in
# scripts/mutation/survivors.ts, or a listed one is noticed. With exit code 3, a test fails or does not end without a
# mutant, and what it would notice counts as a survivor. Record 169 has the reasons.
#
#   scripts/mutate.sh [PATH...]
#
# PATH is a folder or file of rules, for example src/payouts; without one, all rules.
set -euo pipefail
cd "$(dirname "$0")/.."
npx tsc --checkers 1 -p scripts/mutation
exec node dist/scripts/mutate.js "$@"
