/**
 * The classes of data that are removed after a number of days. Each module that owns a table has the
 * statements on it; this is the only list.
 *
 * Not in the list, because they are never removed: the journal and its snapshots, which prove the money;
 * the audit log; orders and resources; and tables that do not grow with time.
 */
import {
  deleteEndedSessions,
  measureEndedSessions,
  scanEndedSessions,
} from '../access/store/endedSessions.ts';
import { deleteResolved, measureResolved, scanResolved } from '../alerts/store/resolvedAlerts.ts';
import type { RetentionDays } from '../config/retentionSettings.ts';
import { removeBodyDays } from '../ledger/bodies/removeBodies.ts';
import { measureBodies, scanBodyDays } from '../ledger/bodies/store/removal.ts';
import {
  type DisputedEvents,
  measureEvents,
  readDisputedEvents,
  removeEvents,
  scanOldEvents,
} from '../ledger/inbox/store/oldEvents.ts';
import { measureChanges, removeChanges, scanOldChanges } from '../ledger/store/changes.ts';
import { deleteClosed, measureClosed, scanClosed } from '../ledger/store/findings.ts';
import { deleteSettled, measureSettled, scanSettled } from '../notify/store/messages.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { MeasuredRows, ScannedRow, ScanRequest } from '../platform/db/scannedRows.ts';
import { deleteEnded, measureEnded, scanEnded } from '../reconcile/store/endedRuns.ts';

export type ClassName = keyof RetentionDays;

export interface RetentionClass {
  readonly name: ClassName;
  /** The first one holds what is counted; the size is that of all. */
  readonly tables: readonly [string, ...string[]];
  /** What its keys number, where they are not rows. */
  readonly unit?: 'days';
  /** The most rows of one step, where they are large. */
  readonly mostRows?: number;
  readonly measure: (db: Queryable, before: Date) => Promise<MeasuredRows>;
  /** The next rows, and which of them are removable. */
  readonly scan: (db: Queryable, request: ScanRequest) => Promise<readonly ScannedRow[]>;
  /** Removes rows that are still removable. @returns how many */
  readonly remove: (tx: Queryable, keys: readonly number[], before: Date) => Promise<number>;
}

/** The classes for one run. */
export function retentionClasses(): readonly RetentionClass[] {
  return [
    {
      name: 'bodies',
      tables: ['webhook_bodies', 'packed_bodies', 'kept_bodies'],
      unit: 'days',
      mostRows: 1,
      measure: measureBodies,
      scan: scanBodyDays,
      remove: removeBodyDays,
    },
    eventsClass(),
    {
      name: 'messages',
      tables: ['messages'],
      measure: measureSettled,
      scan: scanSettled,
      remove: deleteSettled,
    },
    {
      name: 'changes',
      tables: ['changes'],
      measure: measureChanges,
      scan: scanOldChanges,
      remove: (tx, keys) => removeChanges(tx, Math.max(...keys)),
    },
    {
      name: 'alerts',
      tables: ['alerts'],
      measure: measureResolved,
      scan: scanResolved,
      remove: deleteResolved,
    },
    {
      name: 'findings',
      tables: ['findings'],
      measure: measureClosed,
      scan: scanClosed,
      remove: deleteClosed,
    },
    {
      name: 'runs',
      tables: ['reconcile_runs'],
      measure: measureEnded,
      scan: scanEnded,
      remove: deleteEnded,
    },
    {
      name: 'sessions',
      tables: ['console_sessions'],
      measure: measureEndedSessions,
      scan: scanEndedSessions,
      remove: deleteEndedSessions,
    },
  ];
}

/** Events of undecided disputes stay. They are read once for a run. */
function eventsClass(): RetentionClass {
  let disputed: Promise<DisputedEvents> | undefined;
  const readNeeded = (db: Queryable) => {
    disputed ??= readDisputedEvents(db);
    return disputed;
  };
  return {
    name: 'events',
    tables: ['webhook_events', 'event_variants', 'event_replays', 'replay_steps', 'removed_events'],
    measure: (db, before) => measureEvents(db, before, () => readNeeded(db)),
    scan: async (db, request) => scanOldEvents(db, request, await readNeeded(db)),
    remove: removeEvents,
  };
}
