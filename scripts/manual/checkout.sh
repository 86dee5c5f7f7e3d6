# For scripts/check-manual.sh: the servers, tests and benchmarks of this checkout.

check_sandbox() {
  cd "$root"
  export PORT=0 ADMIN_PORT=0 METRICS_PORT=0 SANDBOX_PORT=0
  local data=$work/$page log=$work/$page/account.log
  DATA_DIR=$data/first run
  DATA_DIR=$data/at run
  # The block is for an account at a service. A sandbox takes its place: what is tested is the command of the page.
  DATA_DIR=$data/account background "$log" node bin/tallyhook.js sandbox
  wait_for "$log" 'base url'
  address=$(awk '/base url/ { print $3 }' "$log") key=$(<"$data/account/sandbox-api-key") run
}

check_embedded() {
  need /usr/bin/psql postgresql-client
  export PORT=0 ADMIN_PORT=0 METRICS_PORT=0 SANDBOX_PORT=0
  background start.log node "$root/bin/tallyhook.js" start
  wait_for start.log 'is running'
  run
}

# Last: each takes minutes, and is disturbed by what runs beside it.
check_benchmarks() {
  cd "$root"
  while ((next < ${#blocks[@]})); do run; done
}
