#!/usr/bin/env bash
# Makes the files of a release in FOLDER: the packages, a bill of materials, the manual as a site, the notes of
# the changelog and checksums. Before that it runs every check, and stops at the first one that fails. Publishes nothing.
#   scripts/release.sh FOLDER                  checks and makes them; takes hours
#   scripts/release.sh --without-checks FOLDER makes them only, to look at them
#   scripts/release.sh --final FOLDER          also needs a clean tree and a dated section of the version in the
#                                              changelog, and tags the commit
# docs/reference/versions.md has the steps of a release.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "$1" >&2
  exit 1
}

usage='Usage: scripts/release.sh [--without-checks | --final] FOLDER'
mode=checked
case ${1-} in
  --without-checks | --final) mode=${1#--} && shift ;;
esac
(($# == 1)) || fail "$usage"
[[ $1 != -* ]] || fail "$usage"
[[ ! -e $1 || -z $(ls -A "$1") ]] || fail "$1 is not empty. Name a new folder, so that it has files of one release only."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
version=$(node -p "require('./package.json').version")

# Prints the lines below a heading of the changelog, up to the next version.
notes_of() {
  awk -v heading="$1" '/^## / { found = index($0, "## " heading) == 1; next } found && ($0 != "" || printed) { print; printed = 1 }' docs/CHANGELOG.md
}

notes=$(notes_of "$version - ")
if [[ $mode == final ]]; then
  [[ -z $(git status --porcelain) ]] || fail 'The working tree has changes. Commit them first.'
  [[ -n $notes ]] || fail "docs/CHANGELOG.md has no section '## $version - DATE'. Rename Unreleased, and begin a new one."
  ! git rev-parse -q --verify "refs/tags/v$version" >/dev/null ||
    fail "The tag v$version exists. Raise the version in package.json."
elif [[ -z $(notes_of Unreleased | tr -d '[:space:]') ]]; then
  echo "Nothing is unreleased: these are the files of $version again."
else
  notes=$(notes_of Unreleased)
fi

# Each is a command of its own, for whoever repeats one. CONTRIBUTING.md has what each checks.
readonly CHECKS=(
  'npm run check'
  scripts/check-mistakes.sh
  scripts/check-packages.sh
  scripts/check-deployment.sh
  scripts/check-manual.sh
  scripts/check-prometheus.sh
  scripts/matrix.sh
  scripts/failover-drill.sh
  'scripts/ha.sh drill 100'
  scripts/check-poolers.sh
  scripts/kill-redis.sh
  scripts/attack-receiver.sh
  scripts/heal-many-seeds.sh
  scripts/check-false-alarms.sh
  scripts/check-statements.sh
  scripts/simulate-year.sh
  scripts/kill-removals.sh
  scripts/erase-many-people.sh
)
if [[ $mode != without-checks ]]; then
  mkdir "$folder/logs"
  for check in "${CHECKS[@]}"; do
    start=$SECONDS
    log=$folder/logs/$(basename "${check// /-}").log
    if ! $check >"$log" 2>&1; then
      tail -40 "$log"
      fail "$check failed; $log has all of its output. Correct it, and make the release again in a new folder."
    fi
    echo "passed in $((SECONDS - start)) s: $check"
  done
fi
[[ $mode != final || -z $(git status --porcelain) ]] ||
  fail 'A check wrote other results than those in docs/. Commit them, and make the release again in a new folder.'

npm run -s pack -- "$folder"
npm run -s sbom >"$folder/tallyhook-$version.cdx.json"
# At a path with its version, so that the manuals of several versions are served side by side.
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
npm run -s site -- "$site/$version" "/$version/"
tar -C "$site" -czf "$folder/tallyhook-$version-site.tar.gz" "$version"
printf '# Tallyhook %s\n\n%s\n' "$version" "$notes" >"$folder/NOTES.md"
(
  cd "$folder"
  sha256sum ./*.tgz ./*.tar.gz ./*.cdx.json NOTES.md | sed 's# \./# #' >SHA256SUMS
  sha256sum --check --quiet SHA256SUMS
)
for package in "$folder"/*.tgz; do
  packed=$(tar -xOzf "$package" package/package.json | node -p 'JSON.parse(require("fs").readFileSync(0)).version')
  [[ $packed == "$version" ]] || fail "$package has the version $packed, not $version."
done
cat "$folder/SHA256SUMS"

if [[ $mode == final ]]; then
  git tag --annotate "v$version" --message "Tallyhook $version"
  echo "Tagged v$version. Nothing is published: docs/reference/versions.md has the next steps."
else
  echo "$folder has the files of $version. Nothing is tagged or published."
fi
