/** The error of a command that was given an id that does not exist. */

import { shellWord } from '../alerts/domain/shellWord.ts';
import type { ResourceKind } from '../contract/resources/index.ts';
import { resolveOrders } from '../ledger/read/orders.ts';
import { findPayoutsByReference, findResources } from '../ledger/read/store/lookup.ts';
import type { Queryable } from '../platform/db/database.ts';
import { NotFoundError } from '../platform/errors.ts';
import { printable } from '../platform/printable.ts';
import { findNearId, type IdKind } from '../search/nearId.ts';
import { waitingEventsText } from '../search/waitingEvents.ts';

interface Unknown {
  readonly id: string;
  /** Kinds of which the id might be. */
  readonly kinds: readonly IdKind[];
  /** What happened, as a sentence. */
  readonly message: string;
  /** What else can be done, as sentences. */
  readonly next?: string;
}

/** Names what else has exactly this id; otherwise suggests the id that was probably meant, and counts events that wait. */
export async function unknownId(
  db: Queryable,
  { id, kinds, message, next }: Unknown,
): Promise<NotFoundError> {
  const other = await otherOf(db, id);
  if (other !== undefined) {
    const shown = `It is ${other}: \`npx tallyhook find ${shellWord(id)}\` shows what to run.`;
    return new NotFoundError(`${message} ${shown}`);
  }
  const near = await findNearId(db, id, kinds);
  const suggestion = near === undefined ? undefined : `Did you mean ${printable(near)}?`;
  // The inbox has events that wait, too.
  const waiting = kinds.some((kind) => kind !== 'event') ? await waitingText(db) : undefined;
  return new NotFoundError([message, suggestion, waiting, next].filter((part) => part).join(' '));
}

async function waitingText(db: Queryable): Promise<string | undefined> {
  const text = await waitingEventsText(db);
  return text && `${text} \`npx tallyhook events list --state pending\` lists what waits.`;
}

/** What has exactly this id, of any kind; undefined if nothing has. */
async function otherOf(db: Queryable, id: string): Promise<string | undefined> {
  const [resource] = await findResources(db, id);
  if (resource) return `the id of a ${resource.kind}`;
  const [order] = await resolveOrders(db, { id });
  if (order) return 'the id of an order';
  const [payout] = await findPayoutsByReference(db, id, { after: undefined, limit: 1 });
  return payout && 'the reference of a payout';
}

/** @throws NotFoundError if the ledger has no such resource: the command failed because of the id */
export async function refuseUnknownId(
  db: Queryable,
  { kind, id }: { readonly kind: ResourceKind; readonly id: string },
): Promise<void> {
  const found = await findResources(db, id);
  if (found.some((one) => one.kind === kind)) return;
  const message = `No ${kind} is known as ${printable(id)}.`;
  throw await unknownId(db, { id, kinds: [kind], message });
}
