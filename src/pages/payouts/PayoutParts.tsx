/** The parts of a payout's page: what it replaces, what replaces it, and what a person can do. */
import { isPossible } from '../../actions/actOnPayout.ts';
import { readPaidAgain } from '../../actions/retryPayout.ts';
import { formatAmount } from '../../contract/money.ts';
import { isUndonePayout } from '../../contract/reasons.ts';
import type { ListedResource } from '../../ledger/read/store/resourceList.ts';
import { replacedBy } from '../../payouts/domain/payAgain.ts';
import type { Database } from '../../platform/db/database.ts';
import { Section } from '../components/blocks.tsx';
import { ActionForm, Field, Hidden, Reason } from '../components/forms.tsx';
import { Id, Money } from '../components/values.tsx';
import { resourceHref, retryPayoutHref } from '../links.ts';
import type { Viewer } from '../page.ts';
import { cancelPayout, fulfillPayout, retryPayout } from './payoutActions.ts';

/** The payout before and the payout after, as far as there are any. */
export interface PayoutChain {
  readonly replaces: string | undefined;
  readonly paidAgainBy: string | undefined;
}

export async function readPayoutChain(
  db: Pick<Database, 'query'>,
  { id, reference }: ListedResource,
): Promise<PayoutChain> {
  return { replaces: replacedBy(reference), paidAgainBy: await readPaidAgain(db, id) };
}

interface PayoutProps {
  readonly row: ListedResource;
  readonly chain: PayoutChain;
  readonly viewer: Viewer;
}

/** The answer first: whether the payee has the money, and if not, what to do. */
export function PayoutAnswer({ row, chain: { replaces, paidAgainBy }, viewer }: PayoutProps) {
  const { amountMinor, currency, status, id } = row;
  const isUndone = isUndonePayout(status);
  const money = <Money amountMinor={amountMinor} currency={currency} />;
  return (
    <>
      {replaces === undefined ? null : (
        <p>
          Replaces <Id id={replaces} href={resourceHref('payout', replaces)} />, which the payee did
          not get.
        </p>
      )}
      {isUndone && paidAgainBy === undefined ? (
        <p class="problem">
          <strong>The payee does not have {money}.</strong>{' '}
          {viewer.may(retryPayout.permission) ? (
            <a class="button" href={retryPayoutHref(id)}>
              Pay it again
            </a>
          ) : null}
        </p>
      ) : null}
      {paidAgainBy === undefined ? null : (
        <p class="notice">
          Paid again by <Id id={paidAgainBy} href={resourceHref('payout', paidAgainBy)} />, which
          has a status of its own.
        </p>
      )}
    </>
  );
}

/** What a payout allows that has not ended. */
export function PayoutChoice({ row, viewer }: Omit<PayoutProps, 'chain'>) {
  const { amountMinor, currency, status, id } = row;
  if (amountMinor === null || currency === null || status === null) return null;
  const seen = (
    <>
      <Hidden name="expected_amount" value={String(amountMinor)} />
      <Hidden name="currency" value={currency} />
      <Hidden name="status" value={status} />
    </>
  );
  const money = <Money amountMinor={amountMinor} currency={currency} />;
  return (
    <>
      {isPossible('fulfill', status) ? (
        <Section title="Send the money">
          <ActionForm
            viewer={viewer}
            action={fulfillPayout}
            params={{ payout_id: id }}
            label="Send the money"
            isDangerous
          >
            <p>Sends {money} to the payee. It cannot be called back.</p>
            {seen}
            <ConfirmAmount amountMinor={amountMinor} currency={currency} />
            <Reason />
          </ActionForm>
        </Section>
      ) : null}
      {isPossible('cancel', status) ? (
        <Section title="Cancel">
          <ActionForm
            viewer={viewer}
            action={cancelPayout}
            params={{ payout_id: id }}
            label="Cancel the payout"
            isDangerous
          >
            <p>The payee does not get {money}. The service refuses if the money has arrived.</p>
            {seen}
            <Reason />
          </ActionForm>
        </Section>
      ) : null}
    </>
  );
}

export function ConfirmAmount({
  amountMinor,
  currency,
}: {
  readonly amountMinor: number;
  readonly currency: string;
}) {
  return (
    <Field
      name="amount"
      label={`Type the amount in ${currency} to confirm`}
      required
      hint={formatAmount(amountMinor, currency)}
    />
  );
}
