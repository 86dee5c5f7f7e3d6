#!/bin/sh
# Run by hand before a release: the statements of a quarter equal the sums of the service, for many seeds. Each
# seed is a shop of its own, with two years that are imported, lost webhooks and six orders of arrival. The
# seed is in the name of the test; TEST_SEED is the first one, and repeats a run.
#
#   scripts/check-statements.sh [SEEDS]
set -eu
cd "$(dirname "$0")/.."
npm run --silent build
STATEMENT_SEEDS="${1:-20}" exec npx vitest run --reporter=verbose test/flow/statements.test.ts
