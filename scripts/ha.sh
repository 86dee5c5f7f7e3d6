#!/usr/bin/env bash
# Three PostgreSQL nodes under Patroni with etcd, HAProxy and PgBouncer in front, each node in a network
# namespace of its own, and failovers under load. Run before a release, as root on Debian 12; it installs what is
# missing. A drill takes about a minute, ends by itself and removes what it made.
#
#   scripts/ha.sh up [--mode MODE]       make the cluster and leave it
#   scripts/ha.sh drill N [--mode MODE]  make it, drill N times, remove it; --seed repeats a run
#   scripts/ha.sh down                   remove it
#
# MODE is synchronous (the default), strict or asynchronous. --faults names some of kill, cut, switchover, hang,
# disk_full and etcd_away; --pgbouncer adds a receiver behind PgBouncer.
set -euo pipefail
cd "$(dirname "$0")/.."
if ((EUID != 0)); then
  echo "scripts/ha.sh makes network namespaces and mounts small disks: run it as root. The servers do not run as root." >&2
  exit 1
fi

declare -A PROVIDES=([patroni]=/usr/bin/patroni [etcd-server]=/usr/bin/etcd [haproxy]=/usr/sbin/haproxy
  [postgresql-15]=/usr/lib/postgresql/15/bin/postgres [pgbouncer]=/usr/sbin/pgbouncer [iproute2]=/usr/sbin/ip
  [python3-etcd]=/usr/lib/python3/dist-packages/etcd)
missing=()
for package in "${!PROVIDES[@]}"; do
  [[ -e ${PROVIDES[$package]} ]] || missing+=("$package")
done
if ((${#missing[@]} > 0)); then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

npm run --silent build
# One run at a time. The servers must not inherit the lock.
exec 9>/run/lock/tallyhook-ha.lock
flock --nonblock 9 || { echo "another run of scripts/ha.sh is under way" >&2; exit 1; }
if [[ ${1:-} == drill ]]; then
  # Also when the drill itself is killed.
  trap 'node dist/scripts/ha.js down 9>&-' EXIT
fi
node dist/scripts/ha.js "$@" 9>&-
