/** Reads the statement of a month, as of one moment. PostgreSQL adds up, so memory does not grow with the journal. */

import { closingsInForce, zoneOf } from '../ledger/domain/closings.ts';
import { currencyStatements, type Statement } from '../ledger/domain/statement.ts';
import { readBookedSums } from '../ledger/read/bookedSums.ts';
import { openEffectiveSums } from '../ledger/read/effectiveSums.ts';
import { readOpenItemsAtEnd } from '../ledger/read/openItems.ts';
import { readUnmatchedBefore, whyNotRead } from '../ledger/read/store/clearing.ts';
import { readClosings } from '../ledger/read/store/closings.ts';
import {
  countUncertain,
  readAcceptedFindings,
  readFindingsOpenAt,
  readPeriod,
} from '../ledger/read/store/statement.ts';
import { requireDated } from '../ledger/read/undated.ts';
import { readChainHead } from '../ledger/store/chain.ts';
import { readConsistently } from '../ledger/store/readConsistently.ts';
import type { Database } from '../platform/db/database.ts';
import { readCoverage } from '../reconcile/store/coverage.ts';

export interface StatementRequest {
  /** `2026-10` */
  readonly month: string;
  /** Undefined: that of the closed months, or UTC. */
  readonly timeZone: string | undefined;
  /** Undefined: every currency. */
  readonly currency: string | undefined;
}

/** @throws UndatedTransfers while transfers of an earlier version have no effective time */
export function readStatement(
  db: Database,
  { month, timeZone, currency }: StatementRequest,
): Promise<Statement> {
  return readConsistently(db, async (tx) => {
    await requireDated(tx);
    const closings = await readClosings(tx);
    const read = await readPeriod(tx, month, timeZone ?? zoneOf(closingsInForce(closings)));
    const { knownMicros, ...period } = read;
    const { fromMicros, toMicros } = period;
    const sums = await openEffectiveSums(tx, currency);
    const { sums: booked, booking } = await readBookedSums(tx, period, {
      effective: sums,
      currency,
      closings,
    });
    const reason = await whyNotRead(tx);
    return {
      period,
      knownMicros,
      booking,
      currencies: currencyStatements(booked),
      unmatched: reason
        ? { outcome: 'not_read', reason }
        : await readUnmatchedBefore(tx, toMicros, currency),
      open: await readOpenItemsAtEnd(tx, {
        effective: sums,
        toMicros,
        closing: booking.kind === 'booked' ? (booking.closing ?? booking.closedWith) : undefined,
        currency,
      }),
      findings: await readFindingsOpenAt(tx, toMicros),
      accepted: await readAcceptedFindings(tx, period),
      uncertain: await countUncertain(tx),
      coverage: await readCoverage(tx, {
        from: new Date(fromMicros / 1000),
        to: new Date(toMicros / 1000),
      }),
      chainHead: await readChainHead(tx),
    };
  });
}
