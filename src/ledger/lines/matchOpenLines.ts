/** Matches the lines without a match by the rules of domain/matchLines.ts. The caller holds the lock. */
import type { Queryable } from '../../platform/db/database.ts';
import { keysetPages } from '../../platform/keyset.ts';
import {
  type Candidate,
  matchBankByAmount,
  matchBankByReference,
  matchByAmount,
  matchById,
  matchByPaymentOrOrder,
  type NewMatch,
  type OpenLine,
} from '../domain/matchLines.ts';
import {
  insertMatches,
  type OpenLinesPage,
  readNamedCandidates,
  readOpenBankLines,
  readOpenReportLines,
  readOtherBankLines,
  readPairsByAmount,
  readSettlementCandidates,
} from './store/matches.ts';

const LINES_AT_ONCE = 1_000;

/** @returns how many lines were matched */
export async function matchOpenLines(tx: Queryable): Promise<number> {
  // Lines that name what they are about come first, on all pages, so that no other line takes it.
  const steps = [
    await inPages(tx, readOpenReportLines, matchReportIds),
    await inPages(tx, readOpenReportLines, matchPaymentsAndOrders),
    await inPages(tx, readOpenReportLines, matchReportAmounts),
    await inPages(tx, readOpenBankLines, matchBankLines),
    await inPages(tx, readOpenBankLines, matchBankAmounts),
  ];
  return steps.reduce((sum, matched) => sum + matched, 0);
}

async function inPages(
  tx: Queryable,
  read: (tx: Queryable, page: OpenLinesPage) => Promise<readonly OpenLine[]>,
  match: (tx: Queryable, lines: readonly OpenLine[]) => Promise<readonly NewMatch[]>,
): Promise<number> {
  const pages = keysetPages<OpenLine>(LINES_AT_ONCE, (last, limit) =>
    read(tx, { afterId: last?.id ?? 0, limit }),
  );
  let matched = 0;
  for await (const lines of pages) {
    const matches = await match(tx, lines);
    if (matches.length > 0) await insertMatches(tx, matches);
    matched += matches.length;
  }
  return matched;
}

async function matchReportIds(
  tx: Queryable,
  lines: readonly OpenLine[],
): Promise<readonly NewMatch[]> {
  return matchById(lines, await readNamedBy(tx, lines));
}

async function matchPaymentsAndOrders(
  tx: Queryable,
  lines: readonly OpenLine[],
): Promise<readonly NewMatch[]> {
  const byDay = lines.toSorted((one, other) => (one.day < other.day ? -1 : 1));
  return matchByPaymentOrOrder(byDay, await readNamedBy(tx, lines));
}

async function readNamedBy(
  tx: Queryable,
  lines: readonly OpenLine[],
): Promise<readonly Candidate[]> {
  const references = [...new Set(lines.flatMap(({ reference }) => reference ?? []))];
  return references.length === 0 ? [] : await readNamedCandidates(tx, references);
}

async function matchReportAmounts(
  tx: Queryable,
  lines: readonly OpenLine[],
): Promise<readonly NewMatch[]> {
  const unnamed = lines.filter(({ reference }) => reference === null);
  if (unnamed.length === 0) return [];
  return ofPage(lines, matchByAmount(await readPairsByAmount(tx, idsOf(unnamed))));
}

async function matchBankLines(
  tx: Queryable,
  lines: readonly OpenLine[],
): Promise<readonly NewMatch[]> {
  return matchBankByReference(lines, await readSettlementCandidates(tx, daysOf(lines)));
}

async function matchBankAmounts(
  tx: Queryable,
  lines: readonly OpenLine[],
): Promise<readonly NewMatch[]> {
  const all = [...lines, ...(await readOtherBankLines(tx, idsOf(lines)))];
  return ofPage(lines, matchBankByAmount(all, await readSettlementCandidates(tx, daysOf(all))));
}

/** Whether a line is the only one depends on those of other pages, which are matched in their own. */
function ofPage(lines: readonly OpenLine[], matches: readonly NewMatch[]): readonly NewMatch[] {
  const ids = new Set(idsOf(lines));
  return matches.filter(({ lineId }) => ids.has(lineId));
}

function idsOf(lines: readonly OpenLine[]): readonly number[] {
  return lines.map(({ id }) => id);
}

function daysOf(lines: readonly OpenLine[]): { readonly fromDay: string; readonly toDay: string } {
  const days = lines.map(({ day }) => day).toSorted();
  const [fromDay = '', toDay = ''] = [days[0], days.at(-1)];
  return { fromDay, toDay };
}
