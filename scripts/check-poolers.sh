#!/usr/bin/env bash
# Runs the tests of whole flows through PgBouncer in transaction mode: the version of Debian 12, which forgets named
# statements, and that of Debian 13, which keeps them. Run before a release, as root on Debian. About ten minutes each.
#   scripts/check-poolers.sh [1.18] [1.24]
# Downloads stay in $POOLERS_DIR, by default /tmp/tallyhook-poolers.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/debianProgram.sh

declare -A RELEASES=([1.18]=bookworm [1.24]=trixie)
work=${POOLERS_DIR:-/tmp/tallyhook-poolers}

npm run --silent build
if (($# == 0)); then set -- 1.18 1.24; fi
for version in "$@"; do
  program=$(debian_program "$work/$version" "${RELEASES[$version]}" pgbouncer /usr/sbin/pgbouncer)/pgbouncer
  "$program" --version | grep "^PgBouncer $version"
  TEST_PGBOUNCER=$program TEST_POOLER=transaction npx vitest run test/flow
done
