/**
 * Finds money that has been in transit for too long. The scheduler runs it.
 *
 * 1. The stored beginning of a term selects resources. What is selected is derived again from its snapshots, under
 *    the lock, before anybody is alerted: a version that does not know the column may have written the row, during
 *    an upgrade or before it. So each resource is selected once.
 * 2. What is selected is retrieved first: what ended without a webhook, or while Tallyhook was stopped, is not overdue.
 *    Where that is not possible, the ledger decides.
 */

import type { Confirm } from '../alerts/confirm.ts';
import { overdueAlerts, type TermFacts } from '../alerts/domain/rules/overdue.ts';
import { syncAlerts } from '../alerts/syncAlerts.ts';
import type { Clock } from '../platform/clock.ts';
import { groupBy } from '../platform/collections.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import { DAY_MS, MINUTE_MS } from '../platform/time.ts';
import { placeInEpochs } from './domain/epochs.ts';
import type { Finding } from './domain/findings.ts';
import { foldSnapshots } from './domain/merge.ts';
import { namedOrderId } from './domain/orderKey.ts';
import { TERMS } from './domain/overdue.ts';
import { type ResourceRef, refKey } from './domain/snapshot.ts';
import { formatInstant } from './domain/time.ts';
import { openFindings } from './recordFindings.ts';
import {
  lockPastTerm,
  markOverdue,
  readPastTerm,
  type TermEnd,
  type TermRow,
} from './store/overdue.ts';
import { readEpochs, readSnapshots } from './store/snapshots.ts';

const ROWS_PER_TRANSACTION = 100;
/** The next run takes up what this one leaves. */
const RUN_MS = 5 * MINUTE_MS;

export function createOverdueCheck(parts: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined where no API key is set. */
  readonly confirm?: Confirm | undefined;
}): () => Promise<void> {
  const { db, clock, log, confirm } = parts;
  return async () => {
    const nowMs = clock.nowMs();
    const terms = termsAt(nowMs);
    let found = 0;
    for (let after: ResourceRef | undefined; clock.nowMs() < nowMs + RUN_MS; ) {
      const refs = await readPastTerm(db, { terms, after, limit: ROWS_PER_TRANSACTION });
      if (refs.length === 0 || (confirm && !(await confirm(refs)))) break;
      found += await db.transaction((tx) => checkSome(tx, { refs, terms, nowMs }));
      after = refs.at(-1);
    }
    if (found > 0) log.warn({ found }, 'ledger.overdue_found');
  };
}

function termsAt(nowMs: number): readonly TermEnd[] {
  return TERMS.map(({ kind, account, statuses, days }) => {
    return { kind, account, statuses, days, begunBefore: begunBefore(nowMs, days) };
  });
}

function begunBefore(nowMs: number, days: number): Date {
  return new Date(nowMs - days * DAY_MS);
}

interface Selected {
  readonly refs: readonly ResourceRef[];
  readonly terms: readonly TermEnd[];
  readonly nowMs: number;
}

/** @returns how many of the selected resources are overdue */
async function checkSome(tx: Queryable, { refs, terms, nowMs }: Selected): Promise<number> {
  const rows = await lockPastTerm(tx, { terms, refs });
  if (rows.length === 0) return 0;
  const judged = (await readBeginnings(tx, rows)).map(({ row, sinceMicros }) => {
    const isOverdue = sinceMicros < begunBefore(nowMs, row.days).getTime() * 1000;
    return { row, sinceMicros, isOverdue };
  });
  await markOverdue(
    tx,
    judged.map(({ row: { kind, id }, sinceMicros, isOverdue }) => {
      return { kind, id, since: formatInstant(sinceMicros), isOverdue };
    }),
  );
  const due = judged.filter(({ isOverdue }) => isOverdue);
  await openFindings(tx, due.map(findingOf));
  await syncAlerts(
    tx,
    due.flatMap((one) => overdueAlerts(factsOf(one), nowMs) ?? []),
  );
  return due.length;
}

interface Begun {
  readonly row: TermRow;
  /** Microseconds since 1970. */
  readonly sinceMicros: number;
}

/** When the terms of resources began. The caller holds their rows. */
async function readBeginnings(tx: Queryable, rows: readonly TermRow[]): Promise<readonly Begun[]> {
  const snapshots = groupBy(await readSnapshots(tx, rows), ({ ref }) => refKey(ref));
  const epochs = groupBy(await readEpochs(tx, rows), ({ ref }) => refKey(ref));
  return rows.map((row) => {
    const own = placeInEpochs(snapshots.get(refKey(row)) ?? [], epochs.get(refKey(row)) ?? []);
    const state = own.length > 0 ? foldSnapshots(own) : undefined;
    // A row that does not follow from its snapshots is for `verify` to report; its money is in transit all the same.
    return { row, sinceMicros: state?.termSinceMicros ?? row.createdAt.getTime() * 1000 };
  });
}

function findingOf({ row, sinceMicros }: Begun): Finding {
  const { account, days: termDays } = row;
  const since = new Date(Math.floor(sinceMicros / 1000));
  return { class: 'overdue', subject: refKey(row), detail: { account, termDays, since } };
}

function factsOf({ row, sinceMicros }: Begun): TermFacts {
  const isPayout = row.kind === 'payout';
  return {
    kind: row.kind,
    id: row.id,
    before: undefined,
    status: row.status,
    stage: row.stage ?? undefined,
    currency: row.currency ?? undefined,
    amountMinor: row.amountMinor ?? undefined,
    createdMs: row.createdAt.getTime(),
    termSinceMs: Math.floor(sinceMicros / 1000),
    isOverdue: true,
    orderId: isPayout ? (row.reference ?? undefined) : namedOrderId(row.orderKey),
    paymentId: row.kind === 'payment' ? row.id : (row.paymentId ?? undefined),
    // Money in transit has not failed, so there is no reason.
    reason: undefined,
    termDays: row.days,
  };
}
