/** Statements that read findings for programs. */
import type { Queryable } from '../../platform/db/database.ts';

export const FINDING_STATES = ['open', 'closed'] as const;
export type FindingState = (typeof FINDING_STATES)[number];

export interface FindingRow {
  readonly id: number;
  readonly class: string;
  readonly subject: string;
  readonly state: FindingState;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly openedAt: Date;
  readonly updatedAt: Date;
  readonly closedAt: Date | null;
}

/** Findings below a number, newest first. */
export function readFindingRows(
  db: Queryable,
  page: {
    readonly state: FindingState | undefined;
    readonly findingClass: string | undefined;
    readonly subject: string | undefined;
    readonly below: number;
    readonly limit: number;
  },
): Promise<readonly FindingRow[]> {
  return db.query<FindingRow>(
    `select id, class, subject, state, detail, opened_at as "openedAt", updated_at as "updatedAt",
            closed_at as "closedAt"
       from findings
      where id < $1
        and ($2::text is null or state = $2)
        and ($3::text is null or class = $3)
        and ($4::text is null or subject = $4)
      order by id desc
      limit $5`,
    [page.below, page.state ?? null, page.findingClass ?? null, page.subject ?? null, page.limit],
  );
}
