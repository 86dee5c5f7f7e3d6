/** Statements that read the ledger to be compared with the service. */
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Span } from '../domain/windows.ts';

export interface LocalRow {
  readonly id: string;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly capturedMinor: number;
  readonly versionMicros: number | null;
}

const COLUMNS = `
  id, status, stage, currency, amount_minor as "amountMinor", captured_minor as "capturedMinor",
  version_micros as "versionMicros"`;

/** Resources of one kind by their ids, as many as there are. */
export function readLocalByIds(
  db: Queryable,
  kind: ResourceKind,
  ids: readonly string[],
): Promise<readonly LocalRow[]> {
  return db.query<LocalRow>(
    `select ${COLUMNS} from resources where kind = $1 and id = any ($2::text[])`,
    [kind, ids],
  );
}

/** Ids of what was created in a span, ordered, beyond `after`; both bounds included. */
export async function readIdsCreated(
  db: Queryable,
  kind: ResourceKind,
  { span, after, limit }: { readonly span: Span; readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await db.query<{ id: string }>(
    `select id from resources
      where kind = $1 and created_at between $2 and $3 and id > $4
      order by id
      limit $5`,
    [kind, new Date(span.fromMs), new Date(span.toMs), after, limit],
  );
  return rows.map(({ id }) => id);
}

/** When the row was created that lies `rows` rows behind `fromMs`. @returns undefined without so many */
export async function readEdgeMs(
  db: Queryable,
  kind: ResourceKind,
  { span, rows }: { readonly span: Span; readonly rows: number },
): Promise<number | undefined> {
  const found = await db.query<{ at: Date }>(
    `select created_at as at from resources
      where kind = $1 and created_at > $2 and created_at <= $3
      order by created_at
     offset $4 limit 1`,
    [kind, new Date(span.fromMs), new Date(span.toMs), rows],
  );
  return found[0]?.at.getTime();
}

/** How many of a kind were created in a span, by status and currency; both bounds included. */
export function countCreated(
  db: Queryable,
  kind: ResourceKind,
  span: Span,
): Promise<readonly { status: string | null; currency: string | null; count: number }[]> {
  return db.query(
    `select status, currency, count(*) as count from resources
      where kind = $1 and created_at between $2 and $3
      group by status, currency
      limit 10000`,
    [kind, new Date(span.fromMs), new Date(span.toMs)],
  );
}

/** Which of these subjects are accepted as they are in one of the classes. */
export async function readAccepted(
  db: Queryable,
  classes: readonly string[],
  subjects: readonly string[],
): Promise<readonly string[]> {
  const rows = await db.query<{ subject: string }>(
    `select distinct subject from findings
      where state = 'open' and accepted_at is not null
        and class = any ($1::text[]) and subject = any ($2::text[])`,
    [classes, subjects],
  );
  return rows.map(({ subject }) => subject);
}
