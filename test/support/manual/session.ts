/**
 * A shell in which the commands of a page run one after the other, against a running installation.
 *
 * 1. `npx tallyhook` is the program in this process: a page with ten commands would otherwise load it ten times.
 *    A command that follows something until it is stopped is a process, so that a signal ends it.
 * 2. The ports of the manual are replaced by those of the installation.
 * 3. Everything happens in a folder of its own, which has the files of a checkout.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { run } from '../../../src/cli/run.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';
import type { Environment } from '../program.ts';
import { waitFor } from '../waitFor.ts';

export interface SessionOptions {
  readonly env: Environment;
  /** The port of the installation for each port of the manual. */
  readonly ports: Readonly<Record<number, number>>;
  /** Files of the folder, by their paths. */
  readonly files: Readonly<Record<string, string>>;
  /** Executes statements as the owner of the database: what `sql` in a hidden block does. */
  readonly query: (sql: string) => Promise<void>;
}

export interface Ran {
  /** The exit code of the last command. */
  readonly code: number;
  /** The first command that failed. */
  readonly failed: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Session {
  run(code: string): Promise<Ran>;
  /** Runs each command until its output has the text, and then interrupts it. */
  runUntil(code: string, text: string): Promise<Ran>;
  close(): Promise<void>;
}

const root = packageRoot();
/** Ends a block that would run for ever. */
const MOST_MS = 240_000;
const NOTHING: Ran = { code: 0, failed: undefined, stdout: '', stderr: '' };

/**
 * For blocks that readers do not see: `pick` reads a field of JSON, `until_ok` repeats a command, `sql` queries as
 * the owner, and `place` takes a payment of
 * a customer of its own at the sandbox.
 */
const PRELUDE = String.raw`
set -o pipefail -o errtrace
pick() { grep -om1 "\"$1\": *\"\?[^\",}]*" | sed 's/^[^:]*: *"\?//'; }
until_ok() {
  local end=$((SECONDS + 100))
  until bash -c "$1" >/dev/null 2>&1; do ((SECONDS < end)) || return; sleep 0.1; done
}
sql() { /usr/bin/curl -sS --fail-with-body --unix-socket "$TALLYHOOK_MANUAL/commands" http://commands/sql --data-binary "$1"; }
place() {
  local customer=cus_$1 own=$RANDOM
  [[ -z $4 ]] || customer=$4
  curl -s http://127.0.0.1:8082/customers -H "api-key: $PAYMENTS_API_KEY" -d '{
    "customer_id": "'$customer'", "name": "Ann Lee'$own'", "email": "ann'$own'@example.org"}' || return
  curl -s http://127.0.0.1:8082/payments -H "api-key: $PAYMENTS_API_KEY" -d '{
    "amount": 6540, "currency": "USD", "profile_id": "pro_local", "payment_id": "'$1'", "confirm": true,
    "capture_method": "'$3'", "payment_method": "card", "metadata": {"order_id": "'$2'"}, "customer_id": "'$customer'",
    "payment_method_data": {"card": {"card_number": "4242424242424242", "card_exp_month": "12",
      "card_exp_year": "2039", "card_cvc": "123"}},
    "billing": {"address": {"line1": "'$own' Main Street", "city": "Town'$own'", "state": "IL", "zip": "'$own'",
      "country": "US", "first_name": "Ann'$own'", "last_name": "Lee'$own'"}, "phone": {"number": "5550'$own'", "country_code": "+1"}}}' || return
  until_ok "npx tallyhook orders show $2"
}
`;

export async function openSession(options: SessionOptions): Promise<Session> {
  const folder = mkdtempSync(join(tmpdir(), 'tallyhook-manual-'));
  writePrograms(folder);
  writeCheckout(folder, options.files);
  const commands = await serveCommands(folder, options.query);
  const bash = spawn('bash', ['--noprofile', '--norc'], {
    // A group of its own, with everything that it starts.
    detached: true,
    cwd: join(folder, 'checkout'),
    env: {
      ...options.env,
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      HOME: folder,
      TALLYHOOK_MANUAL: folder,
    },
  });
  bash.stdin.write(withPorts(PRELUDE, options.ports));
  let number = 0;
  const execute = (code: string, until?: string): Promise<Ran> => {
    number += 1;
    const block = join(folder, `block-${number}`);
    writeFileSync(`${block}.sh`, withPorts(code, options.ports));
    bash.stdin.write(until === undefined ? foreground(block) : background(block));
    return finish(bash, block, until);
  };
  return {
    run: (code) => execute(code),
    runUntil: async (code, text) => {
      const all: Ran[] = [];
      for (const command of code.split(/(?<!\\)\n/)) all.push(await execute(command, text));
      const stdout = all.map((one) => one.stdout).join('');
      const stderr = all.map((one) => one.stderr).join('');
      return { ...(all.find(({ code }) => code !== 0) ?? all[0] ?? NOTHING), stdout, stderr };
    },
    close: async () => {
      if (bash.exitCode === null && bash.signalCode === null) {
        bash.stdin.end();
        await once(bash, 'exit');
      }
      await commands.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A failure inside of an `if` or before a `||` is none, as with `set -e`. */
function foreground(block: string): string {
  return `
: > ${block}.failed
trap 'echo "$BASH_COMMAND" >> ${block}.failed' ERR
source ${block}.sh > ${block}.out 2> ${block}.err < /dev/null
code=$?
trap - ERR
echo $code > ${block}.part && mv ${block}.part ${block}.code
`;
}

/** A group of its own, so that a signal reaches the command and not this shell. */
function background(block: string): string {
  return `
: > ${block}.failed
MANUAL_PROCESS=1 setsid bash -c 'echo $$ > ${block}.pid; exec bash ${block}.sh' > ${block}.out 2> ${block}.err < /dev/null
echo $? > ${block}.part && mv ${block}.part ${block}.code
`;
}

async function finish(
  bash: ChildProcessWithoutNullStreams,
  block: string,
  until: string | undefined,
): Promise<Ran> {
  const read = (ending: string) =>
    existsSync(`${block}.${ending}`) ? readFileSync(`${block}.${ending}`, 'utf8') : '';
  const printed = () => `stdout:\n${read('out')}\nstderr:\n${read('err')}`;
  const isOver = () =>
    existsSync(`${block}.code`) || bash.exitCode !== null || bash.signalCode !== null;
  const wait = (what: string, check: () => boolean) =>
    waitFor(what, check, MOST_MS).catch((error: unknown) => {
      // The session is of no use any more, and what it runs must not stay.
      for (const pid of [read('pid'), String(bash.pid)]) kill(pid);
      throw new Error(`${String(error)}. ${printed()}`);
    });
  if (until !== undefined) {
    await wait(`the output to have "${until}"`, () => isOver() || printed().includes(until));
    if (!printed().includes(until)) throw new Error(`It ended without "${until}". ${printed()}`);
    if (!isOver()) process.kill(-Number(read('pid')), 'SIGINT');
  }
  await wait('the block to end', isOver);
  const [failed] = read('failed').split('\n');
  return {
    code: Number(read('code')),
    failed: failed === '' ? undefined : failed,
    stdout: read('out'),
    stderr: read('err'),
  };
}

/** Kills a group of processes that a session started. */
function kill(pid: string): void {
  if (pid.trim() === '') return;
  try {
    process.kill(-Number(pid), 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function withPorts(text: string, ports: SessionOptions['ports']): string {
  return text.replaceAll(/\b(127\.0\.0\.1|localhost):(\d+)/g, (all, host: string, port: string) => {
    const own = ports[Number(port)];
    return own === undefined ? all : `${host}:${own}`;
  });
}

function writePrograms(folder: string): void {
  mkdirSync(join(folder, 'bin'));
  const program = (name: string, text: string) => {
    writeFileSync(join(folder, 'bin', name), `#!/bin/bash\n${text}`);
    chmodSync(join(folder, 'bin', name), 0o755);
  };
  program(
    'npx',
    `[[ $1 == tallyhook ]] || { echo "npx $1 is not in the manual's session" >&2; exit 127; }
shift
[[ -z $MANUAL_PROCESS ]] || exec node ${join(root, 'bin/tallyhook.js')} "$@"
call="$TALLYHOOK_MANUAL/call-$$"
printf '%s\\0' "$@" > "$call-args"
env -0 > "$call-env"
# Into a file: a reader such as grep -m1 may close the pipe, which is no failure of the command.
/usr/bin/curl -sS --fail-with-body -o "$call-out" --unix-socket "$TALLYHOOK_MANUAL/commands" "http://commands$call" --data-binary @- ||
  { cat "$call-out" >&2; exit 70; }
[[ ! -s $call-out ]] || cat "$call-out"
[[ ! -s $call-err ]] || cat "$call-err" >&2
exit "$(< "$call-code")"
`,
  );
  program('curl', 'exec /usr/bin/curl -sS --fail-with-body "$@"\n');
  program('npm', `echo "npm is not in the manual's session" >&2; exit 127\n`);
}

const CHECKOUT = ['docs', 'examples', 'deploy', 'package.json', 'scripts'];

function writeCheckout(folder: string, files: SessionOptions['files']): void {
  const checkout = join(folder, 'checkout');
  mkdirSync(join(checkout, '.tallyhook'), { recursive: true });
  for (const name of CHECKOUT) symlinkSync(join(root, name), join(checkout, name));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(checkout, path), text);
}

interface Commands {
  /** Waits for those that run. */
  close(): Promise<void>;
}

/** Runs the commands that our `npx` names, in this process. */
async function serveCommands(folder: string, query: SessionOptions['query']): Promise<Commands> {
  const running = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const work = buffer(request).then(async (sent) => {
      if (request.url !== '/sql') return await runCommand(decodeURI(request.url ?? ''), sent);
      await query(sent.toString());
      return undefined;
    });
    const done = work.then(
      (output) => void response.end(output ?? ''),
      (error: unknown) => void response.writeHead(400).end(String(error)),
    );
    running.add(done);
    void done.finally(() => running.delete(done));
  });
  server.listen(join(folder, 'commands'));
  await once(server, 'listening');
  const before = process.cwd();
  process.chdir(join(folder, 'checkout'));
  return {
    close: async () => {
      await Promise.all(running);
      process.chdir(before);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * @param call what the names of the files of its arguments begin with, and of those of its errors and its code
 * @returns what it prints
 */
async function runCommand(call: string, sent: Buffer): Promise<Buffer> {
  const list = (name: string) => readFileSync(`${call}-${name}`, 'utf8').split('\0').slice(0, -1);
  const env = Object.fromEntries(
    list('env').map((line) => /^([^=]*)=(.*)$/s.exec(line)?.slice(1) ?? []),
  );
  const reply = env.MANUAL_REPLY;
  const input = reply === undefined ? sent : Buffer.from(`${reply}\n`);
  const stdin = Object.assign(Readable.from([input]), { isTTY: reply !== undefined });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  const terminal = { stdin, stdout: keptIn(out), stderr: keptIn(err) };
  const code = await run({ args: list('args'), env, terminal });
  writeFileSync(`${call}-err`, Buffer.concat(err));
  writeFileSync(`${call}-code`, String(code));
  return Buffer.concat(out);
}

function keptIn(chunks: Buffer[]): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      done();
    },
  });
}
