#!/usr/bin/env bash
# Executes the blocks of the manual that need more than a test has: a registry with our packages, the programs of
# PostgreSQL, systemd, the servers of a checkout, minutes of a benchmark. Each block is read from its page. Run before
# a release, as root on Debian 12, with a registry of npm; it installs what is missing. Everything is written to a
# temporary folder, listens on free ports, and is ended. Prints the seconds of each block, and how every block of the
# manual is checked.
#   scripts/check-manual.sh          every page; the benchmarks come last and take most of the time
#   scripts/check-manual.sh PAGE…    these, such as docs/guides/backup.md
# docs/decisions/0132-blocks-are-executed.md has the other ways to check a block.
set -euo pipefail
cd "$(dirname "$0")/.."
if ((EUID != 0)); then
  echo 'scripts/check-manual.sh installs packages and boots a machine in a folder: run it as root.' >&2
  exit 1
fi

root=$PWD
work=$(mktemp -d)
# PostgreSQL does not run as root, and has its files in here.
chmod 711 "$work"
trap 'rm -rf --one-file-system "$work"' EXIT
# For the blocks, too, in which `with=` names them.
export packages=$work/packages version SECRET
version=$(node -p "require('./package.json').version")
SECRET=whsec_$(node -p "require('crypto').randomBytes(32).toString('base64')")
readonly SECRET
source scripts/manual/common.sh
source scripts/manual/packages.sh
source scripts/manual/installation.sh
source scripts/manual/checkout.sh

# What prepares the blocks of each page and executes them.
readonly PAGES=(
  'docs/packages/server.md check_server_package'
  'docs/packages/sandbox.md check_sandbox_package'
  'docs/guides/deployment.md check_deployment'
  'docs/guides/backup.md check_backup'
  'docs/guides/systemd.md check_systemd'
  'docs/guides/sandbox.md check_sandbox'
  'docs/guides/reading-the-ledger.md check_embedded'
  'docs/guides/capacity.md check_benchmarks'
  'docs/sizing.md check_benchmarks'
)

# check_page PAGE FUNCTION, in a shell of its own.
check_page() (
  page=$1
  mapfile -t blocks < <(awk -F '\t' -v page="$page" '$1 == page' "$work/blocks/blocks.tsv")
  next=0
  ends=()
  pid=
  trap end_all EXIT
  mkdir -p "$work/$page"
  cd "$work/$page"
  "$2"
  ((next == ${#blocks[@]})) || fail "$page has ${#blocks[@]} blocks for this script, and it executed $next: extend $2."
)

npm run -s build
node dist/scripts/manualBlocks.js "$work/blocks"
chosen=("$@")
for page in "${chosen[@]}" $(cut -f1 "$work/blocks/blocks.tsv" | uniq); do
  [[ " ${PAGES[*]} " == *" $page check_"* ]] || fail "$page has no block that this script can execute."
done
for line in "${PAGES[@]}"; do
  read -r page check <<<"$line"
  if ((${#chosen[@]} == 0)) || [[ " ${chosen[*]} " == *" $page "* ]]; then check_page "$page" "$check"; fi
done

echo
echo "$(awk -F '\t' '{ sum += $2 } END { print sum }' "$work/blocks/counts.tsv") blocks of the manual:"
sort -t $'\t' -k2,2nr "$work/blocks/counts.tsv" | awk -F '\t' '{ printf "%6d  %s\n", $2, $1 }'
echo "$(wc -l <"$work/executed") executed now, $(wc -l <"$work/blocks/cannot.tsv") that nothing executes:"
awk -F '\t' '{ printf "  %s  %s\n", $1, $2 }' "$work/blocks/cannot.tsv"
