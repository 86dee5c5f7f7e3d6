/** The parts of a dispute's page: what is due, what its reason means, what is at stake, and the choice. */
import { isUndecided } from '../../actions/actOnDispute.ts';
import { formatAmount } from '../../contract/money.ts';
import { explainReasonCode, STAGE_MEANINGS } from '../../ledger/domain/disputeReasons.ts';
import { deriveOrder, type OrderPart } from '../../ledger/domain/order.ts';
import type { ListedResource } from '../../ledger/read/store/resourceList.ts';
import { HOUR_MS } from '../../platform/time.ts';
import { awaitsEvidence } from '../../representation/disputeText.ts';
import { timeLeftText } from '../../representation/time.ts';
import { KeyValues, Section } from '../components/blocks.tsx';
import { ActionForm, Field, Hidden, Reason } from '../components/forms.tsx';
import { Money, Time } from '../components/values.tsx';
import { evidenceHref } from '../links.ts';
import type { Viewer } from '../page.ts';
import { acceptDispute } from './disputeActions.ts';

/** The time until evidence is due, for a dispute that waits for it. */
export function timeLeft({ status, deadlineAt }: ListedResource, nowMs: number): string {
  if (!awaitsEvidence(status)) return 'nothing is due';
  if (deadlineAt === null) return 'the service sent no deadline';
  return timeLeftText(deadlineAt.getTime() - nowMs) ?? 'the deadline passed';
}

/** The answer first: what is due, and until when. */
export function Deadline({ row, nowMs }: { readonly row: ListedResource; readonly nowMs: number }) {
  const { status, deadlineAt } = row;
  if (!awaitsEvidence(status)) return null;
  const isNear = deadlineAt !== null && deadlineAt.getTime() - nowMs < 48 * HOUR_MS;
  return (
    <p class={isNear ? 'problem' : 'notice'}>
      <strong>
        {status === 'opened' ? 'Evidence is due: ' : 'Evidence can be changed: '}
        {timeLeft(row, nowMs)}
      </strong>
      {deadlineAt === null ? null : (
        <>
          {', '}
          <Time at={deadlineAt} />
        </>
      )}
    </p>
  );
}

/** What the reason code means, and which evidence helps. */
export function ReasonMeaning({ row: { reasonCode, stage } }: { readonly row: ListedResource }) {
  const known = explainReasonCode(reasonCode);
  return (
    <KeyValues
      rows={[
        [
          'What the reason means',
          known ? `${known.meaning} (${known.network} ${reasonCode})` : unknownCode(reasonCode),
        ],
        ...(known
          ? ([
              ['Evidence that helps', known.helps],
              ['Fields for it', known.fields.join(', ').replaceAll('_', ' ')],
            ] as const)
          : []),
        [
          'What the stage means',
          STAGE_MEANINGS[stage ?? ''] ?? 'The stage is unknown. Your acquirer knows it.',
        ],
      ]}
    />
  );
}

function unknownCode(code: string | null): string {
  return code === null
    ? 'The service sent no reason code. Your acquirer knows it.'
    : `Tallyhook does not know the code ${code}. Your acquirer can explain it.`;
}

export interface StakeProps {
  readonly row: ListedResource;
  /** The payment and all of its refunds and disputes. */
  readonly parts: readonly OrderPart[];
}

export function AtStake({ row: { amountMinor, currency }, parts }: StakeProps) {
  const total = deriveOrder(parts).totals.find((one) => one.currency === currency);
  const money = (minor: number | null | undefined) => (
    <Money amountMinor={minor ?? null} currency={currency} />
  );
  const isRefunded = total !== undefined && total.refundedMinor + total.refundPendingMinor > 0;
  return (
    <Section title="At stake">
      <KeyValues
        rows={[
          ['Disputed', money(amountMinor)],
          ['Captured of the payment', money(total?.capturedMinor)],
          ['Refunded already', money(total?.refundedMinor)],
          ['Refunds pending', money(total?.refundPendingMinor)],
          ['Fee of the bank', 'Unknown: the service does not send it. Your acquirer knows it.'],
        ]}
      />
      {isRefunded ? (
        <p class="warn">
          The customer got a refund besides. If it covers what is disputed, submit the refund as
          evidence: otherwise the customer gets the money twice.
        </p>
      ) : null}
    </Section>
  );
}

/** Contest or accept, with the consequence of each. */
export function DisputeChoice({
  row,
  viewer,
}: Pick<StakeProps, 'row'> & { readonly viewer: Viewer }) {
  const { amountMinor, currency, id, stage } = row;
  if (!isUndecided(row) || amountMinor === null || currency === null) return null;
  return (
    <Section title="Contest or accept">
      {viewer.may(acceptDispute.permission) ? (
        <p>
          <a href={evidenceHref(id)}>Submit evidence</a>. The bank then decides. If it decides for
          you, the amount is yours again.
        </p>
      ) : null}
      <ActionForm
        viewer={viewer}
        action={acceptDispute}
        params={{ dispute_id: id }}
        label="Accept the dispute"
        isDangerous
      >
        <p>
          Accepting gives up <Money amountMinor={amountMinor} currency={currency} /> for good. It
          stays with the customer.
        </p>
        <Hidden name="expected_amount" value={String(amountMinor)} />
        <Hidden name="currency" value={currency} />
        <Hidden name="stage" value={stage ?? ''} />
        <Field
          name="amount"
          label={`Type the amount in ${currency} to confirm`}
          required
          hint={formatAmount(amountMinor, currency)}
        />
        <Reason />
      </ActionForm>
    </Section>
  );
}
