#!/bin/sh
# Run by hand before a release: what strangers can cost a receiver. Starts PostgreSQL, a receiver and
# an attacker on loopback for about eight minutes, and ends them. Prints the receiver's memory and the
# good deliveries that were refused under 2,000 silent connections, 2,000 with one cheap request each
# and 1,000 with a body that never ends, and the good throughput beside forged deliveries. Fails
# if memory grows by more than 64 MiB, a verified connection has a delivery refused, or less than 0.8
# of the throughput is left. Needs Linux. Other load on the machine distorts the figures.
#
#   scripts/attack-receiver.sh [none|silent|cheap|cheap_reopening|endless|forged|forged_reconnecting]...
set -eu
cd "$(dirname "$0")/.."
npm run --silent build
exec node dist/bench/attack/main.js "$@"
