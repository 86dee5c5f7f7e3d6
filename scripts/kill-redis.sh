#!/bin/sh
# Run by hand before a release: primaries of a Redis Cluster of six nodes, and those of three Sentinels, are
# killed while events arrive. No event may be lost, and after each kill all are applied within two minutes.
#
#   scripts/kill-redis.sh [--kills KILLS]
set -eu
cd "$(dirname "$0")/.."
kills=50
[ "${1:-}" = --kills ] && kills="$2"
REDIS_KILLS="$kills" exec npx vitest run test/flow/redisFleets.test.ts -t 'killed primaries'
