#!/usr/bin/env bash
# Holds the alerts of a clean demo against what the sandbox knows to be true: none that nothing stands
# behind, and none missing. Takes the number of orders (10000) and a seed. Run before a release.
set -euo pipefail
cd "$(dirname "$0")/.."

npm run --silent build
exec node scripts/checkFalseAlarms.mjs "$@"
