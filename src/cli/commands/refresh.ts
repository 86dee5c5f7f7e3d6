import { Command, Option } from 'commander';
import { authorizationsOf, discoveryOf } from '../../assembly/service.ts';
import { RESOURCE_KINDS, type ResourceKind } from '../../contract/resources/index.ts';
import type { ResourceRef } from '../../ledger/domain/snapshot.ts';
import type { Database } from '../../platform/db/database.ts';
import { OperatorError } from '../../platform/errors.ts';
import type { DiscoveryParts, RetrievedResource } from '../../reconcile/discoverPayments.ts';
import {
  type Change,
  changesOf,
  findNamedResources,
  retrieveUnknown,
} from '../../reconcile/refreshById.ts';
import type { Retrieved } from '../../reconcile/retrieve.ts';
import { fieldName } from '../../representation/fieldName.ts';
import { clockOf, printable, printJson, quiet, readConfig, withDatabase } from '../context.ts';
import { jsonOption } from '../options.ts';

interface RefreshOptions {
  readonly kind?: ResourceKind;
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
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExit code: 0 everything was retrieved and applied, 1 something was not, or neither the ledger nor the service knows the id.',
    )
    .action((id: string, { kind, json }: RefreshOptions) =>
      withDatabase(readConfig(), async (db) => {
        const resources = await refreshAll(db, { id, kind });
        if (json) printJson({ resources: resources.map(refreshedJson) });
        else resources.forEach(print);
        if (resources.some(({ outcome }) => outcome !== 'applied')) process.exitCode = 1;
      }),
    );
}

async function refreshAll(
  db: Database,
  { id, kind }: { readonly id: string; readonly kind: ResourceKind | undefined },
): Promise<readonly Refreshed[]> {
  const config = readConfig();
  const clock = await clockOf(db);
  const finding = discoveryOf(config, { db, clock });
  const looked = await lookAt(finding, { id, kind });
  if (looked.length === 0) {
    throw new OperatorError(`Neither the ledger nor the service knows ${printable(id)}.`);
  }
  const { check } = authorizationsOf(config, {
    db,
    clock,
    log: quiet,
    lane: 'operator',
  });
  for (const { ref } of looked) if (ref.kind === 'payment') await check.checkOne(ref.id);
  return looked.map(({ ref, retrieved }) => describe(ref, retrieved));
}

/** Retrieves what the ledger knows by the id; where that is nothing, what the service knows. */
async function lookAt(
  finding: DiscoveryParts,
  { id, kind }: { readonly id: string; readonly kind: ResourceKind | undefined },
): Promise<readonly RetrievedResource[]> {
  const refs = await findNamedResources(finding.db, id, kind);
  if (refs.length === 0) return await retrieveUnknown(finding, id);
  const looked: RetrievedResource[] = [];
  for (const ref of refs) {
    looked.push({ ref, retrieved: await finding.retrieve(ref, { lane: 'operator' }) });
  }
  return looked;
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
  const what = `${kind} ${printable(id)}`;
  if (outcome !== 'applied') {
    console.log(`${what}: ${printable(reason ?? '')}. Nothing was changed.`);
    return;
  }
  if (changes.length === 0) console.log(`${what}: unchanged.`);
  for (const { field, before, after } of changes) {
    console.log(`${what}: ${fieldName(field)} ${before ?? 'unknown'} → ${after ?? 'unknown'}`);
  }
}
