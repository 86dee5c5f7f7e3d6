/** What is unproven about a month: it closes only with these as its exceptions. */
import type { ClosingException } from '../ledger/domain/closings.ts';
import type { Period } from '../ledger/domain/period.ts';
import type { StreamCoverage } from '../ledger/domain/statement.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import { readUnproven } from '../ledger/read/store/unproven.ts';
import type { Queryable } from '../platform/db/database.ts';
import { readCoverage } from '../reconcile/store/coverage.ts';

export async function readExceptions(
  tx: Queryable,
  { fromMicros, toMicros }: Period,
): Promise<readonly ClosingException[]> {
  const unproven = await readUnproven(tx, toMicros);
  const coverage = await readCoverage(tx, {
    from: new Date(fromMicros / 1000),
    to: new Date(toMicros / 1000),
  });
  return [...unproven, ...notCompared(coverage)];
}

const EXAMPLES = 20;

function notCompared(coverage: readonly StreamCoverage[]): readonly ClosingException[] {
  const spans = coverage.flatMap(({ stream, gaps }) =>
    gaps.map(
      ({ fromMicros, toMicros }) =>
        `${stream} from ${formatInstant(fromMicros)} to ${formatInstant(toMicros)}`,
    ),
  );
  if (spans.length === 0) return [];
  return [{ kind: 'not_compared', count: spans.length, examples: spans.slice(0, EXAMPLES) }];
}
