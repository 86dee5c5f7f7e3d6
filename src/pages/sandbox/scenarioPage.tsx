/** One scenario: what happens, what to watch, and what service and ledger have of the order it played. */
import { z } from 'zod';
import { SCENARIO_NAMES, SCENARIOS, type ScenarioName } from '../../demo/scenarios.ts';
import { type Watched, watchRecent } from '../../demo/watch.ts';
import { Section } from '../components/blocks.tsx';
import { ActionForm } from '../components/forms.tsx';
import {
  alertsHref,
  findingsHref,
  inboxHref,
  orderHref,
  sandboxHref,
  scenarioHref,
} from '../links.ts';
import { definePage, type Viewer } from '../page.ts';
import { isOffered, playScenario, reconcileSandbox } from './sandboxActions.ts';
import { fromSandbox } from './sandboxPage.tsx';
import { WatchTable } from './WatchTable.tsx';

const SHOWN = 20;

export const scenarioPage = definePage({
  path: '/sandbox/scenarios/{scenario}',
  permission: 'read',
  isOffered,
  params: z.strictObject({ scenario: z.enum(SCENARIO_NAMES) }),
  query: z.strictObject({ order: z.string().max(255).optional() }),
  load: (parts, { params: { scenario }, query: { order: orderId } }) =>
    fromSandbox(parts, async ({ control }, db) => ({
      name: scenario,
      orderId,
      rows:
        orderId === undefined ? [] : await watchRecent({ control, db }, { orderId, limit: SHOWN }),
    })),
  // What only the sandbox knows moves nothing; the next change of the ledger, or Refresh, shows it.
  topics: () => ['ledger', 'inbox', 'runs'],
  view: ({ name, orderId, rows }, viewer) => ({
    title: SCENARIOS[name].title,
    crumbs: [{ label: 'Sandbox', href: sandboxHref() }],
    body: (
      <>
        <p class="lead">{SCENARIOS[name].summary}</p>
        {orderId === undefined ? null : (
          <Played name={name} orderId={orderId} rows={rows} viewer={viewer} />
        )}
        <Section title={orderId === undefined ? 'What happens' : 'What happened'}>
          <List lines={SCENARIOS[name].steps} />
        </Section>
        <Section title="What to watch">
          <List lines={SCENARIOS[name].watch} />
        </Section>
        <ActionForm
          viewer={viewer}
          action={playScenario}
          params={{ scenario: name }}
          label={orderId === undefined ? 'Play' : 'Play it again'}
        />
      </>
    ),
  }),
});

function List({ lines }: { readonly lines: readonly string[] }) {
  return (
    <ol>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ol>
  );
}

interface PlayedProps {
  readonly name: ScenarioName;
  readonly orderId: string;
  readonly rows: readonly Watched[];
  readonly viewer: Viewer;
}

function Played({ name, orderId, rows, viewer }: PlayedProps) {
  const isEqual = rows.every(({ differences }) => differences.length === 0);
  const isPayout = rows.every(({ kind }) => kind === 'payout');
  const canReconcile = SCENARIOS[name].needsReconciliation && !isEqual;
  return (
    <>
      <Verdict rows={rows} />
      {canReconcile ? (
        <ActionForm viewer={viewer} action={reconcileSandbox} label="Reconcile now">
          <input type="hidden" name="back" value={name} />
          <input type="hidden" name="order" value={orderId} />
        </ActionForm>
      ) : null}
      <WatchTable
        rows={rows}
        viewer={viewer}
        scenario={{ name, orderId }}
        caption={`Order ${orderId}, newest first`}
        empty="The sandbox has nothing of this order, or it is older than its newest 1,000 events."
      />
      <p class="links">
        <a href={scenarioHref(name, orderId)}>Refresh</a>
        {isPayout || !rows.some(({ ledger }) => ledger) ? null : (
          <a href={orderHref(orderId)}>Order in the ledger</a>
        )}
        <a href={alertsHref()}>Alerts</a>
        <a href={findingsHref()}>Findings</a>
        <a href={inboxHref()}>Inbox</a>
      </p>
    </>
  );
}

function Verdict({ rows }: { readonly rows: readonly Watched[] }) {
  const different = rows.filter(({ differences }) => differences.length > 0).length;
  if (rows.length === 0) return null;
  return different === 0 ? (
    <p class="headline good">The ledger equals the service, to the cent.</p>
  ) : (
    <p class="headline bad">
      {`The ledger differs from the service in ${different} of ${rows.length}.`}
    </p>
  );
}
