/** Reads the statement of a month, as of one moment. PostgreSQL adds up, so memory does not grow with the journal. */
import { currencyStatements, type Statement } from '../ledger/domain/statement.ts';
import { openEffectiveSums } from '../ledger/read/effectiveSums.ts';
import {
  countUncertain,
  readAcceptedFindings,
  readFindingsOpenAt,
  readPeriod,
} from '../ledger/read/store/statement.ts';
import { requireDated } from '../ledger/read/undated.ts';
import { readConsistently } from '../ledger/store/readConsistently.ts';
import type { Database } from '../platform/db/database.ts';
import { readCoverage } from '../reconcile/store/coverage.ts';

export interface StatementRequest {
  /** `2026-10` */
  readonly month: string;
  readonly timeZone: string;
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
    const { knownMicros, ...period } = await readPeriod(tx, month, timeZone);
    const { fromMicros, toMicros } = period;
    const sums = await openEffectiveSums(tx, currency);
    const before = await sums.legsBefore(fromMicros);
    const days = await sums.daysOf(period);
    return {
      period,
      knownMicros,
      currencies: currencyStatements(before, days),
      open: await sums.openBefore(toMicros),
      findings: await readFindingsOpenAt(tx, toMicros),
      accepted: await readAcceptedFindings(tx, period),
      uncertain: await countUncertain(tx),
      coverage: await readCoverage(tx, {
        from: new Date(fromMicros / 1000),
        to: new Date(toMicros / 1000),
      }),
    };
  });
}
