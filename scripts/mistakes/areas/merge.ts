/** The merge of snapshots, epochs, the derivation of orders, and findings. */
import type { Mistake } from '../mistake.ts';

export const MERGE: readonly Mistake[] = [
  {
    guarantee: 'A body without a captured amount orders below one that carries 0.',
    file: 'src/ledger/domain/merge.ts',
    code: '(a.content.amountReceivedMinor ?? -1) - (b.content.amountReceivedMinor ?? -1)',
    mistaken: '(a.content.amountReceivedMinor ?? 0) - (b.content.amountReceivedMinor ?? 0)',
    test: 'test/unit/ledger/merge.test.ts',
  },
  {
    guarantee: 'A body of another dispute stage is not ahead of the head.',
    file: 'src/ledger/domain/merge.ts',
    code: '    stageRank(kind, content.stage) === stageRank(kind, head.content.stage) &&\n',
    mistaken: '',
    test: 'test/unit/ledger/merge.test.ts',
  },
  {
    guarantee: 'A hold that failed does not count for the next attempt.',
    file: 'src/ledger/domain/merge.ts',
    code: 'authorizedAmount(fields, heldAttempt(current))',
    mistaken: 'authorizedAmount(fields, current)',
    test: 'test/unit/ledger/merge.test.ts',
  },
  {
    guarantee: 'Captures of one moment do not conflict while more can follow.',
    file: 'src/ledger/domain/merge.ts',
    code: '(isFinal && (differs(capturedOf) || differs(({ status }) => status)))',
    mistaken: 'differs(capturedOf) ||\n    (isFinal && differs(({ status }) => status))',
    test: 'test/unit/ledger/merge.test.ts',
  },
  {
    guarantee: "A snapshot of the time of an epoch's floor belongs to the epoch.",
    file: 'src/ledger/domain/epochs.ts',
    code: 'timeMicros >= candidate.floorMicros',
    mistaken: 'timeMicros > candidate.floorMicros',
    test: 'test/unit/ledger/epochs.test.ts',
  },
  {
    guarantee: 'A retrieve within the minute does not restart the wait for a confirmation.',
    file: 'src/ledger/domain/epochs.ts',
    code: "return { outcome: 'contradicts', contradiction: earlier };",
    mistaken:
      "return {\n      outcome: 'contradicts',\n      contradiction: { terms, observedMicros: retrieve.observedMicros },\n    };",
    test: 'test/unit/ledger/epochs.test.ts',
  },
  {
    guarantee: 'A retrieve in another currency contradicts.',
    file: 'src/ledger/domain/epochs.ts',
    code: '    (terms.currency ?? merged.currency) === merged.currency &&\n',
    mistaken: '',
    test: 'test/unit/ledger/epochs.test.ts',
  },
  {
    guarantee: 'Two retrieves with different captured amounts do not confirm each other.',
    file: 'src/ledger/domain/epochs.ts',
    code: 'a.currency === b.currency &&\n    a.amountReceivedMinor === b.amountReceivedMinor',
    mistaken: 'a.currency === b.currency',
    test: 'test/unit/ledger/epochs.test.ts',
  },
  {
    guarantee: 'An order with more refunded than captured is refunded.',
    file: 'src/ledger/domain/order.ts',
    code: 'amounts.refundedMinor >= amounts.capturedMinor',
    mistaken: 'amounts.refundedMinor === amounts.capturedMinor',
    test: 'test/unit/ledger/order.test.ts',
  },
  {
    guarantee: 'The merchant loses the amount of an expired dispute.',
    file: 'src/ledger/domain/order.ts',
    code: "new Set(['lost', 'accepted', 'expired'])",
    mistaken: "new Set(['lost', 'accepted'])",
    test: 'test/unit/ledger/order.test.ts',
  },
  {
    guarantee: 'A payment that expired after a partial capture is partially captured.',
    file: 'src/ledger/domain/order.ts',
    code: "return capturedMinor > 0 ? 'partially_captured' : 'expired';",
    mistaken: "return 'expired';",
    test: 'test/unit/ledger/order.test.ts',
  },
  {
    guarantee: 'A capture of a payment with an unknown amount is no excess.',
    file: 'src/ledger/domain/findings.ts',
    code: 'capturedMinor > (dueMinor(state) ?? Infinity)',
    mistaken: 'capturedMinor > (dueMinor(state) ?? 0)',
    test: 'test/unit/ledger/findings.test.ts',
  },
  {
    guarantee: 'A failed refund in another currency is no finding.',
    file: 'src/ledger/domain/orderFindings.ts',
    code: "const isVoid = kind === 'refund' && status === 'failed';",
    mistaken: "const isVoid = kind === 'refund' && status === undefined;",
    test: 'test/unit/ledger/findings.test.ts',
  },
  {
    guarantee: 'Of two final states of a dispute, won ranks above lost.',
    file: 'src/ledger/domain/ranks.ts',
    code: '  lost: 23,\n  won: 24,',
    mistaken: '  lost: 24,\n  won: 23,',
    test: 'test/unit/ledger/ranks.test.ts',
  },
];
