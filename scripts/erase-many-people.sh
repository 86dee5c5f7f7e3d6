#!/bin/sh
# Run by hand before a release: erases 1,000 people of a shop with 100,000 orders. A search that shares no
# code with the program finds none of their data in any column, the ledger is the same, and verify passes.
# The seed is in the name of the test; TEST_SEED repeats a run.
#
#   scripts/erase-many-people.sh [ORDERS] [PEOPLE]
set -eu
cd "$(dirname "$0")/.."
TEST_CUSTOMERS=$((${1:-100000} / 2)) TEST_ERASED="${2:-1000}" exec npx vitest run \
  test/erasure/erase.test.ts --testTimeout 7200000 -t "are erased from every column"
