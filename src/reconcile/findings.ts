/** Findings of comparisons. Each call is a transaction of its own. */
import type { Finding, FindingClass } from '../ledger/domain/findings.ts';
import { readLatestFindings } from '../ledger/read/store/openFindings.ts';
import { closeClasses, openFindings } from '../ledger/recordFindings.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { STREAMS, type Stream } from './streams.ts';

/** Opens findings. One that is open stays the same finding, and gets the new detail. */
export function openComparison(db: Database, findings: readonly Finding[]): Promise<void> {
  return db.transaction((tx) => openFindings(tx, findings));
}

/** Closes open findings of these classes about subjects that are equal now. */
export function closeComparison(
  db: Database,
  classes: readonly FindingClass[],
  subjects: readonly string[],
): Promise<void> {
  return db.transaction((tx) => closeClasses(tx, classes, subjects));
}

/** The subject of findings about a list itself. */
export function listSubject(stream: Stream): string {
  return `list:${stream}`;
}

/** What sends requests. Each has a finding of its own, which the requests of others cannot close. */
export type RequestSource = Stream | 'refresh' | `refresh:${Stream}`;

/** Opens the finding that the service cannot be used; it keeps the time since when. */
export function openUnusable(db: Database, source: RequestSource, reason: string): Promise<void> {
  const subject = subjectOf(source);
  return openComparison(db, [{ class: 'service_unusable', subject, detail: { reason } }]);
}

/** Closes the findings of these, after their requests succeeded. */
export function closeUnusable(db: Database, sources: readonly RequestSource[]): Promise<void> {
  return closeComparison(db, ['service_unusable'], sources.map(subjectOf));
}

const SOURCES: readonly RequestSource[] = [
  ...STREAMS,
  'refresh',
  ...STREAMS.map((stream) => `refresh:${stream}` as const),
];

function subjectOf(source: RequestSource): string {
  return `service:${source}`;
}

/** What requests fail or are refused, or did within a time, since when, and whether somebody accepted that. */
export async function readUnusable(
  db: Queryable,
  closedWithinMs: number,
): Promise<
  readonly {
    readonly source: RequestSource;
    readonly sinceMs: number;
    readonly isOpen: boolean;
    readonly isAccepted: boolean;
  }[]
> {
  const subjects = SOURCES.map(subjectOf);
  const found = await readLatestFindings(db, 'service_unusable', { subjects, closedWithinMs });
  return SOURCES.flatMap((source) => {
    const latest = found.find(({ subject }) => subject === subjectOf(source));
    if (!latest) return [];
    const { openedMs, isOpen, isAccepted } = latest;
    return [{ source, sinceMs: openedMs, isOpen, isAccepted }];
  });
}
