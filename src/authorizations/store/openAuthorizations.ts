/** Statements that list open authorizations for the API and the CLI. */
import type { Queryable } from '../../platform/db/database.ts';

/** An authorization that is watched and can still be captured. */
export interface OpenAuthorization {
  readonly paymentId: string;
  readonly orderKey: string | null;
  readonly status: string;
  readonly currency: string;
  /** Minor units. */
  readonly capturableMinor: number;
  readonly startAt: Date;
  readonly deadlineAt: Date;
  /** The threshold of the latest reminder; null before the first. */
  readonly lastReminderHours: number | null;
}

export interface AuthorizationPlace {
  readonly deadlineAt: Date;
  readonly paymentId: string;
}

/** Reads open authorizations after a place, nearest deadline first, by the index on the deadline. */
export function readOpenAuthorizations(
  db: Queryable,
  page: {
    readonly statuses: readonly string[];
    readonly after: AuthorizationPlace | undefined;
    readonly dueBefore: Date | undefined;
    readonly limit: number;
  },
): Promise<readonly OpenAuthorization[]> {
  return db.query<OpenAuthorization>(
    `select w.payment_id as "paymentId", r.order_key as "orderKey", r.status, r.currency,
            r.authorized_minor - r.captured_minor as "capturableMinor",
            w.start_at as "startAt", w.deadline_at as "deadlineAt", w.reminder_hours as "lastReminderHours"
       from authorization_watch w
       join resources r on r.kind = 'payment' and r.id = w.payment_id
      where ($2::timestamptz is null or (w.deadline_at, w.payment_id) > ($2, $3))
        and ($4::timestamptz is null or w.deadline_at < $4)
        and r.status = any ($1::text[]) and r.authorized_minor > r.captured_minor
      order by w.deadline_at, w.payment_id
      limit $5`,
    [
      page.statuses,
      page.after?.deadlineAt.toISOString() ?? null,
      page.after?.paymentId ?? null,
      page.dueBefore?.toISOString() ?? null,
      page.limit,
    ],
  );
}
