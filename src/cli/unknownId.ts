/** The error of a command that was given an id that does not exist. */
import type { ResourceKind } from '../contract/resources/index.ts';
import { findResources } from '../ledger/read/store/lookup.ts';
import type { Queryable } from '../platform/db/database.ts';
import { NotFoundError } from '../platform/errors.ts';
import { printable } from '../platform/printable.ts';
import { findNearId, type IdKind } from '../search/nearId.ts';

interface Unknown {
  readonly id: string;
  /** Kinds of which the id might be. */
  readonly kinds: readonly IdKind[];
  /** What happened, as a sentence. */
  readonly message: string;
  /** What else can be done, as sentences. */
  readonly next?: string;
}

/** Suggests the id that was probably meant. */
export async function unknownId(
  db: Queryable,
  { id, kinds, message, next }: Unknown,
): Promise<NotFoundError> {
  const near = await findNearId(db, id, kinds);
  const suggestion = near === undefined ? undefined : `Did you mean ${printable(near)}?`;
  return new NotFoundError([message, suggestion, next].filter((part) => part).join(' '));
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
