#!/bin/sh
# Run by hand before a release: an installation lives through more than a year, day by day, with the default
# settings of retention. Nothing is lost, partitions are made in time, disk levels off, and the ledger is
# proven at the end. Prints sizes along the way.
#
#   scripts/simulate-year.sh [DAYS] [EVENTS_A_DAY]    at least 464 days, to see that rows level off
set -eu
cd "$(dirname "$0")/.."
SIMULATED_DAYS="${1:-520}" SIMULATED_EVENTS="${2:-24}" exec npx vitest run test/flow/simulatedYear.test.ts \
  --testTimeout 3600000
