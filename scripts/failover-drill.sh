#!/bin/sh
# Run by hand before a release: a primary with a synchronous standby, a real receiver under load from
# senders that retry, and failovers at the worst moment, about ten seconds each. Prints what was sent,
# acknowledged and missing, and fails if an acknowledged event is missing. Needs no PostgreSQL: it
# uses the embedded programs. TEST_SEED repeats a run.
#
#   scripts/failover-drill.sh [FAILOVERS]
set -eu
cd "$(dirname "$0")/.."
npm run --silent build
FAILOVERS="${1:-50}" exec npx vitest run test/flow/failover.test.ts
