/** Models of the statements on the inbox: intake, claims, attempts, the sweep, and bodies. */
import {
  findPacked,
  readErased,
  readKeptBodies,
  readOpenBodies,
  readRemovedDays,
} from '../../../../src/ledger/bodies/store/bodies.ts';
import {
  claimOne,
  claimOverdue,
  claimUntried,
  claimUntriedFrom,
  countAttempt,
  deferEnqueue,
  findOtherBodies,
  type Lanes,
  lockLanes,
  moveToDead,
  readAdditions,
  readDueBefore,
  readOtherBodies,
  readPending,
  removeFromDead,
  uncountAttempts,
} from '../../../../src/ledger/inbox/store/pending.ts';
import { limitLockWaits, restoreLockWaits } from '../../../../src/platform/db/lockWaits.ts';
import {
  commitAfterStored,
  insertEvents,
  insertVariants,
  readStoredEvents,
} from '../../../../src/receiver/store/inbox.ts';
import type { Execution } from '../rows.ts';
import { modeled } from '../statements.ts';
import type { EventRow, PendingRow, Tables } from '../tables.ts';
import { byNumber, byText, MINUTE_MS, numbers, requiredMs, texts } from './values.ts';

const NO_EVENT = {
  eventId: 'evt_1',
  merchantId: undefined,
  eventType: undefined,
  subject: undefined,
  body: Buffer.alloc(0),
  bodyHash: Buffer.alloc(32),
  secretFingerprint: 0,
};
const EPOCH = new Date(0);
const ONCE = { dueBefore: EPOCH, afterId: 0, limit: 1, enqueueAfterMs: 0 };

/** The columns of CLAIMED_EVENTS. */
function headers(x: Execution, t: Tables, ids: readonly number[]): readonly object[] {
  const claimed = new Set(ids);
  return x
    .rows(t.webhook_events, ({ id }) => claimed.has(id))
    .sort(byNumber(({ id }) => id))
    .map((row) => ({
      id: row.id,
      eventId: row.event_id,
      merchantId: row.merchant_id,
      bodyDay: row.body_day,
      receivedMicros: row.received_at * 1000,
      isRepeated: false,
    }));
}

const idOf = ({ webhook_event_id }: PendingRow): number => webhook_event_id;
const isPending = (ids: unknown) => {
  const wanted = new Set(numbers(ids));
  return (row: PendingRow) => wanted.has(row.webhook_event_id);
};

/** Fingerprints of the claims. */
const CLAIM_BY_IDS = { free: 'a24a2fd1', any: 'd9fd42ef' };
const CLAIM_FROM = { free: '15384bc6', any: 'c915d6c9' };
const LANE = (lane: number) => `tallyhook events ${lane}`;

interface ClaimOptions {
  readonly limit?: number;
  readonly lanes: Lanes;
}

/** Rows that another transaction holds are skipped, and with `free` also their lanes. */
function* claim(
  x: Execution,
  t: Tables,
  where: (row: PendingRow) => boolean,
  { limit = Number.POSITIVE_INFINITY, lanes }: ClaimOptions,
) {
  const free = x
    .rows(t.pending, where)
    .sort(byNumber(idOf))
    .filter(({ lane }) => lanes === 'any' || x.tryAdvisory(LANE(lane)))
    .slice(0, limit);
  const isFree = isPending(free.map(idOf));
  const locked = yield* x.lock(t.pending, (row) => isFree(row) && where(row), {
    isSkipping: true,
    orderBy: byNumber(idOf),
  });
  const ids = locked.map(idOf);
  yield* x.remove(t.pending, isPending(ids));
  return headers(x, t, ids);
}

/** Locks rows in the order of their numbers. @returns which they are */
function* lockInOrder(x: Execution, t: Tables, where: (row: PendingRow) => boolean) {
  const locked = yield* x.lock(t.pending, where, { orderBy: byNumber(idOf) });
  return isPending(locked.map(idOf));
}

export const INBOX = [
  modeled(insertEvents, [[NO_EVENT], EPOCH], 'f42e125c', function* (x, t, values, input) {
    const [bodies, hashes] = [values[0] as Buffer, values[1] as Buffer];
    const receivedAt = requiredMs(values[7]);
    const day = new Date(x.nowMs).toISOString().slice(0, 10);
    const rows = input().map((row, place) => ({
      ...row,
      hash: hashes.subarray(place * 32, place * 32 + 32).toString('hex'),
    })) as unknown as NewEventRow[];
    rows.sort(
      byText(
        ({ event_id }) => event_id ?? '\u{10ffff}',
        ({ hash }) => hash,
      ),
    );
    const inserted: EventRow[] = [];
    for (const { event_id, merchant_id, event_type, start, length, secret, lane, hash } of rows) {
      const row = yield* x.insert(
        t.webhook_events,
        {
          id: x.nextSerial(t.webhook_events),
          event_id,
          merchant_id,
          event_type,
          body_day: day,
          body_bytes: length,
          body_sha256: hash,
          received_at: receivedAt,
          secret_fingerprint: secret,
        },
        'nothing',
      );
      if (!row) continue;
      inserted.push(row);
      const body = bodies.subarray(start - 1, start - 1 + length);
      yield* x.insert(t.webhook_bodies, { webhook_event_id: row.id, day, body });
      yield* x.insert(t.pending, {
        webhook_event_id: row.id,
        attempts: 0,
        enqueue_at: x.nowMs + MINUTE_MS,
        lane,
      });
    }
    const timeline = 'model';
    if (inserted.length === 0) return [{ timeline, id: null, eventId: null, bodyHash: null }];
    return inserted.map(({ id, event_id, body_sha256 }) => ({
      timeline,
      id,
      eventId: event_id,
      bodyHash: Buffer.from(body_sha256, 'hex'),
    }));
  }),
  modeled(readStoredEvents, [[]], '2a06cb96', (x, t, [ids]) => {
    const wanted = new Set(texts(ids));
    return x
      .rows(t.webhook_events, (row) => row.event_id !== null && wanted.has(row.event_id))
      .map(({ id, event_id, body_sha256 }) => ({
        id,
        eventId: event_id,
        bodyHash: Buffer.from(body_sha256, 'hex'),
      }));
  }),
  modeled(commitAfterStored, [], 'bb70f713', () => [{}]),
  modeled(insertVariants, [[], EPOCH], 'bdec948d', function* (x, t, [joined, hashes], input) {
    const bytes = [joined, hashes] as readonly Buffer[];
    const rows = input().map((row, place) => {
      const start = Number(row.start) - 1;
      return {
        webhook_event_id: Number(row.webhook_event_id),
        lane: Number(row.lane),
        body: bytes[0]?.subarray(start, start + Number(row.length)) ?? Buffer.alloc(0),
        body_sha256: bytes[1]?.subarray(place * 32, place * 32 + 32).toString('hex') ?? '',
      };
    });
    const inserted: typeof rows = [];
    rows
      .sort(byText(({ body_sha256 }) => body_sha256))
      .sort(byNumber(({ webhook_event_id }) => webhook_event_id));
    for (const row of rows) {
      const { lane: _, ...variant } = row;
      if (yield* x.insert(t.event_variants, variant, 'nothing')) inserted.push(row);
    }
    const enqueue_at = x.nowMs + MINUTE_MS;
    const places = new Map(inserted.toReversed().map((row) => [row.webhook_event_id, row]));
    for (const { webhook_event_id, lane } of places.values()) {
      const row = { webhook_event_id, attempts: 0, lane, enqueue_at };
      yield* x.insert(t.pending, row, (existing) => existing);
    }
    return inserted.map(({ webhook_event_id, body_sha256 }) => ({
      webhookEventId: webhook_event_id,
      bodyHash: Buffer.from(body_sha256, 'hex'),
    }));
  }),
  ...(['free', 'any'] as const).flatMap((lanes) => [
    {
      ...modeled(claimUntried, [[], lanes], CLAIM_BY_IDS[lanes], (x, t, [ids]) => {
        const isWanted = isPending(ids);
        return claim(x, t, (row) => isWanted(row) && row.attempts === 0, { lanes });
      }),
      name: `claimUntried of ${lanes} lanes`,
    },
    {
      ...modeled(
        claimUntriedFrom,
        [{ fromId: 1, limit: 1, lanes }],
        CLAIM_FROM[lanes],
        (x, t, [fromId, limit]) => {
          const isUntried = (row: PendingRow) =>
            row.webhook_event_id >= Number(fromId) && row.attempts === 0;
          return claim(x, t, isUntried, { limit: Number(limit), lanes });
        },
      ),
      name: `claimUntriedFrom of ${lanes} lanes`,
    },
  ]),
  modeled(claimOne, [1], '39ca4ce7', function* (x, t, [id]) {
    const claimed = yield* x.remove(t.pending, isPending([id]));
    return headers(x, t, claimed.map(idOf));
  }),
  modeled(readAdditions, [[]], '36caea41', (x, t, [ids]) => {
    const reused = new Set(x.rows(t.event_variants).map((row) => row.webhook_event_id));
    return numbers(ids)
      .filter((id) => reused.has(id))
      .map((id) => ({ id, hasVariants: true, replayedMicros: null }));
  }),
  modeled(findOtherBodies, [[]], '95c9f45e', (x, t, [ids]) =>
    x
      .rows(t.event_variants)
      .filter((row) => numbers(ids).includes(row.webhook_event_id))
      .map((row) => ({
        id: row.webhook_event_id,
        sha256: row.body_sha256,
        bytes: row.body.length,
      })),
  ),
  modeled(readOtherBodies, [[]], '8d4535a5', (x, t, [ids, hashes]) =>
    numbers(ids).flatMap((id, place) =>
      x
        .rows(t.event_variants)
        .filter((row) => row.webhook_event_id === id && row.body_sha256 === texts(hashes)[place])
        .map((row) => ({ id, body: row.body })),
    ),
  ),
  modeled(countAttempt, [1, 1], '3a982ea1', function* (x, t, [id, afterMs]) {
    const counted = yield* x.update(t.pending, isPending([id]), (row) => ({
      ...row,
      attempts: row.attempts + 1,
      enqueue_at: x.nowMs + Number(afterMs),
    }));
    return counted.map(({ attempts }) => ({ attempts }));
  }),
  modeled(uncountAttempts, [[]], '9a167ec0', function* (x, t, [ids]) {
    const isWanted = isPending(ids);
    const isLocked = yield* lockInOrder(x, t, (row) => isWanted(row) && row.attempts > 0);
    yield* x.update(t.pending, isLocked, (row) => ({ ...row, attempts: row.attempts - 1 }));
    return [];
  }),
  modeled(deferEnqueue, [[], 1], 'c901e115', function* (x, t, [ids, afterMs]) {
    const isLocked = yield* lockInOrder(x, t, isPending(ids));
    const deferred = yield* x.update(t.pending, isLocked, (row) => ({
      ...row,
      enqueue_at: x.nowMs + Number(afterMs),
    }));
    return deferred.map((row) => ({ id: idOf(row) }));
  }),
  modeled(readDueBefore, [1], '2e304dc9', (x, _, [withinMs]) => [
    { dueBefore: new Date(x.nowMs + Number(withinMs)) },
  ]),
  modeled(claimOverdue, [ONCE], '8a17d91e', function* (x, t, [before, limit, afterMs, afterId]) {
    const locked = yield* x.lock(
      t.pending,
      (row) => row.enqueue_at < requiredMs(before) && row.webhook_event_id > Number(afterId),
      { isSkipping: true, orderBy: byNumber(idOf), limit: Number(limit) },
    );
    const claimed = yield* x.update(t.pending, isPending(locked.map(idOf)), (row) => ({
      ...row,
      enqueue_at: x.nowMs + Number(afterMs),
    }));
    return claimed.map((row) => ({ id: idOf(row) }));
  }),
  modeled(readPending, [[]], 'cfaa6972', (x, t, [ids]) =>
    x.rows(t.pending, isPending(ids)).map((row) => ({ id: idOf(row), isTried: row.attempts > 0 })),
  ),
  // Processes end here and never hang, so no wait is too long.
  modeled(limitLockWaits, [1], '115dc573', () => [{ before: '0' }]),
  modeled(restoreLockWaits, ['0'], '63384ec0', () => [{}]),
  modeled(lockLanes, [[]], 'd543d285', function* (x, t, [ids]) {
    const isWanted = isPending(ids);
    const untried = x.rows(t.pending, (row) => isWanted(row) && row.attempts === 0);
    const lanes = new Set(untried.map(({ lane }) => lane));
    for (const lane of [...lanes].sort((a, b) => a - b)) yield* x.lockAdvisory(LANE(lane));
    return [...lanes].map(() => ({ pg_advisory_xact_lock: '' }));
  }),
  modeled(moveToDead, [1, 1, ''], 'f54eeefe', function* (x, t, [id, attempts, error]) {
    const moved = yield* x.remove(t.pending, isPending([id]));
    for (const { webhook_event_id } of moved) {
      const dead = { webhook_event_id, attempts: Number(attempts), error: String(error) };
      yield* x.insert(t.dead_events, dead, () => dead);
    }
    return moved.map((row) => ({ id: idOf(row) }));
  }),
  modeled(removeFromDead, [[]], '18ffcb5f', function* (x, t, [ids]) {
    const wanted = new Set(numbers(ids));
    const removed = yield* x.remove(t.dead_events, (row) => wanted.has(row.webhook_event_id));
    return removed.map((row) => ({ id: row.webhook_event_id }));
  }),
  modeled(readOpenBodies, ['2026-01-01', []], '60ed3072', (x, t, [day, ids]) => {
    const wanted = new Set(numbers(ids));
    return x
      .rows(t.webhook_bodies, (row) => row.day === day && wanted.has(row.webhook_event_id))
      .map(({ webhook_event_id, body }) => ({ id: webhook_event_id, body }));
  }),
  // Bodies are packed, kept, removed and erased elsewhere: here they stay in their day.
  modeled(findPacked, ['2026-01-01', []], 'bb7b8bc2', () => []),
  modeled(readKeptBodies, [[]], '3ace0442', () => []),
  modeled(readRemovedDays, [[]], '45780f0f', () => []),
  modeled(readErased, [[]], '109c67e2', () => []),
];

interface NewEventRow {
  readonly event_id: string | null;
  readonly merchant_id: string | null;
  readonly event_type: string | null;
  readonly start: number;
  readonly length: number;
  readonly secret: number;
  readonly lane: number;
  readonly hash: string;
}
