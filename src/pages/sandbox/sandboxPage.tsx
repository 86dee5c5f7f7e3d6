/** The sandbox: scenarios of one click, what the ledger makes of them, and everything to build your own. */
import { z } from 'zod';
import {
  FAULT_NAMES,
  type FaultShares,
  NAMED_FAULTS,
  type NamedFault,
  sharesOf,
} from '../../demo/namedFaults.ts';
import { CAPTURES, OUTCOMES } from '../../demo/play.ts';
import { SCENARIO_NAMES, SCENARIOS } from '../../demo/scenarios.ts';
import type { Shop } from '../../demo/shop.ts';
import { type Watched, watchRecent } from '../../demo/watch.ts';
import type { Database } from '../../platform/db/database.ts';
import { toError } from '../../platform/errors.ts';
import { MINUTE_MS } from '../../platform/time.ts';
import { Section } from '../components/blocks.tsx';
import { ActionForm, Field, Select } from '../components/forms.tsx';
import { Badge, Time } from '../components/values.tsx';
import { sandboxHref, scenarioHref } from '../links.ts';
import { definePage, type Loaded, type PageParts, type Viewer } from '../page.ts';
import { CLOCK_STEPS, SANDBOX_CURRENCIES, SHARES } from './choices.ts';
import {
  advanceClock,
  endFaults,
  isOffered,
  payInSandbox,
  payOutInSandbox,
  playScenario,
  setFaults,
} from './sandboxActions.ts';
import { WatchTable } from './WatchTable.tsx';

/** How many resources the page shows. */
const SHOWN = 12;

interface SandboxData {
  readonly rows: readonly Watched[];
  readonly shares: FaultShares;
  readonly clock: { readonly now: string; readonly aheadMs: number };
}

export const sandboxPage = definePage({
  path: '/sandbox',
  permission: 'read',
  isOffered,
  params: z.strictObject({}),
  query: z.strictObject({}),
  load: (parts) =>
    fromSandbox(parts, async ({ control }, db): Promise<SandboxData> => {
      const [rows, faults, clock] = await Promise.all([
        watchRecent({ control, db }, { limit: SHOWN }),
        control.faults(),
        control.clock(),
      ]);
      return { rows, shares: sharesOf(faults), clock };
    }),
  // What only the sandbox knows moves nothing; the next change of the ledger, or Refresh, shows it.
  topics: () => ['ledger', 'inbox', 'runs'],
  view: (data, viewer) => ({
    title: 'Sandbox',
    body: (
      <>
        <p class="lead">
          No real money moves here. Choose a scenario, or build your own below, and watch what the
          ledger makes of it.
        </p>
        <ActiveFaults shares={data.shares} viewer={viewer} />
        <Scenarios viewer={viewer} />
        <Section title="Service and ledger">
          <WatchTable
            rows={data.rows}
            viewer={viewer}
            caption={`What changed last, at most ${SHOWN}, newest first`}
            empty="Nothing has happened yet. Play a scenario, or place a payment."
          />
          <p>
            <a href={sandboxHref()}>Refresh</a>
          </p>
        </Section>
        <Place viewer={viewer} />
        <Faults shares={data.shares} viewer={viewer} />
        <Clock clock={data.clock} viewer={viewer} />
      </>
    ),
  }),
});

/** Reads from the sandbox; a problem that states what to do if it does not answer. */
export async function fromSandbox<Data>(
  { db, sandbox }: PageParts,
  read: (shop: Shop, db: Database) => Promise<Data>,
): Promise<Loaded<Data>> {
  if (!sandbox) return { outcome: 'not_found', message: 'No sandbox runs in this installation.' };
  try {
    return { outcome: 'ok', data: await read(sandbox, db) };
  } catch (error) {
    const message =
      `The sandbox does not respond (${toError(error).message}). Start it with npx tallyhook sandbox, ` +
      'and reload the page.';
    return { outcome: 'unavailable', message };
  }
}

interface ViewerProps {
  readonly viewer: Viewer;
}

interface FaultsProps extends ViewerProps {
  readonly shares: FaultShares;
}

function ActiveFaults({ shares, viewer }: FaultsProps) {
  const active = FAULT_NAMES.filter((name) => shares[name] > 0);
  if (active.length === 0) return null;
  return (
    <div class="notice">
      <p>
        Faults are on:{' '}
        {active.map((name) => `${NAMED_FAULTS[name].title.toLowerCase()}`).join(', ')}.
      </p>
      <ActionForm viewer={viewer} action={endFaults} label="End all faults" />
    </div>
  );
}

function Scenarios({ viewer }: ViewerProps) {
  return (
    <Section title="Scenarios">
      <ul class="cards">
        {SCENARIO_NAMES.map((name) => (
          <li key={name}>
            <h3>
              <a href={scenarioHref(name)}>{SCENARIOS[name].title}</a>
            </h3>
            <p>{SCENARIOS[name].summary}</p>
            <PlayButton name={name} viewer={viewer} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function PlayButton({
  name,
  viewer,
}: ViewerProps & { readonly name: (typeof SCENARIO_NAMES)[number] }) {
  if (!viewer.may(playScenario.permission)) return null;
  return (
    <ActionForm viewer={viewer} action={playScenario} params={{ scenario: name }} label="Play" />
  );
}

const options = (named: Readonly<Record<string, string | { readonly label: string }>>) =>
  Object.entries(named).map(([value, one]) => ({
    value,
    label: typeof one === 'string' ? one : one.label,
  }));

function Place({ viewer }: ViewerProps) {
  return (
    <>
      <Section title="Place a payment">
        <ActionForm viewer={viewer} action={payInSandbox} label="Place the payment">
          <Select name="outcome" label="Payment" options={options(OUTCOMES)} />
          <Select name="capture" label="Captured" options={options(CAPTURES)} />
          <Purchase />
        </ActionForm>
      </Section>
      <Section title="Send a payout">
        <ActionForm viewer={viewer} action={payOutInSandbox} label="Send the payout">
          <Purchase />
        </ActionForm>
      </Section>
    </>
  );
}

function Purchase() {
  return (
    <>
      <Field name="amount" label="Amount" value="54" required />
      <Select name="currency" label="Currency" options={SANDBOX_CURRENCIES} />
      <Field name="order_id" label="Order (empty: a new one)" />
    </>
  );
}

function Faults({ shares, viewer }: FaultsProps) {
  return (
    <Section title="Faults">
      <p>
        A fault changes what the service sends, never what it has stored. It applies to what happens
        after you set it.
      </p>
      {viewer.may(setFaults.permission) ? (
        <ActionForm viewer={viewer} action={setFaults} label="Set the faults">
          <div class="faults">
            {FAULT_NAMES.map((name) => (
              <FaultField key={name} name={name} fault={NAMED_FAULTS[name]} share={shares[name]} />
            ))}
          </div>
        </ActionForm>
      ) : (
        <ActionForm viewer={viewer} action={setFaults} label="Set faults" />
      )}
    </Section>
  );
}

interface FaultFieldProps {
  readonly name: string;
  readonly fault: NamedFault;
  readonly share: number;
}

function FaultField({ name, fault, share }: FaultFieldProps) {
  const value = String(share);
  const isListed = SHARES.some((one) => one.value === value);
  return (
    <div class="fault">
      <Select
        name={name}
        label={fault.title}
        value={value}
        options={SHARES}
        {...(!isListed && { any: `${Math.round(share * 100)} % (unchanged)` })}
      />
      <p>
        {share > 0 ? <Badge tone="warn">on</Badge> : null} {fault.effect}
      </p>
    </div>
  );
}

function Clock({ clock, viewer }: ViewerProps & Pick<SandboxData, 'clock'>) {
  const minutes = Math.round(clock.aheadMs / MINUTE_MS);
  return (
    <Section title="Clock of the service">
      <p>
        It is <Time at={new Date(clock.now)} /> at the service
        {minutes === 0 ? '.' : `, ${durationText(minutes)} ahead of this machine.`} The clock moves
        forward only, and everything that falls due until then happens.
      </p>
      {minutes < 5 ? null : (
        <p class="warn">
          The service is more than five minutes ahead. The ledger takes that for a wrong clock: it
          does not use the versions of new webhooks, opens findings about them, and retrieves each
          state instead.
        </p>
      )}
      <ActionForm viewer={viewer} action={advanceClock} label="Move the clock">
        <Select name="by" label="Forward by" options={CLOCK_STEPS} />
      </ActionForm>
    </Section>
  );
}

function durationText(minutes: number): string {
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}
