/** Models of the statements on findings, alerts and the change feed. */
import {
  insertAlerts,
  insertOutbox,
  listWritten,
  lockUnresolved,
  resolveAlerts,
  updateAlerts,
} from '../../../../src/alerts/store/alerts.ts';
import {
  lockAwaitingExcesses,
  lockUnalerted,
  readPlaces,
} from '../../../../src/alerts/store/findings.ts';
import {
  readOpenSubjects,
  selectOpenFindings,
} from '../../../../src/ledger/read/store/openFindings.ts';
import {
  insertChanges,
  publishChanges,
  readChanges,
  readLastNumber,
  tryLockFeed,
} from '../../../../src/ledger/store/changes.ts';
import {
  lockAccepted,
  markClassesClosed,
  markClosed,
  markSubjectsClosed,
  upsertFindings,
} from '../../../../src/ledger/store/findings.ts';
import type { Execution } from '../rows.ts';
import { type Input, modeled } from '../statements.ts';
import type { AlertRow, AlertState, FindingRow, Tables } from '../tables.ts';
import { byNumber, byText, isSameJson, json, texts, toMs } from './values.ts';

type Named = Readonly<Record<string, unknown>>;

const keyOf = ({ class: name, subject }: Named) => JSON.stringify([name, subject]);
const namesIn = (input: Input) => new Set(input.map(keyOf));
const isOpen = (row: FindingRow) => row.state === 'open';
const nameOf = ({ class: name, subject }: FindingRow) => ({ class: name, subject });

function* close(x: Execution, t: Tables, where: (row: FindingRow) => boolean) {
  const closed = yield* x.update(
    t.findings,
    (row) => isOpen(row) && where(row),
    (row) => ({ ...row, state: 'closed' as const, closed_at: x.statementMs, updated_at: x.nowMs }),
  );
  return closed.map(nameOf);
}

const FINDINGS = [
  modeled(upsertFindings, [[]], 'debed253', function* (x, t, _, input) {
    const shown: object[] = [];
    for (const row of [...input()].sort(
      byText(
        (one) => String(one.class),
        (one) => String(one.subject),
      ),
    )) {
      const detail = json(row.detail);
      const finding: FindingRow = {
        id: x.nextSerial(t.findings),
        class: String(row.class),
        subject: String(row.subject),
        state: 'open',
        detail,
        opened_at: x.statementMs,
        updated_at: x.nowMs,
        closed_at: null,
        opened_by_event: row.event as number | null,
        closed_by_event: null,
      };
      const one = yield* x.insert(t.findings, finding, (before) =>
        isSameJson(before.detail, detail) ? undefined : { ...before, detail, updated_at: x.nowMs },
      );
      if (one) shown.push({ ...nameOf(one), detail, ageMs: x.statementMs - one.opened_at });
    }
    return shown;
  }),
  modeled(markClosed, [[]], 'e99574bd', function* (x, t, _, input) {
    const events = new Map(input().map((one) => [keyOf(one), one.event as number | null]));
    const closed = yield* x.update(
      t.findings,
      (row) => isOpen(row) && events.has(keyOf({ ...row })),
      (row) => ({
        ...row,
        state: 'closed' as const,
        closed_at: x.statementMs,
        updated_at: x.nowMs,
        closed_by_event: events.get(keyOf({ ...row })) ?? null,
      }),
    );
    return closed.map(nameOf);
  }),
  modeled(markClassesClosed, [[], []], 'c0a7e1ab', (x, t, [classes, subjects]) =>
    close(
      x,
      t,
      (row) => texts(classes).includes(row.class) && texts(subjects).includes(row.subject),
    ),
  ),
  modeled(markSubjectsClosed, [[]], '676ed7b2', (x, t, [subjects]) =>
    close(x, t, (row) => texts(subjects).includes(row.subject)),
  ),
  modeled(lockAccepted, ['overdue', []], 'e490b02f', function* (x, t, [name, subjects]) {
    const rows = yield* x.lock(
      t.findings,
      (row) => isOpen(row) && row.class === name && texts(subjects).includes(row.subject),
      { mode: 'share', orderBy: byText(({ subject }) => subject) },
    );
    return rows.map(({ subject }) => ({ subject, isAccepted: false }));
  }),
  modeled(selectOpenFindings, [[]], 'aee803f8', (x, t, _, input) => {
    const wanted = namesIn(input());
    return x.rows(t.findings, (row) => isOpen(row) && wanted.has(keyOf({ ...row }))).map(nameOf);
  }),
  modeled(readOpenSubjects, ['foreign_profile'], '923dc2a7', (x, t, [name]) =>
    x
      .rows(t.findings, (row) => isOpen(row) && row.class === name)
      .map(({ subject }) => ({ subject })),
  ),
];

const hasAlert = (x: Execution, t: Tables, finding: FindingRow) =>
  x.rows(
    t.alerts,
    (row) =>
      row.subject === finding.subject && row.rule === finding.class && row.state !== 'resolved',
  ).length > 0;

const unalerted = (x: Execution, finding: FindingRow) => ({
  ...nameOf(finding),
  detail: finding.detail,
  causedBy: finding.opened_by_event,
  ageMs: x.statementMs - finding.opened_at,
});

const stated = (row: Named): AlertState => ({
  rule: String(row.rule),
  subject: String(row.subject),
  variant: String(row.variant),
  severity: String(row.severity),
  sentence: String(row.sentence),
  next_step: String(row.next_step),
  detail: json(row.detail),
  order_id: row.order_id as string | null,
  payment_id: row.payment_id as string | null,
  deadline_at: toMs(row.deadline_at),
});

const alertOrder = byText<Named>(
  (row) => String(row.subject),
  (row) => String(row.rule),
  (row) => String(row.variant),
);
const AWAITING = { classes: [], settlingMs: 0, waitMs: 0, limit: 1 };

const ALERTS = [
  modeled(
    lockUnresolved,
    [[{ subject: '', rules: ['amount'] }]],
    '65ddda8e',
    function* (x, t, _, input) {
      const wanted = new Set(input().map(({ subject, rule }) => JSON.stringify([subject, rule])));
      const rows = yield* x.lock(
        t.alerts,
        (row) => row.state !== 'resolved' && wanted.has(JSON.stringify([row.subject, row.rule])),
        { orderBy: (a, b) => alertOrder({ ...a }, { ...b }) },
      );
      return rows.map(({ id, rule, subject, variant, severity }) => ({
        id,
        rule,
        subject,
        variant,
        severity,
        isAcknowledged: false,
        isSnoozed: false,
      }));
    },
  ),
  modeled(listWritten, [[]], '72bacefe', (x, t, _, input) => {
    const wanted = input();
    const isWanted = (row: AlertRow) =>
      wanted.some(
        (one) =>
          one.subject === row.subject && one.rule === row.rule && one.variant === row.variant,
      );
    const keys = x
      .rows(t.alerts, isWanted)
      .map(({ rule, subject, variant }) => ({ rule, subject, variant }));
    return [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()];
  }),
  modeled(insertAlerts, [[], 'open'], 'd72507fc', function* (x, t, [state], input) {
    const inserted: object[] = [];
    for (const row of [...input()].sort(alertOrder)) {
      const alert: AlertRow = {
        ...stated(row),
        id: x.nextSerial(t.alerts),
        state: state as AlertRow['state'],
        opened_at: x.statementMs,
        resolved_at: state === 'resolved' ? x.statementMs : null,
        opened_by_event: row.event as number | null,
        resolved_by_event: null,
      };
      const one = yield* x.insert(t.alerts, alert, 'nothing');
      if (one) inserted.push({ id: one.id });
    }
    return inserted;
  }),
  modeled(updateAlerts, [[]], '7f16db3d', function* (x, t, _, input) {
    for (const row of input()) {
      const { rule: _rule, subject: _subject, variant: _variant, ...fields } = stated(row);
      const isChanged = (before: AlertRow) => !isSameJson({ ...before, ...fields }, before);
      yield* x.update(
        t.alerts,
        (before) => before.id === row.id && isChanged(before),
        (before) => ({ ...before, ...fields }),
      );
    }
    return [];
  }),
  modeled(resolveAlerts, [[]], '4bc08385', function* (x, t, _, input) {
    for (const { id, event } of input()) {
      yield* x.update(
        t.alerts,
        (row) => row.id === id,
        (row) => ({
          ...row,
          state: 'resolved' as const,
          resolved_at: x.statementMs,
          resolved_by_event: event as number | null,
        }),
      );
    }
    return [];
  }),
  modeled(insertOutbox, [[]], 'e8127913', function* (x, t, _, input) {
    for (const { alert_id, type } of input()) {
      const id = x.nextSerial(t.alert_outbox);
      yield* x.insert(t.alert_outbox, {
        id,
        alert_id: Number(alert_id),
        type: String(type),
        created_at: x.statementMs,
      });
    }
    return [];
  }),
  modeled(lockUnalerted, [[], 1], '9e9d60fb', function* (x, t, [, , limit], input) {
    const graces = new Map(input().map((one) => [String(one.class), Number(one.grace_ms)]));
    const isUnalerted = (row: FindingRow) =>
      isOpen(row) &&
      row.opened_at <= x.statementMs - (graces.get(row.class) ?? Number.POSITIVE_INFINITY) &&
      !hasAlert(x, t, row);
    const rows = yield* x.lock(t.findings, isUnalerted, {
      isSkipping: true,
      limit: Number(limit),
      orderBy: byNumber(({ id }) => id),
    });
    return rows.map((row) => unalerted(x, row));
  }),
  modeled(
    lockAwaitingExcesses,
    [AWAITING],
    '456a470e',
    function* (x, t, [classes, settlingMs, waitMs, limit]) {
      const isConfirmed = (row: FindingRow) => {
        const key = row.subject.slice('order:'.length);
        const parts = x.rows(t.resources, ({ order_key }) => order_key === key);
        const fromMs = row.updated_at + Number(settlingMs);
        return parts.length > 0 && parts.every((part) => (part.retrieved_at ?? -1) >= fromMs);
      };
      const isAwaiting = (row: FindingRow) =>
        isOpen(row) &&
        texts(classes).includes(row.class) &&
        (isConfirmed(row) || row.updated_at <= x.statementMs - Number(waitMs)) &&
        !hasAlert(x, t, row);
      const rows = yield* x.lock(t.findings, isAwaiting, {
        isSkipping: true,
        limit: Number(limit),
        orderBy: byNumber(({ id }) => id),
      });
      return rows.map((row) => ({ ...unalerted(x, row), isConfirmed: isConfirmed(row) }));
    },
  ),
  modeled(readPlaces, [[]], '8a806323', (x, t, _, input) => {
    const keys = new Set(input().map(({ kind, id }) => `${kind} ${id}`));
    return x
      .rows(t.resources, ({ kind, id }) => keys.has(`${kind} ${id}`))
      .map((row) => ({
        kind: row.kind,
        id: row.id,
        paymentId: row.payment_id,
        orderKey: row.order_key,
        status: row.status,
        currency: row.currency,
        amountMinor: row.amount_minor,
      }));
  }),
];

const FEED = [
  modeled(insertChanges, [[]], '1a6fbbef', function* (x, t, _, input) {
    for (const row of input()) {
      yield* x.insert(t.change_log, {
        id: x.nextSerial(t.change_log),
        kind: String(row.kind),
        subject: String(row.subject),
        change: String(row.change),
        status: row.status as string | null,
        previous_status: row.previous as string | null,
        webhook_event_id: row.event as number | null,
        changed_at: x.nowMs,
        is_history: Boolean(row.history),
      });
    }
    return [];
  }),
  modeled(tryLockFeed, [], 'acff05c1', (x, _, [name]) => [{ locked: x.tryAdvisory(String(name)) }]),
  modeled(publishChanges, [1], '1b12a183', function* (x, t, [limit]) {
    const next = x
      .rows(t.change_log)
      .sort(byNumber(({ id }) => id))
      .slice(0, Number(limit));
    const last = Math.max(0, ...x.rows(t.changes).map(({ number }) => number));
    const ids = new Set(next.map(({ id }) => id));
    const taken = yield* x.remove(t.change_log, ({ id }) => ids.has(id));
    taken.sort(byNumber(({ id }) => id));
    for (const [place, { id: _, subject, ...change }] of taken.entries()) {
      const isOrder = change.kind === 'order';
      yield* x.insert(t.changes, {
        ...change,
        number: last + 1 + place,
        order_key: isOrder ? subject : null,
        id: isOrder ? subject.slice(subject.indexOf(':') + 1) : subject,
      });
    }
    return [{ published: taken.length }];
  }),
  modeled(readChanges, [{ after: 0, limit: 1 }], 'cb619749', (x, t, [after, limit]) => {
    const rows = x
      .rows(t.changes, ({ number }) => number > Number(after))
      .sort(byNumber(({ number }) => number))
      .slice(0, Number(limit));
    // One row without a change if there is none, as a left join.
    if (rows.length === 0) return [{ laterEpochs: [], number: null }];
    return rows.map((row) => ({
      laterEpochs: [],
      number: row.number,
      kind: row.kind,
      id: row.id,
      orderKey: row.order_key,
      change: row.change,
      status: row.status,
      previousStatus: row.previous_status,
      webhookEventId: row.webhook_event_id,
      changedAt: new Date(row.changed_at),
      isHistory: row.is_history,
    }));
  }),
  modeled(readLastNumber, [], '0d868765', (x, t) => [
    { last: Math.max(0, ...x.rows(t.changes).map(({ number }) => number)) },
  ]),
];

export const FINDINGS_AND_ALERTS = [...FINDINGS, ...ALERTS, ...FEED];
