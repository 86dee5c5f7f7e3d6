#!/bin/sh
# Run by hand before a release: the flow of lost, doubled, disordered and late webhooks, healed by one
# run, for many seeds: with dying workers simulated in one process, and with worker processes that are
# killed by kill -9, about ten seconds each. The seed of a failure stands in the name of its test.
#
#   scripts/heal-many-seeds.sh [SEEDS] [SEEDS_OF_KILLED_PROCESSES]
set -eu
cd "$(dirname "$0")/.."
npm run --silent build
RECONCILE_SEEDS="${1:-200}" HEAL_SEEDS="${2:-25}" exec npx vitest run \
  test/reconcile/healing.test.ts test/flow/killWhileHealing.test.ts
