/** Alerts as tests state and read them. */
import type { Alert } from '../../src/alerts/domain/alert.ts';
import type { Queryable } from '../../src/platform/db/database.ts';

/** An alert with what the test is about. */
export function alertOf(fields: Partial<Alert> & Pick<Alert, 'subject'>): Alert {
  return {
    rule: 'dispute_opened',
    variant: '',
    severity: 'warning',
    sentence: `Something stands about ${fields.subject}.`,
    nextStep: 'npx tallyhook alerts list',
    detail: {},
    ...fields,
  };
}

/** Every alert that was written, oldest first, with what of it was said and in which order. */
export interface WrittenAlert {
  readonly rule: string;
  readonly subject: string;
  readonly variant: string;
  readonly severity: string;
  readonly state: string;
  readonly said: readonly string[];
}

/** @param subjects all that are of interest; every subject when left out */
export function readWrittenAlerts(
  db: Queryable,
  subjects?: readonly string[],
): Promise<readonly WrittenAlert[]> {
  return db.query<WrittenAlert>(
    `select a.rule, a.subject, a.variant, a.severity, a.state,
            coalesce((select array_agg(o.type order by o.id)
                        from alert_outbox o where o.alert_id = a.id), '{}') as said
       from alerts a
      where $1::text[] is null or a.subject = any ($1::text[])
      order by a.id`,
    [subjects ?? null],
  );
}
