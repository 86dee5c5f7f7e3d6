/**
 * Matches and unmatches a line for a person. What changes is posted in the same transaction, as transfers of the
 * line; nothing is removed. A line that was unmatched once is not matched by a rule again.
 */
import type { Queryable } from '../../platform/db/database.ts';
import {
  type LineMatch,
  type LineType,
  lineKindOf,
  lineTransfers,
  type TargetKind,
} from '../domain/lines.ts';
import type { MatchedByHand, MatchRequest, Unmatched } from '../domain/matchOutcomes.ts';
import { insertTransfers } from '../store/journal.ts';
import { lockSettlement, readLine, readPosted, type StoredLine } from './store/lines.ts';
import {
  insertMatchByHand,
  readActiveMatch,
  readDifference,
  targetExists,
  undoMatch,
} from './store/matches.ts';

export async function matchByHand(tx: Queryable, request: MatchRequest): Promise<MatchedByHand> {
  const { lineId, target, reason, writeOff, by } = request;
  await lockSettlement(tx);
  const line = await readLine(tx, lineId);
  if (!line) return { outcome: 'no_line' };
  const active = await readActiveMatch(tx, lineId);
  if (active) {
    return {
      outcome: 'already',
      target: { kind: active.targetKind, id: active.targetId ?? undefined },
    };
  }
  if (!isPossible(line.type, target.kind)) return { outcome: 'not_possible', type: line.type };
  const { id: targetId } = target;
  const { currency } = line;
  if (targetId !== undefined && !(await targetExists(tx, { ...target, id: targetId, currency }))) {
    return { outcome: 'no_target' };
  }
  // With the line itself, the target is explained by so much more.
  const writtenOffMinor =
    writeOff && targetId !== undefined
      ? line.grossMinor - (await readDifference(tx, { ...target, id: targetId, currency }))
      : 0;
  await insertMatchByHand(tx, {
    lineId,
    targetKind: target.kind,
    targetId,
    reason,
    writtenOffMinor,
    by,
  });
  const transfers = await post(tx, line, { targetKind: target.kind, writtenOffMinor });
  return { outcome: 'matched', writtenOffMinor, currency, transfers };
}

/** A line about a resource is about one of its own kind; fees and adjustments are about nothing. */
function isPossible(type: LineType, kind: TargetKind): boolean {
  if (type === 'bank') return kind === 'settlement' || kind === 'excluded';
  return type !== 'fee' && type !== 'adjustment' && (kind === type || kind === 'adjustment');
}

export async function unmatchByHand(
  tx: Queryable,
  { lineId, reason, by }: Pick<MatchRequest, 'lineId' | 'reason' | 'by'>,
): Promise<Unmatched> {
  await lockSettlement(tx);
  const line = await readLine(tx, lineId);
  if (!line) return { outcome: 'no_line' };
  const active = await readActiveMatch(tx, lineId);
  if (!active) return { outcome: 'not_matched' };
  await undoMatch(tx, { id: active.id, by, reason });
  const transfers = await post(tx, line, undefined);
  const target = { kind: active.targetKind, id: active.targetId ?? undefined };
  return { outcome: 'unmatched', target, transfers };
}

/** @returns how many transfers were posted */
async function post(
  tx: Queryable,
  line: StoredLine,
  match: LineMatch | undefined,
): Promise<number> {
  const ref = { kind: lineKindOf(line.type), id: String(line.id) };
  const posted = await readPosted(tx, ref);
  const byLeg = Object.fromEntries(posted.map(({ leg, ...last }) => [leg, last]));
  const transfers = lineTransfers(line, match, byLeg);
  if (transfers.length > 0) {
    await insertTransfers(
      tx,
      transfers.map((transfer) => ({ ...transfer, ref, webhookEventId: undefined })),
    );
  }
  return transfers.length;
}
