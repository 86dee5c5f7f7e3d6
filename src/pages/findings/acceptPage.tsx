/** Several findings at once: the plan with their number and sums, and the acceptance. */
import { z } from 'zod';
import { acceptFindingsAs, type RefusedAcceptance } from '../../actions/acceptFinding.ts';
import { acceptFindings as acceptEndpoint } from '../../console/routes/findings.ts';
import { number, reasonGiven } from '../../console/schemas.ts';
import { findingMeaning } from '../../ledger/domain/findings.ts';
import {
  type FindingPlan,
  type FindingSum,
  MAX_ACCEPTED,
  type PlannedFinding,
  planAcceptance,
} from '../../ledger/read/findingPlan.ts';
import { groupBy } from '../../platform/collections.ts';
import { counted } from '../../platform/counted.ts';
import { notAcceptedText } from '../../representation/finding.ts';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import { ActionForm, Check, Hidden, Reason } from '../components/forms.tsx';
import { Id, Money, Time } from '../components/values.tsx';
import { findingHref, findingsHref, subjectHref } from '../links.ts';
import { defineAction, definePage, type PageView, type Viewer } from '../page.ts';
import { shownList } from '../shownList.ts';
import { detailDigest, findingClass, findingSubject } from './findingFilter.ts';

const next = shownList(findingsHref());

const listCrumb = (list: string) => ({ label: 'Findings', href: list });

/** Findings of a form or an address: one number, or a list. */
const chosenNumbers = z
  .union([number, z.array(number).max(MAX_ACCEPTED)], { error: 'must name one finding or more' })
  .transform((value) => [value].flat());

/** A finding as the plan shows it: its number, and the digest of its facts. */
const plannedFinding = z
  .string()
  .transform((text): unknown[] => text.split(':'))
  .pipe(z.tuple([number, detailDigest]))
  .transform(([place, digest]) => ({ number: place, digest }));

export const acceptFindingsPage = definePage({
  path: '/findings/accept',
  permission: acceptEndpoint.permission,
  params: z.strictObject({}),
  query: z.strictObject({
    finding: chosenNumbers.optional(),
    class: findingClass.optional(),
    subject: findingSubject.optional(),
    next,
  }),
  load: async ({ db }, { query }) => {
    const choice = { numbers: query.finding, findingClass: query.class, subject: query.subject };
    const plan = await planAcceptance(db, choice);
    return { outcome: 'ok', data: { plan, chosen: query.finding?.length, list: query.next } };
  },
  view: ({ plan, chosen, list }, viewer) => ({
    title: 'Accept findings',
    crumbs: [listCrumb(list)],
    body:
      plan.findings.length === 0 ? (
        <p class="empty">No open finding matches. Go back to the list and choose others.</p>
      ) : (
        <Plan plan={plan} chosen={chosen} list={list} viewer={viewer} />
      ),
  }),
});

function Plan({
  plan,
  chosen,
  list,
  viewer,
}: {
  readonly plan: FindingPlan;
  /** How many were chosen by number. */
  readonly chosen: number | undefined;
  readonly list: string;
  readonly viewer: Viewer;
}) {
  const { findings } = plan;
  const count = counted(findings.length, 'finding');
  return (
    <>
      <p class="headline">{`${count} will be accepted.`}</p>
      {chosen !== undefined && chosen > findings.length ? (
        <p class="notice warn">{`${chosen - findings.length} of those that you chose are not open anymore.`}</p>
      ) : null}
      {plan.isComplete ? null : (
        <p class="notice warn">{`These are the newest ${MAX_ACCEPTED} of the filter. Accept the others after them.`}</p>
      )}
      <Sums plan={plan} />
      <p>
        Accepted findings no longer count as differences, and their alerts are resolved. Nothing is
        repaired by it. A finding counts again if its facts change.
      </p>
      <ActionForm viewer={viewer} action={acceptSeveral} label="Accept">
        {findings.map(({ id, digest }) => (
          <Hidden key={id} name="finding" value={`${id}:${digest}`} />
        ))}
        <Hidden name="next" value={list} />
        <Reason />
        <Check name="confirmed" value="yes" required label={`Accept ${count}`} />
      </ActionForm>
      <Section title="What they are">
        {[...groupBy(findings, (finding) => finding.class)].map(([name, rows]) => (
          <OfClass key={name} name={name} rows={rows} />
        ))}
      </Section>
    </>
  );
}

/** So that a page of many stays small. */
const SHOWN_PER_CLASS = 20;

function OfClass({
  name,
  rows,
}: {
  readonly name: string;
  readonly rows: readonly PlannedFinding[];
}) {
  const shown = rows.slice(0, SHOWN_PER_CLASS);
  return (
    <>
      <DataTable
        caption={`${name} (${rows.length}): ${findingMeaning(name)}`}
        columns={PLANNED}
        rows={shown}
        keyOf={({ id }) => String(id)}
        empty=""
      />
      {rows.length === shown.length ? null : (
        <p>
          {`And ${rows.length - shown.length} more: `}
          <a href={findingsHref({ class: name })}>all open findings of this class</a>
        </p>
      )}
    </>
  );
}

function Sums({ plan: { sums, withoutAmount } }: { readonly plan: FindingPlan }) {
  return (
    <>
      <DataTable
        caption="The amounts that they are about"
        columns={SUMS}
        rows={sums}
        keyOf={({ currency }) => currency}
        empty="None of them is about an amount."
      />
      {withoutAmount === 0 || sums.length === 0 ? null : (
        <p>{`${counted(withoutAmount, 'finding')} without an amount.`}</p>
      )}
    </>
  );
}

const SUMS: readonly Column<FindingSum>[] = [
  { title: 'Currency', cell: ({ currency }) => currency },
  { title: 'Findings', isNumber: true, cell: ({ findings }) => findings },
  {
    title: 'Sum',
    isNumber: true,
    cell: ({ amountMinor, currency }) => <Money amountMinor={amountMinor} currency={currency} />,
  },
];

const UNKNOWN_AMOUNT = { amountMinor: null, currency: null };

const PLANNED: readonly Column<PlannedFinding>[] = [
  { title: 'Finding', cell: ({ id }) => <a href={findingHref(id)}>{id}</a> },
  { title: 'About', cell: ({ subject }) => <Id id={subject} href={subjectHref(subject)} /> },
  {
    title: 'Amount',
    isNumber: true,
    cell: ({ amounts }) =>
      (amounts.length === 0 ? [UNKNOWN_AMOUNT] : amounts).map((amount) => (
        <div>
          <Money {...amount} />
        </div>
      )),
  },
  { title: 'Opened', cell: ({ openedAt }) => <Time at={openedAt} /> },
];

export const acceptSeveral = defineAction({
  path: '/findings/accept',
  permission: acceptEndpoint.permission,
  params: z.strictObject({}),
  form: z.strictObject({
    finding: z
      .union([plannedFinding, z.array(plannedFinding).max(MAX_ACCEPTED)], {
        error: 'must name one finding or more, with the facts that were shown',
      })
      .transform((value) => [value].flat()),
    confirmed: z.literal('yes', 'check the box to confirm'),
    reason: reasonGiven,
    next,
  }),
  act: async ({ db }, { form: { finding: findings, reason, next }, actor }) => {
    const { accepted, refused } = await acceptFindingsAs({ db }, actor, { findings, reason });
    const notice = `${counted(accepted.length, 'finding')} accepted.`;
    if (refused.length === 0) return { outcome: 'done', to: next, notice };
    return { outcome: 'shown', view: () => resultView(notice, refused, next) };
  },
});

function resultView(notice: string, refused: readonly RefusedAcceptance[], list: string): PageView {
  return {
    title: 'Accepted findings',
    crumbs: [listCrumb(list)],
    body: (
      <>
        <p class="headline warn">{`${notice} ${refused.length} refused.`}</p>
        <DataTable
          caption="Refused"
          columns={REFUSED}
          rows={refused}
          keyOf={(one) => String(one.number)}
          empty=""
        />
        <p>
          <a href={list}>Back to the list</a>
        </p>
      </>
    ),
  };
}

const REFUSED: readonly Column<RefusedAcceptance>[] = [
  { title: 'Finding', cell: ({ number: place }) => <a href={findingHref(place)}>{place}</a> },
  { title: 'Reason', cell: (one) => notAcceptedText(one.number, one.outcome) },
];
