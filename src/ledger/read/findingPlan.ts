/** What would be accepted together: open findings, with the money that they are about. */
import { sumExactly } from '../../contract/money.ts';
import { groupBy } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { linkedPages } from '../../platform/keyset.ts';
import { amountsInFacts, type FindingAmount } from '../domain/findingAmount.ts';
import {
  type FindingRow,
  readNumberedFindings,
  readSubjectAmounts,
  searchFindings,
} from './store/findings.ts';

/** As many are accepted at once: each in a transaction of its own. */
export const MAX_ACCEPTED = 500;

export interface FindingChoice {
  /** Only these; undefined: all of the filter. */
  readonly numbers: readonly number[] | undefined;
  readonly findingClass: string | undefined;
  readonly subject: string | undefined;
}

export interface FindingSum {
  readonly currency: string;
  readonly findings: number;
  readonly amountMinor: bigint;
}

export interface PlannedFinding extends FindingRow {
  /** One for each currency; none: it is about no amount, or about one that is not known. */
  readonly amounts: readonly FindingAmount[];
}

export interface FindingPlan {
  /** Newest first; at most MAX_ACCEPTED. */
  readonly findings: readonly PlannedFinding[];
  readonly isComplete: boolean;
  readonly sums: readonly FindingSum[];
  readonly withoutAmount: number;
}

export async function planAcceptance(db: Queryable, choice: FindingChoice): Promise<FindingPlan> {
  const found = await readOpen(db, choice);
  const shown = found.slice(0, MAX_ACCEPTED);
  const subjects = [...new Set(shown.map(({ subject }) => subject))];
  const known = await readSubjectAmounts(db, subjects);
  const bySubject = new Map(known.map((amount) => [amount.subject, amount]));
  const findings = shown.map((finding): PlannedFinding => {
    const inFacts = amountsInFacts(finding);
    const ofSubject = bySubject.get(finding.subject);
    return { ...finding, amounts: inFacts.length > 0 || !ofSubject ? inFacts : [ofSubject] };
  });
  const all = findings.flatMap(({ amounts }) => amounts);
  return {
    findings,
    isComplete: found.length <= MAX_ACCEPTED,
    sums: [...groupBy(all, ({ currency }) => currency)]
      .map(([currency, ofCurrency]) => ({
        currency,
        findings: ofCurrency.length,
        amountMinor: sumExactly(ofCurrency.map(({ amountMinor }) => amountMinor)),
      }))
      .toSorted((one, other) => (one.currency < other.currency ? -1 : 1)),
    withoutAmount: findings.filter(({ amounts }) => amounts.length === 0).length,
  };
}

async function readOpen(
  db: Queryable,
  { numbers, findingClass, subject }: FindingChoice,
): Promise<readonly FindingRow[]> {
  const limit = MAX_ACCEPTED + 1;
  if (numbers) return readNumberedFindings(db, { numbers, state: 'open', limit });
  const filter = { state: 'open', findingClass, subject } as const;
  const rows: FindingRow[] = [];
  const pages = linkedPages<FindingRow, number>(undefined, (below = Number.MAX_SAFE_INTEGER) =>
    searchFindings(db, filter, { below, limit: limit - rows.length }),
  );
  for await (const found of pages) {
    rows.push(...found);
    if (rows.length >= limit) break;
  }
  return rows;
}
