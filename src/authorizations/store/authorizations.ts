/** Statements on authorizations: what is held, what is watched, and the reminders and attempts so far. */
import {
  firstHoldMicros,
  lastFailureAt,
  ORDERS_WITH_HOLDS,
} from '../../ledger/read/store/fragments.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { StoredAttempt } from '../domain/attempts.ts';

/** What the ledger and the watch have of one payment. Amounts in minor units. */
export interface AuthorizationRow {
  readonly paymentId: string;
  readonly orderKey: string | null;
  readonly status: string | null;
  readonly currency: string | null;
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
  readonly createdAt: Date | null;
  readonly firstSeenAt: Date;
  readonly captureMethod: string | null;
  /** The service's `capture_before`. */
  readonly captureBefore: Date | null;
  /** The time of the first event that reported the hold before anything was captured. */
  readonly authorizedMicros: number | null;
  readonly isWatched: boolean;
  /** The threshold of the latest reminder, and the deadline that it named. */
  readonly reminderHours: number | null;
  readonly reminderDeadlineAt: Date | null;
  /** The last attempt of a policy, also of one on an earlier hold. */
  readonly lastAttempt: StoredAttempt | null;
}

const COLUMNS = `
  r.id as "paymentId", r.order_key as "orderKey", r.status, r.currency,
  r.authorized_minor as "authorizedMinor", r.captured_minor as "capturedMinor",
  r.capture_method as "captureMethod",
  r.created_at as "createdAt", r.first_seen_at as "firstSeenAt", r.deadline_at as "captureBefore",
  ${firstHoldMicros('r.id')} as "authorizedMicros",
  w.payment_id is not null as "isWatched", w.reminder_hours as "reminderHours",
  w.reminder_deadline_at as "reminderDeadlineAt",
  (select jsonb_build_object(
            'number', n.attempt, 'numberOnHold', n.number_on_hold,
            'action', n.action, 'outcome', n.outcome,
            'atMs', (extract(epoch from n.recorded_at) * 1000)::bigint,
            'capturableMinor', coalesce(n.capturable_minor, 0))
     from (select l.attempt, l.action, l.outcome, l.recorded_at, l.capturable_minor,
                  count(*) filter (where l.recorded_at >= coalesce(${lastFailureAt('r.id')}, '-infinity'))
                    over () as number_on_hold
             from authorization_log l
            where l.payment_id = r.id and l.kind = 'policy') n
    order by n.attempt desc
    limit 1) as "lastAttempt"`;

const FROM_RESOURCES = `
  from resources r left join authorization_watch w on w.payment_id = r.id`;

/** One payment; undefined when the ledger does not know it. */
export async function readAuthorization(
  db: Queryable,
  paymentId: string,
): Promise<AuthorizationRow | undefined> {
  const rows = await db.query<AuthorizationRow>(
    `select ${COLUMNS} ${FROM_RESOURCES} where r.kind = 'payment' and r.id = $1`,
    [paymentId],
  );
  return rows[0];
}

/** The same, with the payment locked: nothing is captured or released before the transaction ends. */
export async function lockAuthorization(
  tx: Queryable,
  paymentId: string,
): Promise<AuthorizationRow | undefined> {
  // The lock comes first, in a statement of its own: what is read with it must not be older than the lock.
  await tx.query(`select id from resources where kind = 'payment' and id = $1 for no key update`, [
    paymentId,
  ]);
  return readAuthorization(tx, paymentId);
}

/**
 * Payments of orders with an open hold that are not watched yet, by an index on open holds; the
 * nearest deadline comes first, as far as it is known without the events.
 *
 * Each order is read by its key. Before the table is analyzed, as during an import, the planner expects
 * one payment with these statuses and would read all of them again for each order. `offset 0` keeps it
 * from choosing another join.
 */
export function readUnwatched(
  db: Queryable,
  request: { readonly statuses: readonly string[]; readonly limit: number },
): Promise<readonly AuthorizationRow[]> {
  return db.query<AuthorizationRow>(
    `with unwatched as (
       select r.kind, r.id
         from ${ORDERS_WITH_HOLDS} t
        cross join lateral (
          select kind, id, status, authorized_minor, captured_minor, deadline_at, created_at,
                 first_seen_at
            from resources where order_key = t.order_key
          offset 0
        ) r
        where r.kind = 'payment' and r.status = any ($1::text[])
          and r.authorized_minor > r.captured_minor
          and not exists (select from authorization_watch w where w.payment_id = r.id)
        order by least(r.deadline_at, coalesce(r.created_at, r.first_seen_at) + interval '7 days'), r.id
        limit $2
     )
     select ${COLUMNS}
       from unwatched join resources r using (kind, id)
       left join authorization_watch w on w.payment_id = r.id`,
    [request.statuses, request.limit],
  );
}

/** Begins to watch payments; those that are watched already stay as they are. */
export async function beginWatches(
  db: Queryable,
  watches: readonly Omit<WatchUpdate, 'reminder'>[],
): Promise<void> {
  await db.query(
    `insert into authorization_watch (payment_id, start_at, deadline_at, next_check_at)
     select * from unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[])
     on conflict do nothing`,
    [
      watches.map(({ paymentId }) => paymentId),
      watches.map(({ startAt }) => startAt.toISOString()),
      watches.map(({ deadlineAt }) => deadlineAt.toISOString()),
      watches.map(({ nextCheckAt }) => nextCheckAt.toISOString()),
    ],
  );
}

/**
 * Watched payments that are due, the nearest deadline first. Those past their deadline come last: they
 * had their last reminder and are checked once a day.
 */
export async function readDue(
  db: Queryable,
  request: { readonly now: Date; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await db.query<{ id: string }>(
    `select payment_id as id from authorization_watch
      where next_check_at <= $1
      order by coalesce(reminder_hours = 0, false), deadline_at, payment_id
      limit $2`,
    [request.now.toISOString(), request.limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Payments that had a reminder of which another amount can be captured now, or nothing. The finding has the amount of
 * the reminder.
 */
export async function readChanged(
  db: Queryable,
  request: {
    readonly statuses: readonly string[];
    /** Those up to this id are left out. */
    readonly after: string;
    readonly limit: number;
  },
): Promise<readonly string[]> {
  const rows = await db.query<{ id: string }>(
    `select w.payment_id as id
       from authorization_watch w
       join resources r on r.kind = 'payment' and r.id = w.payment_id
       left join findings f on f.class = 'authorization_expiring' and f.state = 'open'
                           and f.subject = 'payment:' || w.payment_id
      where w.payment_id > $2 and w.reminder_hours is not null
        and (not (coalesce(r.status = any ($1::text[]), false) and r.authorized_minor > r.captured_minor)
             or (f.detail->>'amount_capturable')::bigint <> r.authorized_minor - r.captured_minor)
      order by w.payment_id
      limit $3`,
    [request.statuses, request.after, request.limit],
  );
  return rows.map(({ id }) => id);
}

export interface WatchUpdate {
  readonly paymentId: string;
  readonly startAt: Date;
  readonly deadlineAt: Date;
  readonly reminder: { readonly hours: number; readonly deadlineAt: Date } | undefined;
  readonly nextCheckAt: Date;
}

/** Begins or updates the watch of a payment. */
export async function saveWatch(tx: Queryable, update: WatchUpdate): Promise<void> {
  await tx.query(
    `insert into authorization_watch as w
       (payment_id, start_at, deadline_at, reminder_hours, reminder_deadline_at, next_check_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (payment_id) do update
        set start_at = excluded.start_at, deadline_at = excluded.deadline_at,
            reminder_hours = excluded.reminder_hours,
            reminder_deadline_at = excluded.reminder_deadline_at,
            next_check_at = excluded.next_check_at`,
    [
      update.paymentId,
      update.startAt.toISOString(),
      update.deadlineAt.toISOString(),
      update.reminder?.hours ?? null,
      update.reminder?.deadlineAt.toISOString() ?? null,
      update.nextCheckAt.toISOString(),
    ],
  );
}

/**
 * Postpones the check of a payment that is due. One that another process is recording now, or has checked
 * meanwhile, stays as it is.
 */
export async function postponeDue(
  db: Queryable,
  {
    paymentId,
    now,
    nextCheckAt,
  }: { readonly paymentId: string; readonly now: Date; readonly nextCheckAt: Date },
): Promise<void> {
  await db.query(
    `with due as (
       select payment_id from authorization_watch
        where payment_id = $1 and next_check_at <= $2
          for update skip locked
     )
     update authorization_watch w set next_check_at = $3 from due where w.payment_id = due.payment_id`,
    [paymentId, now.toISOString(), nextCheckAt.toISOString()],
  );
}

/** Ends the watch. Its reminders and attempts stay in the log. */
export async function endWatch(tx: Queryable, paymentId: string): Promise<void> {
  await tx.query('delete from authorization_watch where payment_id = $1', [paymentId]);
}

export interface ReminderRow {
  readonly paymentId: string;
  readonly deadlineAt: Date;
  /** 0 is the deadline itself. */
  readonly thresholdHours: number;
  readonly currency: string | null;
  readonly capturableMinor: number;
}

/** Records the reminder of a threshold; a second one for the same deadline changes nothing. */
export async function insertReminder(tx: Queryable, reminder: ReminderRow): Promise<void> {
  await tx.query(
    `insert into authorization_log
       (payment_id, deadline_at, kind, threshold_hours, currency, capturable_minor)
     values ($1, $2, 'threshold', $3, $4, $5)
     on conflict do nothing`,
    reminderValues(reminder),
  );
}

/**
 * Claims an attempt of the policy on a payment: only the process that claimed it may make it.
 * @returns its id; undefined when another process has claimed the same attempt
 */
export async function claimAttempt(
  db: Queryable,
  claim: ReminderRow & { readonly action: string; readonly attempt: number; readonly at: Date },
): Promise<number | undefined> {
  const rows = await db.query<{ id: number }>(
    `insert into authorization_log
       (payment_id, deadline_at, kind, threshold_hours, currency, capturable_minor, action, attempt,
        recorded_at)
     values ($1, $2, 'policy', $3, $4, $5, $6, $7, $8)
     on conflict do nothing
     returning id`,
    [...reminderValues(claim), claim.action, claim.attempt, claim.at.toISOString()],
  );
  return rows[0]?.id;
}

/** Records the outcome of an attempt. */
export async function saveOutcome(db: Queryable, id: number, outcome: string): Promise<void> {
  await db.query('update authorization_log set outcome = $2 where id = $1', [id, outcome]);
}

function reminderValues(reminder: ReminderRow): readonly unknown[] {
  return [
    reminder.paymentId,
    reminder.deadlineAt.toISOString(),
    reminder.thresholdHours,
    reminder.currency,
    reminder.capturableMinor,
  ];
}
