#!/bin/sh
# Run by hand before a release: compares the alerts of shops that trade under faults with the sandbox's
# history. None may be false or missing, and none may be opened or sent twice. Every thousand orders
# are an installation of their own, with faults chosen by its seed and shown in the name of its test.
#
#   scripts/check-false-alarms.sh [ORDERS] [FIRST_SEED]
set -eu
cd "$(dirname "$0")/.."
npm run --silent build
ALARM_ORDERS="${1:-10000}" ALARM_SEED="${2:-501}" exec npx vitest run test/flow/falseAlarms.test.ts
