/** The mutants that are known to survive. The run fails for another one, and for one that is killed or gone. */
import type { Survivor } from './survivor.ts';

const CONNECTION_TABLE = 'src/receiver/domain/connectionTable.ts';
const BODY_BUDGET = 'src/receiver/domain/bodyBudget.ts';
const LABELS =
  'Labels of a metric, which test/receiver/unverifiedLimits.test.ts reads from the process.';
const MEMORY = 'Frees memory; an empty set and a missing one mean the same.';

export const SURVIVORS: readonly Survivor[] = [
  {
    file: CONNECTION_TABLE,
    within: 'CLOSING_REASONS',
    code: "['address_limit', 'connection_limit']",
    becomes: '[]',
    reason: LABELS,
  },
  {
    file: CONNECTION_TABLE,
    within: 'CLOSING_REASONS',
    code: "'address_limit'",
    becomes: "''",
    reason: LABELS,
  },
  {
    file: CONNECTION_TABLE,
    within: 'CLOSING_REASONS',
    code: "'connection_limit'",
    becomes: "''",
    reason: LABELS,
  },
  {
    file: CONNECTION_TABLE,
    within: 'createConnectionTable',
    code: 'siblings?.size === 0',
    becomes: 'false',
    reason: MEMORY,
  },
  {
    file: CONNECTION_TABLE,
    within: 'createConnectionTable',
    code: 'unverifiedByAddress.delete(address);',
    becomes: '',
    reason: MEMORY,
  },
  {
    file: CONNECTION_TABLE,
    within: 'createConnectionTable',
    code: 'longestIdle === undefined',
    becomes: 'false',
    reason: 'For the compiler: more than the limit are verified, so there is a first one.',
  },
  {
    file: BODY_BUDGET,
    within: 'createBodyBudget',
    code: 'byAddress.get(address)?.accounts.size === 0',
    becomes: 'false',
    reason: MEMORY,
  },
  {
    file: BODY_BUDGET,
    within: 'createBodyBudget',
    code: 'byAddress.delete(address);',
    becomes: '',
    reason: MEMORY,
  },
  {
    file: BODY_BUDGET,
    within: 'createBodyBudget',
    code: 'largest === undefined',
    becomes: 'false',
    reason: 'For the compiler: a pool beyond its limit has a body.',
  },
];
