#!/usr/bin/env bash
# Lets another program check the ledger: builds a ledger of every kind of movement in currencies with
# zero to four decimals, exports it with the compiled command line, has hledger check the file
# strictly, and compares its balances with ours by account and currency. Run before a release.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v hledger >/dev/null; then
  echo 'hledger is not installed. On Debian: apt-get install hledger; elsewhere: https://hledger.org/install.html' >&2
  exit 1
fi
npm run --silent build
exec node scripts/checkHledger.mjs "$@"
