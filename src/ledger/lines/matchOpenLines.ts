/** Matches the lines without a match by the rules of domain/matchLines.ts. The caller holds the lock. */
import type { Queryable } from '../../platform/db/database.ts';
import {
  matchBankLines,
  matchByAmount,
  matchByReference,
  type NewMatch,
  type OpenLine,
} from '../domain/matchLines.ts';
import {
  insertMatches,
  type OpenLinesPage,
  readNamedCandidates,
  readOpenBankLines,
  readOpenReportLines,
  readPairsByAmount,
  readSettlementCandidates,
} from './store/matches.ts';

const LINES_AT_ONCE = 1_000;

/** @returns how many lines were matched */
export async function matchOpenLines(tx: Queryable): Promise<number> {
  // Lines that name what they are about come first, so that no other line takes it.
  const byReference = await inPages(tx, readOpenReportLines, matchReportLines);
  const byAmount = matchByAmount(await readPairsByAmount(tx, 10_000));
  await insertMatches(tx, byAmount);
  return byReference + byAmount.length + (await inPages(tx, readOpenBankLines, matchBank));
}

async function inPages(
  tx: Queryable,
  read: (tx: Queryable, page: OpenLinesPage) => Promise<readonly OpenLine[]>,
  match: (tx: Queryable, lines: readonly OpenLine[]) => Promise<readonly NewMatch[]>,
): Promise<number> {
  let [afterId, matched] = [0, 0];
  for (;;) {
    const lines = await read(tx, { afterId, limit: LINES_AT_ONCE });
    const last = lines.at(-1);
    if (!last) return matched;
    afterId = last.id;
    const matches = await match(tx, lines);
    if (matches.length > 0) await insertMatches(tx, matches);
    matched += matches.length;
  }
}

async function matchReportLines(
  tx: Queryable,
  lines: readonly OpenLine[],
): Promise<readonly NewMatch[]> {
  const references = [...new Set(lines.flatMap(({ reference }) => reference ?? []))];
  if (references.length === 0) return [];
  const candidates = await readNamedCandidates(tx, references);
  const byDay = lines.toSorted((one, other) => (one.day < other.day ? -1 : 1));
  return matchByReference(byDay, candidates);
}

async function matchBank(tx: Queryable, lines: readonly OpenLine[]): Promise<readonly NewMatch[]> {
  const days = lines.map(({ day }) => day).toSorted();
  const [fromDay = '', toDay = ''] = [days[0], days.at(-1)];
  return matchBankLines(lines, await readSettlementCandidates(tx, { fromDay, toDay }));
}
