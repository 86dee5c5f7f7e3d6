/** A contradiction states what the service returned, what the ledger has, and what happens next. */
import { expect, test } from 'vitest';
import {
  type ContradictionFacts,
  contradictionText,
  type HeldTerms,
} from '../../../src/representation/contradictionText.ts';

const HELD: HeldTerms = {
  status: 'succeeded',
  stage: null,
  currency: 'USD',
  amountMinor: 6540,
  capturedMinor: 6540,
  authorizedMinor: 6540,
  paymentId: null,
  orderId: 'ord_1',
};
const OBSERVED_MS = Date.UTC(2026, 10, 21, 12);
const NEXT =
  'The ledger changes once a second retrieve, at least a minute after this one, returns the same, because a single response may come from a replica that lags.';

function text(
  terms: ContradictionFacts['contradiction']['terms'],
  held: Partial<HeldTerms> = {},
  nextCheckAt?: Date,
): string {
  const contradiction = { terms, observedMicros: OBSERVED_MS * 1_000 };
  return contradictionText({ contradiction, held: { ...HELD, ...held }, nextCheckAt });
}

test.each<[string, string, string]>([
  [
    'a status and a captured amount',
    text({ status: 'failed', amountMinor: 6540, currency: 'USD', amountReceivedMinor: 0 }),
    'returned the status failed and 0.00 USD captured. The ledger has the status succeeded and 65.40 USD captured.',
  ],
  [
    'the amount in another currency',
    text({ amountMinor: 6540, currency: 'JPY' }),
    'returned the amount 6540 JPY. The ledger has the amount 65.40 USD.',
  ],
  [
    'less that can be captured',
    text({ amountCapturableMinor: 4_000 }, { capturedMinor: 0 }),
    'returned 40.00 USD that can be captured. The ledger has 65.40 USD that can be captured.',
  ],
  [
    'the owner of the money, and a stage',
    text({ paymentId: 'pay_2', orderId: 'ord_2', stage: 'dispute' }),
    'returned the stage dispute, the payment pay_2 and the order ord_2. The ledger has no stage, no payment and the order ord_1.',
  ],
  [
    'amounts that the ledger does not have',
    text({ amountMinor: 10 }, { amountMinor: null, currency: null }),
    'returned the amount 10 minor units. The ledger has no amount.',
  ],
  [
    'what was captured before a void',
    text({ status: 'failed', amountReceivedMinor: 0 }, { status: 'cancelled_post_capture' }),
    'returned the status failed. The ledger has the status cancelled_post_capture.',
  ],
])('%s', (_name, shown, expected) => {
  expect(shown).toBe(
    `The service contradicts the ledger. At 2026-11-21 12:00:00 UTC the service ${expected} ${NEXT}`,
  );
});

test('the same terms are of an earlier version, and the next retrieve is named', () => {
  expect(text({ status: 'succeeded' }, {}, new Date(OBSERVED_MS + 60_000))).toBe(
    `The service contradicts the ledger. At 2026-11-21 12:00:00 UTC the service returned an earlier version of what the ledger has. ${NEXT} The next retrieve is due at 2026-11-21 12:01:00 UTC.`,
  );
});
