/** Models of the statements on the outbox, messages and the health of channels. */
import {
  claimDispatch,
  claimOutbox,
  setNextDispatch,
} from '../../../../src/alerts/store/outbox.ts';
import {
  deleteHealth,
  deleteHealthOf,
  leaseProbe,
  lockHealth,
  readUntriedChannels,
  saveHealth,
} from '../../../../src/notify/store/channelHealth.ts';
import {
  claimMessages,
  countSingles,
  endWrongWaits,
  giveUpAbandoned,
  insertMessages,
  postponeMessage,
  readDueChannels,
  settleMessages,
} from '../../../../src/notify/store/messages.ts';
import { modeled } from '../statements.ts';
import type { HealthRow, Json, MessageRow } from '../tables.ts';
import { byNumber, json, requiredMs, texts, toDate, toMs } from './values.ts';

const EPOCH = new Date(0);
const CHANNEL = 'webhook';
const CLAIM = { channel: CHANNEL, now: EPOCH, leaseUntil: EPOCH, limit: 1 } as const;
const DISPATCH = { now: EPOCH, latest: EPOCH };
const LATER = { until: EPOCH, error: '' };
const ABANDONED = { channels: [], before: EPOCH, now: EPOCH, limit: 1 };
const WAITS = { channels: [], now: EPOCH, latestPast: EPOCH, latestLease: EPOCH, limit: 1 };
const PROBE = { now: EPOCH, leaseUntil: EPOCH };
const UNTRIED = { others: [], since: EPOCH };
const HEALTH = { failingSinceMs: 0, lastError: '', outage: undefined };

const OUTBOX = [
  modeled(claimDispatch, [DISPATCH], 'c6fa5860', function* (x, t, [now, latest]) {
    const isDue = ({ next_dispatch_at: at }: { readonly next_dispatch_at: number }) =>
      at <= requiredMs(now) || at > requiredMs(latest);
    return yield* x.lock(t.dispatch_state, isDue, { isSkipping: true });
  }),
  modeled(setNextDispatch, [EPOCH], 'a9f9ba6c', function* (x, t, [at]) {
    yield* x.update(
      t.dispatch_state,
      () => true,
      () => ({ next_dispatch_at: requiredMs(at) }),
    );
    return [];
  }),
  modeled(claimOutbox, [1], 'bfa808de', function* (x, t, [limit]) {
    const oldest = x.rows(t.alert_outbox).sort(byNumber(({ id }) => id));
    const ids = new Set(oldest.slice(0, Number(limit)).map(({ id }) => id));
    const claimed = yield* x.remove(t.alert_outbox, ({ id }) => ids.has(id));
    return claimed.sort(byNumber(({ id }) => id)).flatMap(({ alert_id, type, created_at }) =>
      x
        .rows(t.alerts, ({ id }) => id === alert_id)
        .map((alert) => ({
          alertId: alert_id,
          type,
          writtenAt: new Date(created_at),
          rule: alert.rule,
          subject: alert.subject,
          severity: alert.severity,
          sentence: alert.sentence,
          nextStep: alert.next_step,
          orderId: alert.order_id,
          paymentId: alert.payment_id,
          deadlineAt: toDate(alert.deadline_at),
          openedAt: new Date(alert.opened_at),
          resolvedAt: toDate(alert.resolved_at),
          snoozedUntil: null,
          detail: alert.detail,
        })),
    );
  }),
];

const isMessage = (id: unknown) => (row: MessageRow) => row.id === id && row.state === 'due';
const MAX_LOGGED = 50;

function logWith(log: readonly Json[], attempt: unknown): readonly Json[] {
  if (attempt === null) return log;
  const kept = log.length < MAX_LOGGED ? log : log.slice(1);
  return [...kept, json(attempt)];
}

const MESSAGES = [
  modeled(insertMessages, [[], EPOCH], '87afe771', function* (x, t, values, input) {
    const now = requiredMs(values[5]);
    for (const row of input()) {
      const message: MessageRow = {
        id: String(row.id),
        number: x.nextSerial(t.messages),
        channel: String(row.channel),
        kind: String(row.kind),
        content: json(row.content),
        stream: row.stream as string | null,
        state: 'due',
        attempts: 0,
        next_attempt_at: now,
        created_at: now,
        settled_at: null,
        last_error: null,
        attempt_log: [],
      };
      yield* x.insert(t.messages, message, 'nothing');
    }
    return [];
  }),
  modeled(countSingles, [EPOCH], '649b4b5c', (x, t, [since]) => {
    const singles = new Map<string, number>();
    for (const { kind, created_at, channel } of x.rows(t.messages)) {
      if (kind !== 'alert' || created_at <= requiredMs(since)) continue;
      singles.set(channel, (singles.get(channel) ?? 0) + 1);
    }
    return [...singles].map(([channel, count]) => ({ channel, singles: count }));
  }),
  modeled(claimMessages, [CLAIM], '2faca797', function* (x, t, [channel, now, leaseUntil, limit]) {
    const due = x.rows(t.messages, ({ state }) => state === 'due');
    const isFirst = ({ stream, number }: MessageRow) =>
      stream === null || !due.some((one) => one.stream === stream && one.number < number);
    const locked = yield* x.lock(
      t.messages,
      (row) =>
        row.channel === channel &&
        row.state === 'due' &&
        row.next_attempt_at <= requiredMs(now) &&
        isFirst(row),
      {
        isSkipping: true,
        limit: Number(limit),
        orderBy: byNumber(
          (row) => row.next_attempt_at,
          (row) => row.number,
        ),
      },
    );
    const ids = new Set(locked.map(({ id }) => id));
    const claimed = yield* x.update(
      t.messages,
      ({ id }) => ids.has(id),
      (row) => ({ ...row, attempts: row.attempts + 1, next_attempt_at: requiredMs(leaseUntil) }),
    );
    return claimed.map(({ id, content, attempts, created_at }) => ({
      id,
      content,
      attempts,
      createdAt: new Date(created_at),
      resentAt: null,
    }));
  }),
  modeled(settleMessages, [[]], '6c26c954', function* (x, t, _values, input) {
    const ends = new Map(input().map((end) => [end.id, end]));
    const isEnded = ({ id, state, attempts }: MessageRow) => {
      const end = ends.get(id);
      const isOwned = end?.state === 'delivered' || end?.attempts === attempts;
      return state === 'due' && end !== undefined && isOwned;
    };
    yield* x.lock(t.messages, isEnded, { orderBy: byNumber(({ number }) => number) });
    const settled = yield* x.update(t.messages, isEnded, (row) => {
      const end = ends.get(row.id);
      return {
        ...row,
        state: end?.state as MessageRow['state'],
        settled_at: requiredMs(end?.at),
        last_error: (end?.error as string | null | undefined) ?? row.last_error,
        attempt_log: logWith(row.attempt_log, end?.attempt ?? null),
      };
    });
    return settled.map(({ id }) => ({ id }));
  }),
  modeled(
    postponeMessage,
    [{ id: '', attempts: 1 }, LATER],
    'bf2e70db',
    function* (x, t, [id, attempts, until, error, attempt]) {
      yield* x.update(
        t.messages,
        (row) => isMessage(id)(row) && row.attempts === attempts,
        (row) => ({
          ...row,
          next_attempt_at: requiredMs(until),
          last_error: String(error),
          attempt_log: logWith(row.attempt_log, attempt),
        }),
      );
      return [];
    },
  ),
  modeled(readDueChannels, [EPOCH], 'b607dbb6', (x, t, [now, channels]) => {
    const due = x.rows(
      t.messages,
      ({ state, next_attempt_at }) => state === 'due' && next_attempt_at <= requiredMs(now),
    );
    return texts(channels)
      .filter((channel) => due.some((row) => row.channel === channel))
      .map((channel) => ({ channel }));
  }),
  modeled(
    endWrongWaits,
    [WAITS],
    'bffcbda2',
    function* (x, t, [channels, now, latestPast, latestLease, limit]) {
      for (const channel of texts(channels)) {
        const isLate = (row: MessageRow) =>
          row.state === 'due' &&
          row.channel === channel &&
          row.next_attempt_at > requiredMs(latestPast) &&
          (row.attempts === 0 ||
            lastAttemptMs(row) > requiredMs(latestPast) ||
            (isUnlogged(row) && row.next_attempt_at > requiredMs(latestLease)));
        const locked = yield* x.lock(t.messages, isLate, {
          isSkipping: true,
          limit: Number(limit),
          orderBy: byNumber(
            (row) => row.next_attempt_at,
            (row) => row.number,
          ),
        });
        const ids = new Set(locked.map(({ id }) => id));
        yield* x.update(
          t.messages,
          ({ id }) => ids.has(id),
          (row) => ({ ...row, next_attempt_at: requiredMs(now) }),
        );
      }
      return [];
    },
  ),
  modeled(
    giveUpAbandoned,
    [ABANDONED],
    '5d45e78c',
    function* (x, t, [channels, before, now, limit]) {
      const isAbandoned = (row: MessageRow) =>
        row.state === 'due' &&
        texts(channels).includes(row.channel) &&
        row.created_at < requiredMs(before) &&
        row.next_attempt_at < requiredMs(now);
      const locked = yield* x.lock(t.messages, isAbandoned, {
        isSkipping: true,
        limit: Number(limit),
        orderBy: byNumber(({ number }) => number),
      });
      const ids = new Set(locked.map(({ id }) => id));
      yield* x.update(
        t.messages,
        ({ id }) => ids.has(id),
        (row) => ({
          ...row,
          state: 'failed' as const,
          settled_at: requiredMs(now),
          last_error: row.last_error ?? 'never tried',
        }),
      );
      return [];
    },
  ),
];

const isChannel = (channel: unknown) => (row: HealthRow) => row.channel === channel;

function lastAttemptMs({ attempt_log: log }: MessageRow): number {
  const at = log.at(-1)?.at;
  return typeof at === 'string' ? Date.parse(at) : -Infinity;
}

function isUnlogged({ attempt_log: log, attempts }: MessageRow): boolean {
  return Number(log.at(-1)?.attempt ?? 0) < attempts;
}

function healthOf({ failures, failing_since, retry_at, waiting_since, last_error }: HealthRow) {
  return {
    outageFailures: failures,
    failingSince: new Date(failing_since),
    retryAt: toDate(retry_at),
    waitingSince: new Date(waiting_since ?? failing_since),
    lastError: last_error,
  };
}

const HEALTHS = [
  modeled(lockHealth, [CHANNEL], 'e1101104', function* (x, t, [channel]) {
    const rows = yield* x.lock(t.channel_health, isChannel(channel));
    return rows.map(healthOf);
  }),
  modeled(leaseProbe, [CHANNEL, PROBE], '8c82a9a9', function* (x, t, [channel, until, now]) {
    yield* x.update(t.channel_health, isChannel(channel), (row) => ({
      ...row,
      retry_at: requiredMs(until),
      waiting_since: requiredMs(now),
    }));
    return [];
  }),
  modeled(saveHealth, [CHANNEL, HEALTH], '31019d69', function* (x, t, values) {
    const [channel, failures, since, retryAt, waitingSince, error] = values;
    const health: HealthRow = {
      channel: String(channel),
      failures: Number(failures),
      failing_since: requiredMs(since),
      retry_at: toMs(retryAt),
      waiting_since: toMs(waitingSince),
      last_error: String(error),
    };
    yield* x.insert(t.channel_health, health, () => health);
    return [];
  }),
  modeled(deleteHealth, [CHANNEL], '26c44eb3', function* (x, t, [channel]) {
    yield* x.remove(t.channel_health, isChannel(channel));
    return [];
  }),
  modeled(readUntriedChannels, [UNTRIED], '2ab0cd7b', (x, t, [channels, others, since]) => {
    const health = x.rows(t.channel_health);
    const names = new Set([...texts(channels), ...health.map(({ channel }) => channel)]);
    const tried = new Set([
      ...health
        .filter((row) => (row.waiting_since ?? row.failing_since) >= requiredMs(since))
        .map(({ channel }) => channel),
      ...x
        .rows(t.messages, (row) => row.state === 'due' && lastAttemptMs(row) >= requiredMs(since))
        .map(({ channel }) => channel),
    ]);
    return [...names]
      .filter((channel) => !texts(others).includes(channel) && !tried.has(channel))
      .map((channel) => ({ channel }));
  }),
  modeled(deleteHealthOf, [[]], 'ae50dac4', function* (x, t, [channels]) {
    const ended = new Set(texts(channels));
    const removed = yield* x.remove(t.channel_health, ({ channel }) => ended.has(channel));
    return removed.map(({ channel }) => ({ channel }));
  }),
];

export const NOTIFY = [...OUTBOX, ...MESSAGES, ...HEALTHS];
