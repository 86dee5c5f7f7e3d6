import { Command, Option } from 'commander';
import { refreshByIdAs } from '../../actions/refreshById.ts';
import { authorizationsOf, discoveryOf } from '../../assembly/service.ts';
import { RESOURCE_KINDS, type ResourceKind } from '../../contract/resources/index.ts';
import type { ResourceRef } from '../../ledger/domain/snapshot.ts';
import type { Database } from '../../platform/db/database.ts';
import { printable } from '../../platform/printable.ts';
import { type Change, changesOf } from '../../reconcile/refreshById.ts';
import type { Retrieved } from '../../reconcile/retrieve.ts';
import { fieldName } from '../../representation/fieldName.ts';
import { clockOf, printJson, quiet, readConfig, withDatabase } from '../context.ts';
import { endAs, printLine } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { actorOf, byOption } from '../person.ts';
import { unknownId } from '../unknownId.ts';

interface RefreshOptions {
  readonly kind?: ResourceKind;
  readonly by?: string;
  readonly json: boolean;
}

/** The outcome for one resource. */
interface Refreshed extends ResourceRef {
  readonly outcome: Retrieved['outcome'];
  readonly changes: readonly Change[];
  /** Null when it was applied. */
  readonly reason: string | null;
}

export function refreshCommand(): Command {
  return new Command('refresh')
    .argument(
      '<id>',
      'id of a payment, refund, dispute or payout, or of an order: retrieves all of its parts',
    )
    .addOption(
      new Option('--kind <kind>', 'kind of resource, if several have this id').choices(
        RESOURCE_KINDS,
      ),
    )
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExit code: 0 everything was retrieved and applied, 3 neither the ledger nor the service knows the id, 5 something was not applied.',
    )
    .action((id: string, { json, ...chosen }: RefreshOptions) =>
      withDatabase(readConfig(), async (db) => {
        const resources = await refreshAll(db, { id, ...chosen });
        if (json) printJson({ resources: resources.map(refreshedJson) });
        else resources.forEach(print);
        if (resources.some(({ outcome }) => outcome !== 'applied')) endAs('unavailable');
      }),
    );
}

async function refreshAll(
  db: Database,
  { id, kind, by }: { readonly id: string } & Pick<RefreshOptions, 'kind' | 'by'>,
): Promise<readonly Refreshed[]> {
  const config = readConfig();
  const clock = await clockOf(db);
  const discovery = discoveryOf(config, { db, clock });
  const { check } = authorizationsOf(config, { db, clock, log: quiet, lane: 'operator' });
  const retrieved = await refreshByIdAs({ discovery, check }, actorOf(by), { id, kind });
  if (retrieved.length === 0) {
    const message = `Neither the ledger nor the service knows ${printable(id)}.`;
    throw await unknownId(db, { id, kinds: ['order', ...RESOURCE_KINDS], message });
  }
  return retrieved.map((one) => describe(one.ref, one.retrieved));
}

function describe(ref: ResourceRef, found: Retrieved): Refreshed {
  const { outcome } = found;
  switch (found.outcome) {
    case 'applied':
      return { ...ref, outcome, changes: changesOf(found), reason: null };
    case 'missing':
      return { ...ref, outcome, changes: [], reason: 'unknown to the service' };
    case 'failed':
      return { ...ref, outcome, changes: [], reason: found.reason };
  }
}

function refreshedJson({ kind, id, outcome, changes, reason }: Refreshed) {
  return {
    kind,
    id,
    outcome,
    changes: changes.map(({ field, before, after }) => ({
      field: fieldName(field),
      before,
      after,
    })),
    reason,
  };
}

function print({ kind, id, outcome, changes, reason }: Refreshed): void {
  const what = `${kind} ${id}`;
  if (outcome !== 'applied') {
    printLine(`${what}: ${reason ?? ''}. Nothing was changed.`);
    return;
  }
  if (changes.length === 0) printLine(`${what}: unchanged.`);
  for (const { field, before, after } of changes) {
    printLine(`${what}: ${fieldName(field)} ${before ?? 'unknown'} → ${after ?? 'unknown'}`);
  }
}
