/**
 * Checks the second source of the journal: lines of settlement reports and bank statements. They are not
 * rebuilt from the inbox, so what they posted is proven from the stored lines and their matches.
 */
import { groupBy } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { chainProblems } from '../domain/checkJournal.ts';
import { MAX_OFFENDERS } from '../domain/checks.ts';
import { bookedProblems, identityOf, lineKindOf } from '../domain/lines.ts';
import { lineDigest } from '../lines/importFile.ts';
import {
  type LineTransfer,
  readLineTransfers,
  readStrayLines,
  readVerifiedLines,
  type VerifiedLine,
} from '../store/verifyLines.ts';
import { type Bounds, type Run, walk } from './walk.ts';

/** @param bounds numbers of lines */
export async function checkLines(run: Run, { after, until }: Bounds<number> = {}): Promise<void> {
  await walk<number>(
    run,
    'lines',
    async (tx, from = 0) => {
      const lines = await readVerifiedLines(tx, { after: from, until, limit: run.chunkSize });
      await checkSome(run, tx, lines);
      if (lines.length === 0 && until === undefined) await checkStrays(run, tx);
      return { last: lines.at(-1)?.id, count: lines.length };
    },
    after,
  );
}

async function checkSome(
  { tally }: Run,
  tx: Queryable,
  lines: readonly VerifiedLine[],
): Promise<void> {
  const transfers = groupBy(await readLineTransfers(tx, lines), ({ lineId }) => lineId);
  for (const line of lines) {
    const subject = { subject: `${line.kind}:${line.id}` };
    const own: readonly LineTransfer[] = transfers.get(line.id) ?? [];
    tally.addChecked('lines', 1);
    tally.report('lines', subject, contentProblems(line));
    const broken = chainProblems(line.kind, own);
    tally.addChecked('chain', own.length);
    tally.report('chain', subject, broken);
    tally.addChecked('booked', 1);
    // A broken chain would be reported a second time here.
    if (broken.length === 0) tally.report('booked', subject, bookedProblems(line, line.match, own));
  }
}

function contentProblems(line: VerifiedLine): readonly string[] {
  if (line.kind !== lineKindOf(line.type)) return [`a ${line.kind} has the type ${line.type}`];
  return lineDigest(line) === line.digest
    ? []
    : [`its content does not match its digest: ${identityOf(line)}`];
}

async function checkStrays({ tally }: Run, tx: Queryable): Promise<void> {
  for (const { kind, id } of await readStrayLines(tx, MAX_OFFENDERS)) {
    tally.report('booked', { subject: `${kind}:${id}` }, ['transfers of it exist, but no line']);
  }
}
