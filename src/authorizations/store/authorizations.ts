/** Statements on authorizations: what is held, what is watched, and what was said. */
import type { Queryable } from '../../platform/db/database.ts';
import type { StoredAttempt } from '../domain/attempts.ts';

/** What the ledger and the watch hold of one payment. Amounts in minor units. */
export interface AuthorizationRow {
  readonly paymentId: string;
  readonly orderKey: string | null;
  readonly status: string | null;
  readonly currency: string | null;
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
  readonly createdAt: Date | null;
  readonly firstSeenAt: Date;
  /** The service's `capture_before`. */
  readonly captureBefore: Date | null;
  /** The time of the first event that told of the hold before anything was captured of it. */
  readonly authorizedMicros: number | null;
  readonly isWatched: boolean;
  readonly saidHours: number | null;
  readonly saidDeadlineAt: Date | null;
  /** The last attempt of a policy. */
  readonly lastAttempt: StoredAttempt | null;
}

const COLUMNS = `
  r.id as "paymentId", r.order_key as "orderKey", r.status, r.currency,
  r.authorized_minor as "authorizedMinor", r.captured_minor as "capturedMinor",
  r.created_at as "createdAt", r.first_seen_at as "firstSeenAt", r.deadline_at as "captureBefore",
  (select min(s.observed_micros)
     from snapshots s
    where s.kind = 'payment' and s.resource_id = r.id and s.source = 'webhook'
      and s.content ->> 'status' in ('requires_capture', 'partially_authorized_and_requires_capture')
  ) as "authorizedMicros",
  w.payment_id is not null as "isWatched", w.said_hours as "saidHours",
  w.said_deadline_at as "saidDeadlineAt",
  (select jsonb_build_object(
            'number', n.attempt, 'action', n.action, 'outcome', n.outcome,
            'atMs', (extract(epoch from n.said_at) * 1000)::bigint,
            'capturableMinor', coalesce(n.capturable_minor, 0))
     from authorization_notices n
    where n.payment_id = r.id and n.kind = 'policy'
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
  // The lock first, in a statement of its own: what is read beside it must not be older than the lock.
  await tx.query(`select id from resources where kind = 'payment' and id = $1 for no key update`, [
    paymentId,
  ]);
  return readAuthorization(tx, paymentId);
}

/**
 * Payments whose order has an open hold and that are not watched yet, by an index on open holds; those
 * whose deadline is nearest come first, as near as it can be told without their events.
 *
 * Each order is looked up by its key: where nothing is analyzed yet, as in an import, the planner takes
 * payments of these statuses for one row, and would read all of them anew for each order. `offset 0`
 * keeps it from joining otherwise.
 */
export function readUnwatched(
  db: Queryable,
  request: { readonly statuses: readonly string[]; readonly limit: number },
): Promise<readonly AuthorizationRow[]> {
  return db.query<AuthorizationRow>(
    `with unwatched as (
       select r.kind, r.id
         from (select distinct order_key from order_totals where authorized_minor > 0) t
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

/** Begins to watch payments of which nothing was said yet; those that are watched stay as they are. */
export async function beginWatches(
  db: Queryable,
  watches: readonly Omit<WatchUpdate, 'said'>[],
): Promise<void> {
  await db.query(
    `insert into authorization_watch (payment_id, start_at, deadline_at, next_look_at)
     select * from unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[])
     on conflict do nothing`,
    [
      watches.map(({ paymentId }) => paymentId),
      watches.map(({ startAt }) => startAt.toISOString()),
      watches.map(({ deadlineAt }) => deadlineAt.toISOString()),
      watches.map(({ nextLookAt }) => nextLookAt.toISOString()),
    ],
  );
}

/**
 * Watched payments whose time has come, the nearest deadline first; last those whose deadline was
 * spoken of already, which are looked at once a day.
 */
export async function readDue(
  db: Queryable,
  request: { readonly now: Date; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await db.query<{ id: string }>(
    `select payment_id as id from authorization_watch
      where next_look_at <= $1
      order by coalesce(said_hours = 0, false), deadline_at, payment_id
      limit $2`,
    [request.now.toISOString(), request.limit],
  );
  return rows.map(({ id }) => id);
}

/** Payments that something was said about and that can no longer be captured. */
export async function readSettled(
  db: Queryable,
  request: { readonly statuses: readonly string[]; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await db.query<{ id: string }>(
    `select w.payment_id as id
       from authorization_watch w
       join resources r on r.kind = 'payment' and r.id = w.payment_id
      where w.said_hours is not null
        and not (coalesce(r.status = any ($1::text[]), false) and r.authorized_minor > r.captured_minor)
      order by w.payment_id
      limit $2`,
    [request.statuses, request.limit],
  );
  return rows.map(({ id }) => id);
}

export interface WatchUpdate {
  readonly paymentId: string;
  readonly startAt: Date;
  readonly deadlineAt: Date;
  readonly said: { readonly hours: number; readonly deadlineAt: Date } | undefined;
  readonly nextLookAt: Date;
}

/** Watches a payment, or goes on doing so. */
export async function saveWatch(tx: Queryable, update: WatchUpdate): Promise<void> {
  await tx.query(
    `insert into authorization_watch as w
       (payment_id, start_at, deadline_at, said_hours, said_deadline_at, next_look_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (payment_id) do update
        set start_at = excluded.start_at, deadline_at = excluded.deadline_at,
            said_hours = excluded.said_hours, said_deadline_at = excluded.said_deadline_at,
            next_look_at = excluded.next_look_at`,
    [
      update.paymentId,
      update.startAt.toISOString(),
      update.deadlineAt.toISOString(),
      update.said?.hours ?? null,
      update.said?.deadlineAt.toISOString() ?? null,
      update.nextLookAt.toISOString(),
    ],
  );
}

/** Ends the watch. What was said stays in the notices. */
export async function endWatch(tx: Queryable, paymentId: string): Promise<void> {
  await tx.query('delete from authorization_watch where payment_id = $1', [paymentId]);
}

export interface Notice {
  readonly paymentId: string;
  readonly deadlineAt: Date;
  /** 0 is the deadline itself. */
  readonly thresholdHours: number;
  readonly currency: string | null;
  readonly capturableMinor: number;
}

/** Notes that a threshold was spoken of; noting it twice of one deadline changes nothing. */
export async function insertNotice(tx: Queryable, notice: Notice): Promise<void> {
  await tx.query(
    `insert into authorization_notices
       (payment_id, deadline_at, kind, threshold_hours, currency, capturable_minor)
     values ($1, $2, 'threshold', $3, $4, $5)
     on conflict do nothing`,
    noticeValues(notice),
  );
}

/**
 * Notes that the policy is about to make an attempt on a payment.
 * @returns its number; undefined when somebody else has claimed the same attempt: nobody else may make it
 */
export async function claimAttempt(
  db: Queryable,
  claim: Notice & { readonly action: string; readonly attempt: number; readonly at: Date },
): Promise<number | undefined> {
  const rows = await db.query<{ id: number }>(
    `insert into authorization_notices
       (payment_id, deadline_at, kind, threshold_hours, currency, capturable_minor, action, attempt,
        said_at)
     values ($1, $2, 'policy', $3, $4, $5, $6, $7, $8)
     on conflict do nothing
     returning id`,
    [...noticeValues(claim), claim.action, claim.attempt, claim.at.toISOString()],
  );
  return rows[0]?.id;
}

/** Notes what came of it. */
export async function saveOutcome(db: Queryable, id: number, outcome: string): Promise<void> {
  await db.query('update authorization_notices set outcome = $2 where id = $1', [id, outcome]);
}

function noticeValues(notice: Notice): readonly unknown[] {
  return [
    notice.paymentId,
    notice.deadlineAt.toISOString(),
    notice.thresholdHours,
    notice.currency,
    notice.capturableMinor,
  ];
}
