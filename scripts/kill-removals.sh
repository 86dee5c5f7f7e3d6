#!/bin/sh
# Run by hand before a release: retention, the archive, the move of bodies and erasure are killed 20 times
# each while they remove data; the suite kills each of them 4 times. The seed is in the name of each test;
# TEST_SEED repeats a run.
#
#   scripts/kill-removals.sh [KILLS]
set -eu
cd "$(dirname "$0")/.."
npm run --silent build
TEST_KILLS="${1:-20}" exec npx vitest run --testTimeout 1200000 \
  test/retention/kill.test.ts test/archive/kill.test.ts test/flow/killedBodies.test.ts \
  test/erasure/killedErase.test.ts
