#!/bin/sh
# Run by hand before a release: one full run repairs what lost webhooks did not report, for many seeds.
# Each seed chooses faults and variants of the service, which are in the name of its test. Workers that
# die are simulated in one process; in the second number of seeds any process is killed by kill -9.
# RECONCILE_SEED and HEAL_SEED run single seeds of either kind, separated by commas.
#
#   scripts/heal-many-seeds.sh [SEEDS] [SEEDS_WITH_KILLED_PROCESSES]
set -eu
cd "$(dirname "$0")/.."
npm run --silent build
RECONCILE_SEEDS="${1:-200}" HEAL_SEEDS="${2:-40}" exec npx vitest run \
  test/reconcile/repair.test.ts test/flow/killWhileHealing.test.ts
