/** What must hold after each drill. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { RESOURCE_KINDS } from '../../src/contract/resources/index.ts';
import { compareSides } from '../../src/demo/compare.ts';
import {
  countPending,
  readResourcePage,
  readTotalsPage,
  type WholeResource,
  type WholeTotals,
} from '../../src/ledger/read/store/wholeLedger.ts';
import { query } from './cluster.ts';
import { COMMAND } from './installation.ts';
import type { Load } from './load.ts';
import { FOLDER } from './nodes.ts';
import { until } from './run.ts';

const execute = promisify(execFile);
/** The events worker may have to wait for the sweep. */
const APPLIED_SECONDS = 180;
/** A receiver notices a new primary after five seconds, and persists what it kept in batches. */
const PUT_BACK_SECONDS = 60;
const EQUAL_SECONDS = 60;
const REBUILD_TIMEOUT_MS = 300_000;

const db = {
  query: <Row extends object>(text: string, values?: readonly unknown[]) => rows<Row>(text, values),
};

async function rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
  const found = await query<Row>(text, values);
  return found.map(numbers);
}

/** Numbers of 64 bits are text in the driver; those of a drill are small. */
function numbers<Row extends object>(row: Row): Row {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value,
  ]);
  return Object.fromEntries(entries) as Row;
}

/** Acknowledged events that the inbox does not have, after the time in which receivers persist them again. */
export async function findLost({ acknowledged }: Load): Promise<readonly string[]> {
  let lost: readonly string[] = [];
  await until('every acknowledged event to be in the inbox', PUT_BACK_SECONDS, async () => {
    const found = await query<{ id: string }>(
      `select id from unnest($1::text[]) as u (id)
        where not exists (select from webhook_events e where e.event_id = u.id)`,
      [[...acknowledged]],
    );
    lost = found.map(({ id }) => id);
    return lost.length === 0;
  }).catch((error: unknown) => {
    // The list is the better report; without one, the database did not respond.
    if (lost.length === 0) throw error;
  });
  return lost;
}

/** How many acknowledged events a new primary lacked and the receivers have persisted again, since the beginning. */
export async function countPutBack(): Promise<number> {
  const [row] = await query<{ events: string }>(
    'select coalesce(sum(events), 0)::text as events from failover_losses',
  );
  return Number(row?.events);
}

export async function untilDelivered(load: Load): Promise<void> {
  await until('every webhook to be acknowledged', APPLIED_SECONDS, load.isDelivered);
}

export async function untilApplied(): Promise<void> {
  await until(
    'every event to be applied',
    APPLIED_SECONDS,
    async () => (await countPending(db)) === 0,
  );
}

/** What still differs between the ledger and the sandbox, for people. */
export async function findDifferences(load: Load): Promise<readonly string[]> {
  let differences: readonly string[] = [];
  // A payment in process ends by itself, and may do so between the two readings.
  await until('the ledger to equal the sandbox', EQUAL_SECONDS, async () => {
    differences = await compareNow(load);
    return differences.length === 0;
  }).catch((error: unknown) => {
    if (differences.length === 0) throw error;
  });
  return differences;
}

async function compareNow({ control }: Load): Promise<readonly string[]> {
  const serviceResources = new Map(
    await Promise.all(
      RESOURCE_KINDS.map(async (kind) => [kind, await control.resources(kind)] as const),
    ),
  );
  const compared = compareSides({
    serviceResources,
    resources: await readAllResources(),
    totals: await readAllTotals(),
    missed: new Set(),
  });
  return compared.flatMap(({ differences }) => differences);
}

const PAGE = 5_000;

async function readAllResources(): Promise<readonly WholeResource[]> {
  const all: WholeResource[] = [];
  for (;;) {
    const { kind = '', id = '' } = all.at(-1) ?? {};
    const page = await readResourcePage(db, { after: { kind, id }, limit: PAGE });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

async function readAllTotals(): Promise<readonly WholeTotals[]> {
  const all: WholeTotals[] = [];
  for (;;) {
    const { orderKey = '', currency = '' } = all.at(-1) ?? {};
    const page = await readTotalsPage(db, { after: { orderKey, currency }, limit: PAGE });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

/** Rebuilds the ledger from the inbox and compares. @returns what failed; undefined if nothing did */
export async function findRebuildFailure(
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  try {
    await execute(process.execPath, [COMMAND, 'verify', '--rebuild', '--json'], {
      cwd: FOLDER,
      env,
      timeout: REBUILD_TIMEOUT_MS,
      maxBuffer: 64 * 1024 * 1024,
    });
    return undefined;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `verify --rebuild: ${stdout}${stderr}`.slice(0, 2_000);
  }
}
