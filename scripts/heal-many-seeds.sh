#!/bin/sh
# Run by hand before a release: the flow of lost, doubled, disordered and late webhooks, healed by one
# run, for many seeds. The seed of a failure stands in the name of its test.
set -eu
cd "$(dirname "$0")/.."
RECONCILE_SEEDS="${1:-200}" exec npx vitest run test/reconcile/healing.test.ts
