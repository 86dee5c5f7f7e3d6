# For scripts/check-manual.sh: an installation from the package or a checkout, its drill, and one under systemd.

# Installs the package in a new project, and changes into it.
install_package() {
  pack
  new_project "$1"
  quietly npm install --no-audit --no-fund "$packages/tallyhook-$version.tgz"
}

check_deployment() {
  start_postgres
  export DATABASE_URL=$url
  # A checkout without what was built and installed in this one.
  mkdir checkout
  git -C "$root" ls-files -z --cached --others --exclude-standard | tar -C "$root" --null -T - -cf - | tar -C checkout -xf -
  cd checkout
  run
  pack
  new_project server
  run
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

readonly ROLES=(receiver events reconcile alerts scheduler console)

# A small Debian in a folder, booted with systemd in a network of its own; PostgreSQL is reached by its socket.
check_systemd() {
  need /usr/sbin/debootstrap debootstrap
  need /usr/bin/systemd-nspawn systemd-container
  pack
  start_postgres
  local machine=$work/$page/machine
  # In memory: to write each of its files to disk takes minutes on a busy one.
  mkdir "$machine"
  mount -t tmpfs -o size=2G tmpfs "$machine"
  at_end "umount --recursive --lazy '$machine'"
  quietly debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,libstdc++6 bookworm "$machine" \
    "$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | sed -n 1p)"
  # With the npm of this machine, and the /opt of that one.
  run unshare --mount bash -c 'mount --bind "$0/opt" /opt && exec bash "$@"' "$machine"
  write_settings "$machine/etc/tallyhook"
  boot "$machine"
  start_service
  run "${inside[@]}" bash
  local role
  for role in "${ROLES[@]}"; do
    "${inside[@]}" systemctl is-active --quiet "tallyhook@$role" || fail "tallyhook@$role is not active."
  done
  # The health ports of the roles, in their order.
  "${inside[@]}" node -e '
    const isReady = (port) => fetch(`http://127.0.0.1:${port}/readyz`).then(({ ok }) => ok, () => false);
    const wait = async () => {
      for (let left = 600; left > 0; left -= 1) {
        const ready = await Promise.all([8083, 8084, 8085, 8086, 8087, 8088].map(isReady));
        if (!ready.includes(false)) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      process.exitCode = 1;
    };
    wait();' || fail "A role is not ready: $("${inside[@]}" journalctl -n 60 -u 'tallyhook@*')"
  run "${inside[@]}" bash
  echo "  ${#ROLES[@]} roles are active and ready: ${ROLES[*]}"
}

# Step 3 of the page, with the logins of docs/guides/database-roles.md.
write_settings() {
  local role server="/tallyhook?host=/run/database&port=$PGPORT"
  for role in receiver app console; do
    psql -qd tallyhook -c "create role tallyhook_$role; create role ${role}_login login in role tallyhook_$role"
  done
  createdb sandbox
  install -d -m 700 "$1"
  (
    umask 077
    cd "$1"
    printf '%s\n' PAYMENTS_MERCHANT_ID=merchant_local PAYMENTS_BASE_URL=http://127.0.0.1:8082 INSTALLATION_NAME=Manual >settings.env
    printf '%s\n' "DATABASE_URL=postgres://receiver_login@$server" "WEBHOOK_SECRETS=$SECRET" "SANDBOX_WEBHOOK_SECRET=$SECRET" >receiver.env
    printf '%s\n' "DATABASE_URL=postgres://app_login@$server" PAYMENTS_API_KEY=snd_manual >events.env
    for role in reconcile alerts scheduler; do ln -s events.env "$role.env"; done
    printf '%s\n' "DATABASE_URL=postgres://console_login@$server" "ADMIN_TOKEN=$SECRET" PAYMENTS_API_KEY=snd_manual >console.env
    printf '%s\n' "DATABASE_URL=postgres://postgres@$server" >migrate.env
  )
}

# Sets ${inside[@]}, what leads into the machine.
boot() {
  local options=(--private-network --register=no --bind-ro="$(readlink -f "$(command -v node)"):/usr/bin/node"
    --bind="$PGHOST:/run/database" --console=pipe --boot)
  # Under another init nobody makes a scope for it.
  [[ -d /run/systemd/system ]] || options+=(--keep-unit)
  background boot.log systemd-nspawn --quiet --directory="$1" --machine="manual-$$" "${options[@]}"
  for _ in {1..600}; do
    inside=(nsenter --all --target "$(pgrep -P "$last" -x systemd || true)" env --ignore-environment PATH="$PATH")
    # A unit that has no use in a container may fail: then the machine runs as `degraded`.
    "${inside[@]}" systemctl is-system-running --wait >state 2>&1 || true
    if grep -qx 'running\|degraded' state; then return; fi
    sleep 0.1
  done
  cat boot.log >&2
  fail "The machine did not boot: $(cat state)."
}

# The sandbox as the payment service, in a database of its own.
start_service() {
  "${inside[@]}" systemd-run --quiet --unit=service --working-directory=/opt/tallyhook \
    --setenv=DATABASE_URL="postgres://postgres@/sandbox?host=/run/database&port=$PGPORT" --setenv=PAYMENTS_API_KEY=snd_manual \
    --setenv=PAYMENTS_MERCHANT_ID=merchant_local --setenv=SANDBOX_WEBHOOK_SECRET="$SECRET" \
    /usr/bin/node node_modules/tallyhook/bin/tallyhook.js sandbox
}
