/** Builds alerts for tests, and reads the stored ones. */
import type { Alert } from '../../src/alerts/domain/alert.ts';
import type { Queryable } from '../../src/platform/db/database.ts';

/** An alert with default values; a test sets the fields it is about. */
export function alertOf(fields: Partial<Alert> & Pick<Alert, 'subject'>): Alert {
  return {
    rule: 'dispute_opened',
    variant: '',
    severity: 'warning',
    sentence: `${fields.subject} needs attention.`,
    nextStep: 'npx tallyhook alerts list',
    detail: {},
    ...fields,
  };
}

/** A stored alert with the types of its notifications, in order. */
export interface StoredAlert {
  readonly rule: string;
  readonly subject: string;
  readonly variant: string;
  readonly severity: string;
  readonly state: string;
  readonly notifications: readonly string[];
}

/** Reads alerts, oldest first. @param subjects only these; all subjects if omitted */
export function readStoredAlerts(
  db: Queryable,
  subjects?: readonly string[],
): Promise<readonly StoredAlert[]> {
  return db.query<StoredAlert>(
    `select a.rule, a.subject, a.variant, a.severity, a.state,
            coalesce((select array_agg(o.type order by o.id)
                        from alert_outbox o where o.alert_id = a.id), '{}') as notifications
       from alerts a
      where $1::text[] is null or a.subject = any ($1::text[])
      order by a.id`,
    [subjects ?? null],
  );
}
