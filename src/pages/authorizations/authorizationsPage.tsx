/** Open authorizations by deadline, and the page that confirms what is captured or released. */
import { z } from 'zod';
import {
  type OpenAuthorization,
  readOpenAuthorizations,
} from '../../authorizations/store/openAuthorizations.ts';
import { cursor } from '../../console/schemas.ts';
import { sumExactly } from '../../contract/money.ts';
import { CAPTURABLE_STATUSES } from '../../contract/statuses.ts';
import { groupBy } from '../../platform/collections.ts';
import { counted } from '../../platform/counted.ts';
import { DAY_MS } from '../../platform/time.ts';
import { cutPage, readCursor, timePlace } from '../../representation/cursor.ts';
import { timeLeftText } from '../../representation/time.ts';
import { type Column, DataTable, Pager, Section } from '../components/blocks.tsx';
import { ActionForm, Check, Field, Hidden, Reason, RowsForm } from '../components/forms.tsx';
import { Badge, Id, Money, Time } from '../components/values.tsx';
import { authorizationsHref, confirmHoldsHref, resourceHref } from '../links.ts';
import { definePage, type Viewer } from '../page.ts';
import { OrderLink } from '../resources/columns.tsx';
import { shownList } from '../shownList.ts';
import { captureHolds, releaseHolds } from './authorizationActions.ts';
import { type Hold, holdsField, holdValue, MAX_HOLDS } from './holds.ts';

const PAGE_SIZE = 50;
const DAYS = 7;
/** Of the next days; more are counted as "1,000+". */
const MAX_COUNTED = 1_000;

export const authorizationsPage = definePage({
  path: '/authorizations',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({ cursor }),
  load: async ({ db, clock }, { query }) => {
    const from = readCursor(query.cursor, timePlace);
    if (from.outcome !== 'read') return from;
    const [deadline = '', paymentId = ''] = from.place ?? [];
    const statuses = [...CAPTURABLE_STATUSES];
    const rows = await readOpenAuthorizations(db, {
      statuses,
      after: from.place ? { deadlineAt: new Date(deadline), paymentId } : undefined,
      dueBefore: undefined,
      limit: PAGE_SIZE + 1,
    });
    const soon = await readOpenAuthorizations(db, {
      statuses,
      after: undefined,
      dueBefore: new Date(clock.nowMs() + DAYS * DAY_MS),
      limit: MAX_COUNTED,
    });
    const placeOf = (row: OpenAuthorization) => [row.deadlineAt.toISOString(), row.paymentId];
    return { outcome: 'ok', data: { ...cutPage(rows, PAGE_SIZE, placeOf), soon, query } };
  },
  topics: () => ['ledger'],
  view: ({ shown, next, soon, query }, viewer) => ({
    title: 'Authorizations',
    body: (
      <>
        <TimeLine soon={soon} nowMs={viewer.nowMs} />
        <RowsForm action={confirmHoldsHref()}>
          <Hidden name="next" value={authorizationsHref({ cursor: query.cursor })} />
          <DataTable
            caption="Authorizations that can still be captured, nearest deadline first"
            columns={
              viewer.may(captureHolds.permission)
                ? columns(viewer).toSpliced(1, 0, SELECT)
                : columns(viewer)
            }
            rows={shown}
            keyOf={({ paymentId }) => paymentId}
            empty="No authorization is open. Payments with manual capture appear here until they are captured or released."
          />
          {shown.length > 0 ? <Choice viewer={viewer} /> : null}
        </RowsForm>
        <Pager
          first={query.cursor === undefined ? undefined : authorizationsHref()}
          next={next === null ? undefined : authorizationsHref({ cursor: next })}
        />
      </>
    ),
  }),
});

function Choice({ viewer }: { readonly viewer: Viewer }) {
  if (!viewer.may(captureHolds.permission)) {
    return <p>Your role may not capture or release. The roles treasurer and admin may.</p>;
  }
  return (
    <p>
      {`Select up to ${MAX_HOLDS}. The next page shows the sum and lets you confirm. `}
      <button type="submit" name="action" value="capture">
        Capture the selected
      </button>{' '}
      <button type="submit" name="action" value="cancel">
        Release the selected
      </button>
    </p>
  );
}

const columns = (viewer: Viewer): readonly Column<OpenAuthorization>[] => [
  {
    title: 'Payment',
    cell: ({ paymentId }) => <Id id={paymentId} href={resourceHref('payment', paymentId)} />,
  },
  { title: 'Order', cell: ({ orderKey }) => <OrderLink orderKey={orderKey} /> },
  { title: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
  {
    title: 'Can be captured',
    isNumber: true,
    cell: ({ capturableMinor, currency }) => (
      <Money amountMinor={capturableMinor} currency={currency} />
    ),
  },
  { title: 'Capture before', cell: ({ deadlineAt }) => <Time at={deadlineAt} isRelative /> },
  {
    title: 'Time left',
    cell: ({ deadlineAt }) => timeLeftText(deadlineAt.getTime() - viewer.nowMs) ?? PASSED,
  },
];

const SELECT: Column<OpenAuthorization> = {
  title: 'Select',
  cell: ({ paymentId, capturableMinor: amountMinor, currency }) => (
    <Check
      name="hold"
      value={holdValue({ paymentId, amountMinor, currency })}
      label={<span class="hidden">{`Select ${paymentId}`}</span>}
    />
  ),
};

const PASSED = 'the deadline passed';

/** How many holds expire today and on each of the next seven days, and their sums. */
function TimeLine({
  soon,
  nowMs,
}: {
  readonly soon: readonly OpenAuthorization[];
  readonly nowMs: number;
}) {
  const dayOf = ({ deadlineAt }: OpenAuthorization) =>
    new Date(Math.max(deadlineAt.getTime(), nowMs)).toISOString().slice(0, 10);
  const byDay = groupBy(soon, dayOf);
  const days = Array.from({ length: DAYS + 1 }, (_, day) =>
    new Date(nowMs + day * DAY_MS).toISOString().slice(0, 10),
  );
  return (
    <Section title="Today and the next seven days (UTC)">
      <ol class="days">
        {days.map((day) => (
          <li key={day}>
            <strong>{day}</strong> <Sums holds={(byDay.get(day) ?? []).map(holdOf)} />
          </li>
        ))}
      </ol>
      {soon.length === MAX_COUNTED ? <p>Only the nearest 1,000 are counted.</p> : null}
    </Section>
  );
}

function holdOf({ paymentId, capturableMinor, currency }: OpenAuthorization): Hold {
  return { paymentId, amountMinor: capturableMinor, currency };
}

/** The number of holds, and their sum in each currency. */
function Sums({ holds }: { readonly holds: readonly Hold[] }) {
  if (holds.length === 0) return <span>none</span>;
  return (
    <span>
      {`${counted(holds.length, 'hold')}: `}
      {[...groupBy(holds, ({ currency }) => currency)].map(([currency, own], place) => (
        <span key={currency}>
          {place === 0 ? '' : ', '}
          <Money
            amountMinor={sumExactly(own.map(({ amountMinor }) => amountMinor))}
            currency={currency}
          />
        </span>
      ))}
    </span>
  );
}

export const confirmHoldsPage = definePage({
  path: '/authorizations/confirm',
  permission: 'move_money',
  params: z.strictObject({}),
  query: z.strictObject({
    action: z.enum(['capture', 'cancel']),
    hold: holdsField.optional(),
    next: shownList(authorizationsHref()),
  }),
  load: (_parts, { query: { action, hold: holds, next } }) => {
    if (holds) return Promise.resolve({ outcome: 'ok', data: { action, holds, next } });
    const message = 'No authorization was selected. Go back and select at least one.';
    return Promise.resolve({ outcome: 'invalid', message });
  },
  view: ({ action, holds, next }, viewer) => ({
    title: action === 'capture' ? 'Capture authorizations' : 'Release authorizations',
    crumbs: [{ label: 'Authorizations', href: authorizationsHref() }],
    body: (
      <>
        <DataTable
          caption="What you selected"
          rows={holds}
          keyOf={({ paymentId }) => paymentId}
          empty="Nothing was selected."
          columns={[
            {
              title: 'Payment',
              cell: ({ paymentId }) => (
                <Id id={paymentId} href={resourceHref('payment', paymentId)} />
              ),
            },
            {
              title: 'Amount',
              isNumber: true,
              cell: ({ amountMinor, currency }) => (
                <Money amountMinor={amountMinor} currency={currency} />
              ),
            },
          ]}
        />
        <p>
          Tallyhook retrieves each payment first, and does nothing where the service has another
          amount.
        </p>
        <ConfirmForm action={action} holds={holds} next={next} viewer={viewer} />
      </>
    ),
  }),
});

function ConfirmForm({
  action,
  holds,
  next,
  viewer,
}: {
  readonly action: 'capture' | 'cancel';
  readonly holds: readonly Hold[];
  readonly next: string;
  readonly viewer: Viewer;
}) {
  const isCapture = action === 'capture';
  return (
    <ActionForm
      viewer={viewer}
      action={isCapture ? captureHolds : releaseHolds}
      label={isCapture ? 'Capture' : 'Release'}
      isDangerous
    >
      {holds.map((hold) => (
        <input key={hold.paymentId} type="hidden" name="hold" value={holdValue(hold)} />
      ))}
      <Hidden name="next" value={next} />
      {isCapture && holds.length === 1 ? (
        <Field
          name="amount"
          label="Amount to capture"
          hint="Leave it empty to capture all of it."
        />
      ) : null}
      <Reason />
      <Check
        name="confirmed"
        value="yes"
        required
        label={
          <>
            {isCapture ? 'Capture ' : 'Release '}
            <Sums holds={holds} />
          </>
        }
      />
    </ActionForm>
  );
}
