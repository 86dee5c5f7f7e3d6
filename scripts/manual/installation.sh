# For scripts/check-manual.sh: an installation from the package, with a ledger.

# Installs the package in a new project, and changes into it.
install_package() {
  pack
  new_project "$1"
  quietly npm install --no-audit --no-fund "$packages/tallyhook-$version.tgz"
}

# Settings of a program that runs everything with the sandbox as its service, in a database of another server.
use_sandbox() {
  SANDBOX_PORT=$(free_port)
  export DATABASE_URL=$url SANDBOX_PORT PORT=0 ADMIN_PORT=0 METRICS_PORT=0 PAYMENTS_MERCHANT_ID=merchant_local \
    PAYMENTS_BASE_URL=http://127.0.0.1:$SANDBOX_PORT PAYMENTS_API_KEY=snd_manual WEBHOOK_SECRETS=$SECRET \
    SANDBOX_WEBHOOK_SECRET=$SECRET ADMIN_TOKEN=$SECRET
}

check_backup() {
  start_postgres
  install_package server
  use_sandbox
  quietly npx tallyhook migrate
  # Some trade, as the page is about a ledger that has some.
  background start.log node_modules/.bin/tallyhook start --roles receiver,events,reconcile,alerts,scheduler,console,sandbox
  wait_for start.log 'is running'
  local event
  for event in payment_succeeded refund_succeeded dispute_opened; do quietly npx tallyhook trigger "$event"; done
  end_last
  run
  local orders
  orders=$(psql -Atc 'select count(*) from orders' tallyhook_drill)
  ((orders == 3)) || fail "The restored ledger has $orders orders, not 3."
}
