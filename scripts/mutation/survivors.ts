/** The mutants that are known to survive. The run fails for another one, and for one that is killed or gone. */
import type { Survivor } from './survivor.ts';

const CONNECTION_TABLE = 'src/receiver/domain/connectionTable.ts';
const BODY_BUDGET = 'src/receiver/domain/bodyBudget.ts';
const ATTEMPTS = 'src/authorizations/domain/attempts.ts';
const ALERT = 'src/alerts/domain/alert.ts';
const REPORT = 'src/settlement/domain/report.ts';
const CSV_ROWS = 'src/settlement/domain/csvRows.ts';
const LABELS =
  'Labels of a metric, which test/receiver/unverifiedLimits.test.ts reads from the process.';
const MEMORY = 'Frees memory; an empty set and a missing one mean the same.';

export const SURVIVORS: readonly Survivor[] = [
  {
    file: ALERT,
    within: 'notifiesAgain',
    code: 'SEVERITIES.indexOf(alert.severity)',
    becomes: 'SEVERITIES.lastIndexOf(alert.severity)',
    reason: 'Each severity is in the list once.',
  },
  {
    file: ALERT,
    within: 'notifiesAgain',
    code: 'SEVERITIES.indexOf(known.severity)',
    becomes: 'SEVERITIES.lastIndexOf(known.severity)',
    reason: 'Each severity is in the list once.',
  },
  {
    file: 'src/alerts/domain/rules/dispute.ts',
    within: 'progressOf',
    code: "UNDECIDED.indexOf(status ?? '')",
    becomes: "UNDECIDED.lastIndexOf(status ?? '')",
    reason: 'Each status is in the list once.',
  },
  {
    file: 'src/alerts/domain/rules/dispute.ts',
    within: 'isDeadlineMoved',
    code: 'before?.deadlineMs',
    becomes: 'before.deadlineMs',
    reason: 'For the compiler: a dispute without a state before has changed.',
  },
  {
    file: 'src/alerts/domain/rules/resource.ts',
    within: 'isLongPast',
    code: 'versionMs ?? createdMs ?? nowMs',
    becomes: 'versionMs ?? createdMs',
    reason: 'For the compiler: an age without a time is not a number, and never above the limit.',
  },
  {
    file: 'src/alerts/domain/subjectPath.ts',
    within: 'subjectPath',
    code: 'default: return undefined;',
    becomes: 'default: break;',
    reason: 'For the compiler: the end of the function returns undefined, too.',
  },
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
  {
    file: ATTEMPTS,
    within: 'retryAtMs',
    code: "case 'done'",
    becomes: 'never',
    reason: 'For the compiler: the case returns undefined, as does the end of the function.',
  },
  {
    file: ATTEMPTS,
    within: 'retryAtMs',
    code: "case 'refused'",
    becomes: 'never',
    reason: 'For the compiler: the case returns undefined, as does the end of the function.',
  },
  {
    file: ATTEMPTS,
    within: 'toAttempt',
    code: 'OUTCOMES.find((known) => known === name)',
    becomes: 'OUTCOMES.findLast((known) => known === name)',
    reason: 'Each outcome is in the list once.',
  },
  {
    file: 'src/disputes/domain/evidence.ts',
    within: 'contentTypeOf',
    code: 'SIGNATURES.find(([, bytes]) => bytes.every((byte, at) => content[at] === byte))?.[0]',
    becomes:
      'SIGNATURES.findLast(([, bytes]) => bytes.every((byte, at) => content[at] === byte))?.[0]',
    reason: 'A file begins with one of the signatures at most.',
  },
  {
    file: CSV_ROWS,
    within: 'createCsvReader',
    code: "'plain'",
    becomes: "''",
    reason: 'The state in which nothing is special is compared with none.',
  },
  {
    file: CSV_ROWS,
    within: 'createRows',
    code: 'fields[0]?.text',
    becomes: 'fields[0].text',
    reason: 'For the compiler: a row that ends has a field.',
  },
  {
    file: 'src/settlement/domain/fileProblem.ts',
    within: 'FileProblem',
    code: "'FileProblem'",
    becomes: "''",
    reason: 'For the stack, if nothing catches it.',
  },
  {
    file: 'src/settlement/domain/mt940.ts',
    within: 'nearestDay',
    code: 'dayOf(one, month, date) ?? []',
    becomes: 'dayOf(one, month, date)',
    reason: 'For the compiler: what is undefined is sorted last anyway.',
  },
  {
    file: REPORT,
    within: 'findColumns',
    code: 'names.indexOf(column)',
    becomes: 'names.lastIndexOf(column)',
    reason: 'A report with a mapped column twice is refused.',
  },
  {
    file: REPORT,
    within: 'lineOf',
    code: 'place === undefined',
    becomes: 'false',
    reason: 'For the compiler: a row has nothing at the place undefined.',
  },
  {
    file: REPORT,
    within: 'required',
    code: '!field',
    becomes: 'false',
    reason: 'For the compiler: a row has as many fields as its header, and one at least.',
  },
  {
    file: 'src/ledger/domain/order.ts',
    within: 'deriveOrder',
    code: 'byCurrency.get(currency) ?? []',
    becomes: 'byCurrency.get(currency)',
    reason: 'For the compiler: the currencies are the keys.',
  },
  {
    file: 'src/ledger/domain/entries.ts',
    within: 'balances',
    code: 'one < other',
    becomes: 'one <= other',
    reason: 'No two keys are equal.',
  },
  {
    file: 'src/ledger/domain/balances.ts',
    within: 'balancesOf',
    code: 'one < other',
    becomes: 'one <= other',
    reason: 'No two keys are equal.',
  },
  {
    file: 'src/ledger/domain/matchLines.ts',
    within: 'byReference',
    code: 'candidates.find(({ id }) => id === reference)',
    becomes: 'candidates.findLast(({ id }) => id === reference)',
    reason: 'Resources of one kind have different ids.',
  },
  {
    file: 'src/ledger/domain/lines.ts',
    within: 'lineTransfers',
    code: '!accounts',
    becomes: 'false',
    reason: 'For the compiler: the targets have the legs of the kind.',
  },
  {
    file: 'src/ledger/domain/lines.ts',
    within: 'parseTarget',
    code: 'end < 0',
    becomes: 'end <= 0',
    reason: 'A text that begins with a colon names no kind, with or without it.',
  },
  {
    file: 'src/ledger/domain/lines.ts',
    within: 'parseTarget',
    code: 'TARGET_KINDS.find((one) => one === name)',
    becomes: 'TARGET_KINDS.findLast((one) => one === name)',
    reason: 'Each kind is in the list once.',
  },
];
