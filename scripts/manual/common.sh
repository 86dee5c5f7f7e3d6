# For scripts/check-manual.sh: executes blocks, and starts what they need.

readonly MAX_SECONDS=7200

fail() {
  echo "$1" >&2
  exit 1
}

# quietly COMMAND…: its output is shown if it fails.
quietly() {
  "$@" >"$work/log" 2>&1 || {
    tail -60 "$work/log" >&2
    fail "$* failed."
  }
}

# need PROGRAM PACKAGE…: the packages of Debian, where the program is missing.
need() {
  local program=$1
  shift
  [[ -e $program ]] || {
    quietly apt-get update
    DEBIAN_FRONTEND=noninteractive quietly apt-get install -y --no-install-recommends "$@"
  }
}

# at_end COMMAND: in the reverse order, when the page is done or has failed.
at_end() {
  ends=("$1" "${ends[@]}")
}

end_all() {
  cd /
  # The script itself was interrupted.
  [[ -z $pid ]] || kill -KILL -- "-$pid" 2>/dev/null || true
  for command in "${ends[@]}"; do eval "$command" >/dev/null 2>&1 || true; done
}

# background LOG COMMAND…: until the end of the page, or end_last. Sets $last, its process.
background() {
  "${@:2}" >"$1" 2>&1 </dev/null &
  last=$!
  at_end "kill $last && wait $last"
}

# Ends what was started last.
end_last() {
  eval "${ends[0]}" || true
  ends=("${ends[@]:1}")
}

# wait_for LOG TEXT
wait_for() {
  for _ in {1..1200}; do
    if grep -qs -- "$2" "$1"; then return; fi
    sleep 0.1
  done
  cat "$1" >&2
  fail "$1 does not contain '$2' after two minutes."
}

free_port() {
  node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })"
}

# run [PROGRAM…]: executes the next block of the page, with bash or with what leads to another one. A block with
# `until=` is interrupted, as a reader does, each time that its output has this text once more.
run() {
  ((next < ${#blocks[@]})) || fail "$page has no block ${next}."
  local line file until start=$SECONDS log=$work/log
  IFS=$'\t' read -r _ line file until <<<"${blocks[next]}"
  next=$((next + 1))
  local program=("$@")
  ((${#program[@]} > 0)) || program=(bash)
  local setup='set -e' interrupted=0 seen code=0
  # The exit code of an interrupted program is no failure.
  [[ -z $until ]] || setup='trap '\''code=$?; ((code == 130)) || exit "$code"'\'' ERR'
  program+=(-uo pipefail -c "$setup"$'\n'"$(<"$file")")
  setsid "${program[@]}" >"$log" 2>&1 </dev/null &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    if [[ -n $until ]] && seen=$(grep -c -- "$until" "$log") && ((seen > interrupted)); then
      interrupted=$seen
      kill -INT -- "-$pid" 2>/dev/null || true
    fi
    if ((SECONDS - start > MAX_SECONDS)); then kill -KILL -- "-$pid"; fi
    sleep 0.2
  done
  wait "$pid" || code=$?
  pid=
  ((code == 0 || interrupted > 0 && code == 130)) || failed "ended with exit code $code"
  [[ -z $until ]] || ((interrupted > 0)) || failed "ended without '$until'"
  echo "$page:$line  $((SECONDS - start)) s  ok"
  echo "$page:$line" >>"$work/executed"
}

failed() {
  tail -60 "$log" >&2
  fail "$page:$line $1. Correct the page, or what it describes."
}

# The packages of this checkout, in $packages.
pack() {
  [[ -d $packages ]] || quietly node "$root/dist/scripts/pack.js" "$packages"
}

# Begins a new project in the folder of the page and changes into it.
new_project() {
  mkdir -p "$work/$page/$1"
  cd "$work/$page/$1"
  echo "{ \"name\": \"$1\", \"private\": true }" >package.json
}

# A registry with our packages in front of the one that npm uses. Sets $registry.
start_registry() {
  pack
  background registry.log node "$root/dist/scripts/packageRegistry.js" "$packages" "$(npm config get registry)"
  wait_for registry.log '^http'
  registry=$(<registry.log)
}

# A server of Debian, as its own user, that lets everybody on this machine in. Sets what libpq and $url read.
start_postgres() {
  local programs=/usr/lib/postgresql/15/bin folder=$work/$page/postgres port
  need "$programs/initdb" postgresql-15
  port=$(free_port)
  install -d -o postgres "$folder" "$folder/data"
  local as_postgres=(setpriv --reuid postgres --regid postgres --clear-groups "--inh-caps=-all")
  (cd "$folder" && "${as_postgres[@]}" "$programs/initdb" --auth trust --no-sync -D data >initdb.log)
  "${as_postgres[@]}" "$programs/postgres" -D "$folder/data" -p "$port" -k "$folder" >"$folder/log" 2>&1 &
  # Without waiting for connections that are left.
  at_end "kill -INT $! && wait $!"
  wait_for "$folder/log" 'ready to accept connections'
  export PGHOST=$folder PGPORT=$port PGUSER=postgres
  createdb tallyhook
  export url=postgres://postgres@127.0.0.1:$port/tallyhook
}
