/** The form that pays a failed payout again: to the stored account, or to details that a person types. */
import { z } from 'zod';
import { readPaidAgain } from '../../actions/retryPayout.ts';
import { id } from '../../console/schemas.ts';
import { isUndonePayout } from '../../contract/reasons.ts';
import type { Payout } from '../../contract/resources/payout.ts';
import { reasonDetailOf } from '../../ledger/domain/reasonDetail.ts';
import { type ListedResource, readListedResource } from '../../ledger/read/store/resourceList.ts';
import {
  likelyMethod,
  methodsOf,
  TYPED_METHOD_NAMES,
  TYPED_METHODS,
  type TypedMethodName,
} from '../../payouts/domain/methods.ts';
import { againReference } from '../../payouts/domain/payAgain.ts';
import { KeyValues, Section } from '../components/blocks.tsx';
import { ActionForm, Field, Hidden, Reason } from '../components/forms.tsx';
import { Id, Money } from '../components/values.tsx';
import { resourceHref, resourcesHref, retryPayoutHref } from '../links.ts';
import { NO_KEY_OF_SERVICE } from '../noKeyOfService.ts';
import { definePage, type Viewer } from '../page.ts';
import { ConfirmAmount } from './PayoutParts.tsx';
import { retryPayout } from './payoutActions.ts';

interface RetryData {
  readonly row: ListedResource;
  /** Undefined: the service does not show it, because of `notShown`. */
  readonly payout: Payout | undefined;
  readonly notShown: string | undefined;
  /** The typed method that was chosen; undefined: none was. */
  readonly chosen: TypedMethodName | undefined;
}

export const retryPage = definePage({
  path: '/payouts/{id}/retry',
  permission: 'move_money',
  params: z.strictObject({ id }),
  query: z.strictObject({ to: z.enum(TYPED_METHOD_NAMES).optional() }),
  load: async ({ db, payouts }, { params, query: { to: chosen } }) => {
    const row = await readListedResource(db, { kind: 'payout', id: params.id });
    if (!row) {
      const message = `No payout has the id ${JSON.stringify(params.id)}.`;
      return { outcome: 'not_found', message };
    }
    const paidAgainBy = await readPaidAgain(db, row.id);
    if (paidAgainBy !== undefined) {
      return { outcome: 'conflict', message: `${row.id} was paid again, as ${paidAgainBy}.` };
    }
    const read = await payouts?.service.read(row.id);
    const payout = read?.outcome === 'read' ? read.payout : undefined;
    const status = payout?.status ?? row.status;
    if (!isUndonePayout(status)) {
      return {
        outcome: 'conflict',
        message: `${row.id} is ${status}: there is nothing to pay again.`,
      };
    }
    const notShown = read?.outcome === 'failed' ? read.reason : NO_KEY_OF_SERVICE;
    return {
      outcome: 'ok',
      data: { row, payout, notShown: payout ? undefined : notShown, chosen },
    };
  },
  view: (data, viewer) => ({
    title: `Pay ${data.row.id} again`,
    crumbs: [
      { label: 'Payouts', href: resourcesHref('payout') },
      { label: data.row.id, href: resourceHref('payout', data.row.id) },
    ],
    body: <RetryBody data={data} viewer={viewer} />,
  }),
});

/** Every text of the method, by its name: account numbers are masked by the service. */
function shownDetails(data: unknown): readonly (readonly [name: string, value: string])[] {
  if (typeof data !== 'object' || data === null) return [];
  return Object.entries(data).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : shownDetails(value),
  );
}

interface BodyProps {
  readonly data: RetryData;
  readonly viewer: Viewer;
}

function RetryBody({ data, viewer }: BodyProps) {
  const { row, payout, notShown } = data;
  const shown = shownDetails(payout?.payout_method_data);
  const reason = reasonDetailOf(row);
  return (
    <>
      <p>
        Creates a new payout of <Money amountMinor={row.amountMinor} currency={row.currency} />.
        Correct the cause of the failure first.
      </p>
      <KeyValues
        rows={[
          ['Failed payout', <Id key="id" id={row.id} href={resourceHref('payout', row.id)} />],
          ['Why it failed', reason?.errorMessage ?? reason?.message ?? 'not stated'],
          ['Type', payout?.payout_type ?? 'not stated'],
          ...shown.map(
            ([name, value]) => [`It went to: ${name.replaceAll('_', ' ')}`, value] as const,
          ),
        ]}
      />
      {payout === undefined ? (
        <p class="problem">
          {`The service does not show to which account it went (${notShown}). Nothing can be paid from here until it does.`}
        </p>
      ) : (
        <Destination
          data={data}
          payout={payout}
          names={shown.map(([name]) => name)}
          viewer={viewer}
        />
      )}
    </>
  );
}

interface DestinationProps extends BodyProps {
  readonly payout: Payout;
  /** The fields of the account that the service shows. */
  readonly names: readonly string[];
}

function Destination({ data, payout, names, viewer }: DestinationProps) {
  const { payout_id: payoutId, amount: amountMinor, currency, payout_method_id: storedId } = payout;
  const methods = methodsOf(payout.payout_type);
  const usesStored = storedId && data.chosen === undefined;
  const typed = data.chosen ?? likelyMethod(methods, names);
  if (typeof amountMinor !== 'number' || !currency) return <p>Its amount is unknown.</p>;
  return (
    <Section title={usesStored ? 'To the stored account' : 'To which account'}>
      {!usesStored && typed === undefined ? (
        <p>
          {`The service has no stored account for it, and a card number must not be typed here. Create the new payout in your shop, with the reference ${againReference(payoutId)}.`}
        </p>
      ) : (
        <ActionForm
          viewer={viewer}
          action={retryPayout}
          params={{ payout_id: payoutId }}
          label="Pay again"
          isDangerous
        >
          {usesStored ? (
            <p>
              The service has the account stored as <Id id={storedId} />. Nothing needs to be typed.
            </p>
          ) : (
            <MethodFields name={typed} />
          )}
          <Hidden name="expected_amount" value={String(amountMinor)} />
          <Hidden name="currency" value={currency} />
          <ConfirmAmount amountMinor={amountMinor} currency={currency} />
          <Reason />
        </ActionForm>
      )}
      <OtherMethods payoutId={payoutId} names={methods} current={usesStored ? undefined : typed} />
      {storedId && !usesStored ? (
        <p>
          <a href={retryPayoutHref(payoutId)}>Use the stored account</a>
        </p>
      ) : null}
    </Section>
  );
}

function MethodFields({ name }: { readonly name: TypedMethodName | undefined }) {
  if (name === undefined) return null;
  const { label, fields } = TYPED_METHODS[name];
  return (
    <>
      <p>{`${label}. What you type is sent to the service and is not stored in Tallyhook.`}</p>
      <Hidden name="method" value={name} />
      {fields.map((field) => (
        <Field key={field.name} name={field.name} label={field.label} required={field.isRequired} />
      ))}
    </>
  );
}

function OtherMethods({
  payoutId,
  names,
  current,
}: {
  readonly payoutId: string;
  readonly names: readonly TypedMethodName[];
  readonly current: TypedMethodName | undefined;
}) {
  const others = names.filter((name) => name !== current);
  if (others.length === 0) return null;
  return (
    <p class="choices">
      {'Another account: '}
      {others.map((name) => (
        <a key={name} href={retryPayoutHref(payoutId, name)}>
          {TYPED_METHODS[name].label}
        </a>
      ))}
    </p>
  );
}
