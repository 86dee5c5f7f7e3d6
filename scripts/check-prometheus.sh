#!/usr/bin/env bash
# Checks everything that Prometheus reads with its own tool: the alerting rules, their tests, and the
# metrics page. Then compares all names in rules, dashboard and runbook with what a running
# Tallyhook shows. Run before a release.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v promtool >/dev/null; then
  echo 'promtool is not installed. It comes with Prometheus: on Debian apt-get install prometheus; elsewhere https://prometheus.io/download/' >&2
  exit 1
fi
promtool check rules docs/prometheus-alerts.yml
promtool test rules scripts/prometheus-alerts.test.yml
exec npx vitest run test/console/metricsDocuments.test.ts "$@"
