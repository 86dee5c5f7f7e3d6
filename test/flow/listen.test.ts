/**
 * `tallyhook listen` forwards every acknowledged event to an address, byte for byte, while connections to the
 * installation are cut, its receiver is restarted and the address is unreachable: nothing is missed, and
 * nothing is forwarded twice without a mark.
 */
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createEventBurst, startSending } from '../support/eventBurst.ts';
import { receiveEach } from '../support/ledger.ts';
import { paymentEvent, refundEvent } from '../support/payments.ts';
import {
  type Environment,
  type Program,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { ACCEPT, type HttpReceiver, startHttpReceiver } from '../support/receivers.ts';
import { startTcpProxy } from '../support/tcpProxy.ts';
import { createTestToken, revokeTestToken } from '../support/tokens.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();
const LAPTOP_SECRET = 'secret-of-the-laptop';
const REPEAT = 'x-tallyhook-repeat';

let db: TestDatabase;
let laptop: HttpReceiver;
const cleanups: (() => unknown)[] = [];
beforeEach(async () => {
  db = await createTestDatabase();
  laptop = await startHttpReceiver();
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
  await laptop.close();
  await db.drop();
});

function start(args: readonly string[], env: Environment = {}): Program {
  const program = spawnProgram('bin/tallyhook.js', args, { env: settingsFor(db.url, env) });
  cleanups.push(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  return program;
}

async function startListening(args: readonly string[], env: Environment = {}): Promise<Program> {
  const to = ['--forward-to', laptop.url, '--secret', LAPTOP_SECRET];
  const program = start(['listen', ...to, ...args], env);
  await waitFor('listen to be ready', () => program.stderr().includes('Ready.'));
  return program;
}

const startReceiver = () => start(['start', '--roles', 'receiver', '--json']);

interface Line {
  readonly number: number;
  readonly event_id: string;
  readonly status: number | null;
  readonly repeat: boolean;
}

const linesOf = (stdout: string): readonly Line[] =>
  stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));

const eventIdOf = (body: string) => (JSON.parse(body) as { readonly event_id: string }).event_id;
const numbersSent = () =>
  laptop.posts.map(({ headers }) => Number(headers['x-tallyhook-event-number']));

test(`nothing is missed, and nothing is sent twice without a mark, through cut connections and restarts (seed ${SEED})`, async () => {
  const proxy = await startTcpProxy(db.url);
  cleanups.push(() => proxy.close());
  let receiver = startReceiver();
  let webhookUrl = await webhookUrlOf(receiver);
  const listen = await startListening(['--json'], { DATABASE_URL: proxy.url });
  const { deliveries, eventIds } = createEventBurst(400, seededRandom(SEED));
  const sender = startSending(deliveries, { url: () => webhookUrl, concurrency: 4 });
  cleanups.push(() => sender.stop());

  /** What goes wrong, each in the middle of the flow. */
  const cut = async () => {
    proxy.refuse();
    const before = noteCount(listen, 'NOT CONNECTED');
    await waitFor('the cut to be noted', () => noteCount(listen, 'NOT CONNECTED') > before);
    await proxy.resume();
  };
  const restartReceiver = async () => {
    receiver.kill('SIGTERM');
    await receiver.exit;
    receiver = startReceiver();
    webhookUrl = await webhookUrlOf(receiver);
  };
  const stopLaptop = async () => {
    const before = noteCount(listen, 'No response from');
    await laptop.stop();
    await waitFor('it to be noted', () => noteCount(listen, 'No response from') > before);
    await laptop.restart();
  };
  const loseResponse = async () => {
    const lost = () => laptop.posts.filter(({ outcome }) => outcome !== 'accept').length;
    const before = lost();
    laptop.behave({ does: 'read_and_disconnect' });
    await waitFor('a request without a response', () => lost() > before);
    laptop.behave(ACCEPT);
  };
  const troubles = [cut, loseResponse, cut, restartReceiver, stopLaptop, cut, loseResponse];
  for (const [index, trouble] of troubles.entries()) {
    const after = ((index + 1) * eventIds.length) / (troubles.length + 2);
    await waitFor(`${after} events`, () => laptop.accepted().length > after);
    await trouble();
  }
  await sender.done;
  const acknowledged = [...sender.acknowledged].toSorted();
  expect(acknowledged).toEqual(eventIds.toSorted());
  const arrived = () => new Set(laptop.accepted().map(({ body }) => eventIdOf(body)));
  await waitFor('every acknowledged event', () => arrived().size >= acknowledged.length);
  await waitFor('their lines', () => linesOf(listen.stdout()).length >= acknowledged.length);
  listen.kill('SIGINT');
  const exit = await listen.exit;
  expect(exit.code).toBe(0);

  expect([...arrived()].toSorted()).toEqual(acknowledged);
  const sentBodies = new Map(deliveries.map(({ eventId, body }) => [eventId, body.toString()]));
  const seen = new Set<string>();
  for (const { body, headers } of laptop.posts) {
    const eventId = eventIdOf(body);
    expect(body).toBe(sentBodies.get(eventId));
    const signature = createHmac('sha512', LAPTOP_SECRET).update(body).digest('hex');
    expect(headers['x-webhook-signature-512']).toBe(signature);
    // The first has no mark unless an attempt before it did not arrive; every further one has.
    if (seen.has(eventId)) expect(headers[REPEAT]).toBe('true');
    seen.add(eventId);
  }
  // Without repeats, in the order of the inbox.
  expect([...new Set(numbersSent())]).toEqual(
    numbersSent()
      .toSorted((a, b) => a - b)
      .filter((n, i, all) => n !== all[i - 1]),
  );
  const lines = linesOf(exit.stdout);
  expect(lines.map(({ event_id }) => event_id).toSorted()).toEqual(acknowledged);
  const marked = laptop
    .accepted()
    .flatMap(({ body, headers }) => (headers[REPEAT] ? [eventIdOf(body)] : []));
  expect(lines.flatMap(({ event_id, repeat }) => (repeat ? [event_id] : []))).toEqual(marked);
  expect(marked.length).toBeGreaterThanOrEqual(3);
  expect(noteCount(listen, 'Connected again')).toBeGreaterThanOrEqual(3);
  expect(exit.stderr).toContain(
    `Forwarded ${acknowledged.length} events. To continue later, add --after ${lines.at(-1)?.number}.`,
  );
  expect(
    await db.query(
      `select result, subject_id as url, detail ->> 'events' as events from audit
        where action = 'event.forward' order by id`,
    ),
  ).toEqual([
    { result: 'requested', url: laptop.url, events: null },
    { result: 'done', url: laptop.url, events: String(acknowledged.length) },
  ]);
});

function noteCount(program: Program, note: string): number {
  return program.stderr().split(note).length - 1;
}

test('a later run continues after a number, marks what may have been sent, and names what has no body', async () => {
  const [first = 0, second = 0, erased = 0] = await receiveEach(db, [
    paymentEvent({}),
    paymentEvent({}),
    paymentEvent({}),
  ]);
  await db.query('delete from webhook_bodies where webhook_event_id = $1', [erased]);
  const listen = await startListening(['--after', String(first)]);
  const [fresh = 0] = await receiveEach(db, [paymentEvent({})]);
  await waitFor('the new event', () => laptop.posts.length === 2);
  expect(numbersSent()).toEqual([second, fresh]);
  expect(laptop.posts.map(({ headers }) => headers[REPEAT])).toEqual(['true', undefined]);
  await waitFor('three lines', () => listen.stdout().split('\n').length === 4);
  const [repeated, missing, last] = listen.stdout().split('\n');
  expect(repeated).toMatch(
    new RegExp(`^${second} +payment_succeeded +evt_\\S+ +200 +\\d+ ms +repeat$`),
  );
  expect(missing).toMatch(new RegExp(`^${erased} .* not forwarded: its body is missing`));
  expect(last).toMatch(new RegExp(`^${fresh} .* 200 +\\d+ ms$`));
});

test('a command ends when its token is revoked', async () => {
  const token = await createTestToken(db, { name: 'laptop', role: 'viewer' });
  const listen = await startListening([], { TALLYHOOK_TOKEN: token });
  await revokeTestToken(db, 'laptop');
  const { code, stdout, stderr } = await listen.exit;
  expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
  expect(stderr).toContain('TALLYHOOK_TOKEN is not a valid token');
});

test('a number after the end of the inbox is refused', async () => {
  const to = ['--forward-to', laptop.url];
  const { code, stdout, stderr } = await start(['listen', ...to, '--after', '7']).exit;
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('The inbox ends at event 0, before 7');
});

test('tail names an unknown order also when its connection is lost meanwhile', async () => {
  const proxy = await startTcpProxy(db.url);
  cleanups.push(() => proxy.close());
  const isReading = async () => {
    const waiting = await db.query<object>(
      `select from pg_locks where relation = 'orders'::regclass and not granted`,
    );
    return waiting.length > 0;
  };
  const tail = await db.transaction(async (tx) => {
    await tx.query('lock table orders in access exclusive mode');
    const started = start(['tail', '--order', 'ord_unheard'], { DATABASE_URL: proxy.url });
    await waitFor('tail to read the order', isReading);
    proxy.refuse();
    await waitFor('the cut to be noted', () => noteCount(started, 'NOT CONNECTED') > 0);
    return started;
  });
  await proxy.resume();
  await waitFor('tail to be ready', () => tail.stderr().includes('Ready.'));
  expect(tail.stderr()).toContain('No order is known as ord_unheard yet.');
});

test('tail prints the last events of a filter, then each new one, and no bodies', async () => {
  const refund = () => refundEvent('pay_1', {});
  const [, , second = 0, third = 0] = await receiveEach(db, [
    refund(),
    paymentEvent({}),
    refund(),
    refund(),
  ]);
  const tail = start(['tail', '--type', 'refund_succeeded', '--last', '2', '--json']);
  await waitFor('tail to be ready', () => tail.stderr().includes('Ready.'));
  const [, fresh = 0] = await receiveEach(db, [paymentEvent({}), refund()]);
  const numbers = () => linesOf(tail.stdout()).map(({ number }) => number);
  await waitFor('the new event', () => numbers().length === 3);
  expect(numbers()).toEqual([second, third, fresh]);
  tail.kill('SIGINT');
  const { code, stdout } = await tail.exit;
  expect(code).toBe(0);
  expect(stdout).not.toContain('pay_1');
});
