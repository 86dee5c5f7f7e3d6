/** Statements that read findings for programs. */
import type { Queryable } from '../../../platform/db/database.ts';
import {
  type Found,
  type SearchPage,
  type SearchSource,
  searchNewest,
} from '../../../platform/db/search.ts';
import { DETAIL_DIGEST } from '../../store/findings.ts';
import type { OfEvent } from './eventChanges.ts';

/** `accepted` is open, too, but no longer counts as a difference. */
export const FINDING_STATES = ['open', 'accepted', 'closed'] as const;
export type FindingState = (typeof FINDING_STATES)[number];

export interface FindingRow {
  readonly id: number;
  readonly class: string;
  readonly subject: string;
  readonly state: FindingState;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Digest of the detail, so that an acceptance covers what was shown. */
  readonly digest: string;
  readonly openedAt: Date;
  readonly updatedAt: Date;
  readonly closedAt: Date | null;
  /** Who accepted it and why, also where it was closed since. */
  readonly acceptedAt: Date | null;
  readonly acceptedBy: string | null;
  readonly acceptedReason: string | null;
}

const COLUMNS = `
  id, class, subject,
  case when state = 'open' and accepted_at is not null then 'accepted' else state end as state,
  detail, ${DETAIL_DIGEST} as digest, opened_at as "openedAt", updated_at as "updatedAt", closed_at as "closedAt",
  accepted_at as "acceptedAt", accepted_by as "acceptedBy", accepted_reason as "acceptedReason"`;

/** Findings about any of these subjects, newest first. */
export function readFindingsAbout(
  db: Queryable,
  subjects: readonly string[],
  limit: number,
): Promise<readonly FindingRow[]> {
  return db.query<FindingRow>(
    `select ${COLUMNS}
       from findings
      where subject = any ($1::text[])
      order by id desc
      limit $2`,
    [subjects, limit],
  );
}

/** Findings that an event opened, or closed, in the order of their numbers. */
export function readFindingsOfEvent(
  db: Queryable,
  { event, limit, by }: OfEvent & { readonly by: 'opened' | 'closed' },
): Promise<readonly FindingRow[]> {
  return db.query<FindingRow>(
    `select ${COLUMNS} from findings where ${by}_by_event = $1 order by id limit $2`,
    [event, limit],
  );
}

interface FindingFilter {
  readonly state: FindingState | undefined;
  readonly findingClass: string | undefined;
  readonly subject: string | undefined;
}

/** Findings of a filter, newest first. */
export function searchFindings(
  db: Queryable,
  { state, findingClass, subject }: FindingFilter,
  page: SearchPage,
): Promise<Found<FindingRow>> {
  const isFiltered = [state, findingClass, subject].some((one) => one !== undefined);
  return searchNewest<FindingRow>(
    db,
    {
      table: 'findings',
      key: 'id',
      columns: COLUMNS,
      source: sourceOf({ state, findingClass, subject }),
      filter: isFiltered
        ? {
            columns: 'state, class, subject, accepted_at',
            where: `($5::text is null
                     or state = case when $5 = 'closed' then 'closed' else 'open' end
                        and ($5 = 'closed' or (accepted_at is not null) = ($5 = 'accepted')))
                    and ($6::text is null or class = $6) and ($7::text is null or subject = $7)`,
            values: [state ?? null, findingClass ?? null, subject ?? null],
          }
        : undefined,
    },
    page,
  );
}

/** Subjects and open findings have an index, and classes have one for this list alone. */
function sourceOf({ state, findingClass, subject }: FindingFilter): SearchSource {
  if (subject !== undefined) return { where: 'subject = $2', value: subject };
  if (state === 'open' || state === 'accepted') return { where: `state = 'open'` };
  if (findingClass !== undefined) return { where: 'class = $2 and id > 0', value: findingClass };
  return { where: 'true' };
}

/** @returns undefined if there is no such finding, or retention removed it */
export async function readFinding(db: Queryable, id: number): Promise<FindingRow | undefined> {
  const rows = await db.query<FindingRow>(`select ${COLUMNS} from findings where id = $1`, [id]);
  return rows[0];
}

/** Those of some findings that are in a state, newest first. */
export function readNumberedFindings(
  db: Queryable,
  {
    numbers,
    state,
    limit,
  }: {
    readonly numbers: readonly number[];
    readonly state: FindingState;
    readonly limit: number;
  },
): Promise<readonly FindingRow[]> {
  return db.query<FindingRow>(
    `select * from (select ${COLUMNS} from findings where id = any ($1::bigint[])) numbered
      where state = $2
      order by id desc
      limit $3`,
    [numbers, state, limit],
  );
}

export interface SubjectAmount {
  readonly subject: string;
  readonly currency: string;
  readonly amountMinor: number;
}

/** The amounts of the resources among subjects such as `payment:pay_1`, where they are known. */
export function readSubjectAmounts(
  db: Queryable,
  subjects: readonly string[],
): Promise<readonly SubjectAmount[]> {
  return db.query<SubjectAmount>(
    `select s.subject, r.currency, r.amount_minor as "amountMinor"
       from unnest($1::text[]) as s (subject)
       join resources r on r.kind = split_part(s.subject, ':', 1)
                       and r.id = substring(s.subject from position(':' in s.subject) + 1)
      where r.currency is not null and r.amount_minor is not null
      limit $2`,
    [subjects, subjects.length],
  );
}
