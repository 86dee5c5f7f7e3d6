#!/usr/bin/env bash
# Checks the files in deploy/ with the tools that read them. Run before a release; a step that has no
# tool here is skipped with a note.
set -euo pipefail
cd "$(dirname "$0")/.."

# In tenths. What is left: docs/guides/systemd.md.
MOST_EXPOSURE=15

check_systemd() {
  local units=(deploy/systemd/tallyhook@{receiver,events,reconcile,alerts,scheduler,console}.service
    deploy/systemd/tallyhook-migrate.service)
  # Its exit code is 0 for an unknown directive, too.
  local found
  found=$(systemd-analyze verify --man=no "${units[@]}" deploy/systemd/tallyhook.target 2>&1) || true
  if [[ -n $found ]]; then
    printf '%s\n' "$found" >&2
    return 1
  fi
  systemd-analyze security --no-pager --offline=yes --threshold="$MOST_EXPOSURE" "${units[@]}" |
    grep '^→'
}

readonly PLAIN=deploy/kubernetes/tallyhook.yaml

render() {
  helm template tallyhook deploy/helm --namespace tallyhook "$@"
}

# With --write, the plain manifests are written instead of compared.
check_helm() {
  helm lint --strict --quiet deploy/helm
  render --set autoscaling.enabled=true,podMonitor.enabled=true,settings.LOG_LEVEL=warn >/dev/null
  local refused
  for refused in settings.ADMIN_TOKEN=x settings.DATABASE_URL=x roles.receiver.replica=2; do
    if render --set "$refused" >/dev/null 2>&1; then
      echo "the chart accepts $refused" >&2
      return 1
    fi
  done
  if [[ ${1-} == --write ]]; then
    render >"$PLAIN"
  else
    render | diff "$PLAIN" -
  fi
}

# check TOOL FUNCTION [ARGUMENT…]
check() {
  if ! command -v "$1" >/dev/null; then
    echo "skipped, because $1 is not installed: $2"
    return
  fi
  "${@:2}"
  echo "passed: $2"
}

check systemd-analyze check_systemd
check helm check_helm "$@"
