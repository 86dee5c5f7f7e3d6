/** Models of the statements on authorizations. */
import {
  beginWatches,
  claimAttempt,
  endWatch,
  insertReminder,
  lockAuthorization,
  postponeDue,
  readAuthorization,
  readChanged,
  readDue,
  readUnwatched,
  saveOutcome,
  saveWatch,
} from '../../../../src/authorizations/store/authorizations.ts';
import type { Execution } from '../rows.ts';
import { modeled } from '../statements.ts';
import type { AttemptRow, ResourceRow, Tables, WatchRow } from '../tables.ts';
import { byNumber, byText, requiredMs, texts, toDate, toMs } from './values.ts';

const EPOCH = new Date(0);
const REMINDER = {
  paymentId: '',
  deadlineAt: EPOCH,
  thresholdHours: 0,
  currency: null,
  capturableMinor: 0,
};
const CLAIM = { ...REMINDER, action: 'capture', attempt: 1, at: EPOCH };
const WATCH = {
  paymentId: '',
  startAt: EPOCH,
  deadlineAt: EPOCH,
  reminder: undefined,
  nextCheckAt: EPOCH,
};
const POSTPONED = { paymentId: '', now: EPOCH, nextCheckAt: EPOCH };
const HOLD_STATUSES = ['requires_capture', 'partially_authorized_and_requires_capture'];

const isWatch = (id: unknown) => (row: WatchRow) => row.payment_id === id;
const isPayment = (id: unknown) => (row: ResourceRow) => row.kind === 'payment' && row.id === id;
const isHeld = (row: ResourceRow, statuses: unknown) =>
  row.status !== null &&
  texts(statuses).includes(row.status) &&
  row.authorized_minor > row.captured_minor;

/** Whether the open finding about a hold has another amount than what can be captured. */
function isOtherThanFound(x: Execution, t: Tables, row: ResourceRow): boolean {
  const found = x.rows(
    t.findings,
    ({ class: name, subject, state }) =>
      name === 'authorization_expiring' && state === 'open' && subject === `payment:${row.id}`,
  );
  return found.some(
    ({ detail }) => detail.amount_capturable !== row.authorized_minor - row.captured_minor,
  );
}

function firstHoldMicros(x: Execution, t: Tables, id: string): number | null {
  const own = x.rows(t.snapshots, (row) => row.kind === 'payment' && row.resource_id === id);
  const failedMicros = own
    .filter(({ content }) => content.status === 'failed')
    .map(({ content, observed_micros }) => Number(content.versionMicros ?? observed_micros));
  const endedMicros = failedMicros.length === 0 ? null : Math.max(...failedMicros);
  const heldMicros = own
    .filter(
      ({ source, content: { status } }) =>
        source === 'webhook' && HOLD_STATUSES.includes(String(status)),
    )
    .map((row) => row.observed_micros)
    .filter((micros) => micros > (endedMicros ?? -1));
  return heldMicros.length === 0 ? endedMicros : Math.min(...heldMicros);
}

function lastFailureMs(x: Execution, t: Tables, id: string): number {
  const failed = x.rows(
    t.snapshots,
    ({ kind, resource_id, content }) =>
      kind === 'payment' && resource_id === id && content.status === 'failed',
  );
  const micros = failed.flatMap(({ content }) => content.versionMicros ?? []);
  return Math.max(Number.NEGATIVE_INFINITY, ...micros.map(Number)) / 1000;
}

function authorizationOf(x: Execution, t: Tables, row: ResourceRow) {
  const [watch] = x.rows(t.authorization_watch, isWatch(row.id));
  const attempts = x
    .rows(t.authorization_log, (one) => one.payment_id === row.id && one.kind === 'policy')
    .sort(byNumber(({ attempt }) => -(attempt ?? 0)));
  const [last] = attempts;
  const failedMs = lastFailureMs(x, t, row.id);
  return {
    paymentId: row.id,
    orderKey: row.order_key,
    status: row.status,
    currency: row.currency,
    authorizedMinor: row.authorized_minor,
    capturedMinor: row.captured_minor,
    captureMethod: row.capture_method,
    createdAt: toDate(row.created_at),
    firstSeenAt: new Date(row.first_seen_at),
    captureBefore: toDate(row.deadline_at),
    isWatched: watch !== undefined,
    authorizedMicros: firstHoldMicros(x, t, row.id),
    reminderHours: watch?.reminder_hours ?? null,
    reminderDeadlineAt: toDate(watch?.reminder_deadline_at ?? null),
    lastAttempt: last
      ? {
          number: last.attempt,
          numberOnHold: attempts.filter(({ recorded_at }) => recorded_at >= failedMs).length,
          action: last.action,
          outcome: last.outcome,
          atMs: last.recorded_at,
          capturableMinor: last.capturable_minor ?? 0,
        }
      : null,
  };
}

/** What a reminder and an attempt have in common. */
function logged(values: readonly unknown[]) {
  const [id, deadlineAt, hours, currency, capturable] = values;
  return {
    payment_id: String(id),
    deadline_at: requiredMs(deadlineAt),
    threshold_hours: Number(hours),
    currency: currency as string | null,
    capturable_minor: Number(capturable),
    outcome: null,
  };
}

const READS = [
  modeled(readAuthorization, [''], '9aa618a9', (x, t, [id]) =>
    x.rows(t.resources, isPayment(id)).map((row) => authorizationOf(x, t, row)),
  ),
  modeled(lockAuthorization, [''], '8627d423', function* (x, t, [id]) {
    const rows = yield* x.lock(t.resources, isPayment(id));
    return rows.map((row) => ({ id: row.id }));
  }),
  modeled(readUnwatched, [{ statuses: [], limit: 1 }], '86aa471e', (x, t, [statuses, limit]) => {
    const held = x.rows(t.order_totals, (row) => row.authorized_minor > 0);
    const keys = new Set<string | null>(held.map(({ order_key }) => order_key));
    const dueMs = (row: ResourceRow) =>
      Math.min(
        row.deadline_at ?? Number.POSITIVE_INFINITY,
        (row.created_at ?? row.first_seen_at) + 7 * 24 * 3_600_000,
      );
    return x
      .rows(
        t.resources,
        (row) =>
          row.kind === 'payment' &&
          keys.has(row.order_key) &&
          isHeld(row, statuses) &&
          x.rows(t.authorization_watch, isWatch(row.id)).length === 0,
      )
      .sort((a, b) => dueMs(a) - dueMs(b) || byText<ResourceRow>(({ id }) => id)(a, b))
      .slice(0, Number(limit))
      .map((row) => authorizationOf(x, t, row));
  }),
  modeled(readDue, [{ now: EPOCH, limit: 1 }], '363614f0', (x, t, [now, limit]) =>
    x
      .rows(t.authorization_watch, (row) => row.next_check_at <= requiredMs(now))
      .sort(
        byNumber(
          (row) => Number(row.reminder_hours === 0),
          (row) => row.deadline_at,
        ),
      )
      .slice(0, Number(limit))
      .map((row) => ({ id: row.payment_id })),
  ),
  modeled(
    readChanged,
    [{ statuses: [], after: '', limit: 1 }],
    'dcd2167d',
    (x, t, [statuses, after, limit]) =>
      x
        .rows(
          t.authorization_watch,
          (row) =>
            row.payment_id > String(after) &&
            row.reminder_hours !== null &&
            x
              .rows(t.resources, isPayment(row.payment_id))
              .some((one) => !isHeld(one, statuses) || isOtherThanFound(x, t, one)),
        )
        .sort(byText((row) => row.payment_id))
        .slice(0, Number(limit))
        .map((row) => ({ id: row.payment_id })),
  ),
];

const WRITES = [
  modeled(beginWatches, [[]], 'ba7edba9', function* (x, t, [ids, starts, deadlines, checks]) {
    for (const [place, id] of texts(ids).entries()) {
      const watch: WatchRow = {
        payment_id: id,
        start_at: requiredMs(texts(starts)[place]),
        deadline_at: requiredMs(texts(deadlines)[place]),
        reminder_hours: null,
        reminder_deadline_at: null,
        next_check_at: requiredMs(texts(checks)[place]),
      };
      yield* x.insert(t.authorization_watch, watch, 'nothing');
    }
    return [];
  }),
  modeled(saveWatch, [WATCH], '9cfbb254', function* (x, t, [id, start, deadline, hours, ...rest]) {
    const watch: WatchRow = {
      payment_id: String(id),
      start_at: requiredMs(start),
      deadline_at: requiredMs(deadline),
      reminder_hours: hours as number | null,
      reminder_deadline_at: toMs(rest[0]),
      next_check_at: requiredMs(rest[1]),
    };
    yield* x.insert(t.authorization_watch, watch, () => watch);
    return [];
  }),
  modeled(postponeDue, [POSTPONED], '0eb19d7d', function* (x, t, [id, now, next]) {
    const isDue = (row: WatchRow) => isWatch(id)(row) && row.next_check_at <= requiredMs(now);
    const due = yield* x.lock(t.authorization_watch, isDue, { isSkipping: true });
    yield* x.update(
      t.authorization_watch,
      (row) => due.length > 0 && isWatch(id)(row),
      (row) => ({ ...row, next_check_at: requiredMs(next) }),
    );
    return [];
  }),
  modeled(endWatch, [''], 'c4a60555', function* (x, t, [id]) {
    yield* x.remove(t.authorization_watch, isWatch(id));
    return [];
  }),
  modeled(insertReminder, [REMINDER], 'e345c83f', function* (x, t, values) {
    const reminder: AttemptRow = {
      ...logged(values),
      id: x.nextSerial(t.authorization_log),
      kind: 'threshold',
      action: null,
      attempt: 1,
      recorded_at: x.statementMs,
    };
    yield* x.insert(t.authorization_log, reminder, 'nothing');
    return [];
  }),
  modeled(claimAttempt, [CLAIM], 'd5044efa', function* (x, t, values) {
    const attempt: AttemptRow = {
      ...logged(values),
      id: x.nextSerial(t.authorization_log),
      kind: 'policy',
      action: String(values[5]),
      attempt: Number(values[6]),
      recorded_at: requiredMs(values[7]),
    };
    const claimed = yield* x.insert(t.authorization_log, attempt, 'nothing');
    return claimed ? [{ id: claimed.id }] : [];
  }),
  modeled(saveOutcome, [1, ''], '47681f93', function* (x, t, [id, outcome]) {
    yield* x.update(
      t.authorization_log,
      (row) => row.id === id,
      (row) => ({ ...row, outcome: String(outcome) }),
    );
    return [];
  }),
];

export const AUTHORIZATIONS = [...READS, ...WRITES];
