/**
 * Asks the service for payments of an order of which the ledger has none: it was only registered, or
 * nobody has heard of it.
 *
 * The contract has no way to ask by order. A payment is retrieved by its own id, and the list of
 * payments filters by time and currency. So two things are tried, with one retrieve, one page and at
 * most MAX_CANDIDATES more retrieves:
 *
 * 1. The payment whose id is the order's: shops that retry safely often name the two alike.
 * 2. The newest payments since shortly before the order was registered; where it was not, of the last
 *    hour. A row that names the order is one of it. Lists need not carry that: then a row is a candidate
 *    when the ledger lacks it and it has the amount and currency that were registered.
 * 3. What is retrieved is applied, also when it turns out to belong to another order: it is news.
 */

import { type PaymentServiceClient, PaymentServiceError } from '../client/index.ts';
import { orderKeyOf } from '../ledger/domain/order.ts';
import { type ResourceRef, readResource, type SnapshotContent } from '../ledger/domain/snapshot.ts';
import type { NamedOrder } from '../ledger/read/orders.ts';
import { type ExpectationRow, readExpectations } from '../ledger/store/expectations.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { HOUR_MS } from '../platform/time.ts';
import { troubleOf } from './domain/trouble.ts';
import type { Retrieve, Retrieved } from './retrieve.ts';
import { readLocalByIds } from './store/compare.ts';

export interface FindParts {
  readonly db: Database;
  readonly client: PaymentServiceClient;
  readonly retrieve: Retrieve;
  readonly clock: Clock;
}

/** One resource that the service was asked about. */
export interface Looked {
  readonly ref: ResourceRef;
  readonly retrieved: Retrieved;
}

export interface FoundPayments {
  /** Payments of the order, and those that could not be retrieved. */
  readonly looked: readonly Looked[];
  /** Why the list could not be read; undefined when it was. */
  readonly trouble: string | undefined;
}

const MAX_CANDIDATES = 5;
const PAGE_LIMIT = 100;
/** A shop may create the payment before it registers the order, and clocks differ. */
const BEFORE_MS = HOUR_MS;

/** What the contract allows as the id of a payment. */
const PAYMENT_ID = /^[\w-]{1,64}$/;

/** Never throws for what the service does. */
export async function findPayments(
  parts: FindParts,
  name: NamedOrder,
  signal: AbortSignal | undefined,
): Promise<FoundPayments> {
  const direct = PAYMENT_ID.test(name.id) ? [await look(parts, name.id, signal)] : [];
  const known = direct.filter(({ retrieved }) => retrieved.outcome !== 'missing');
  const isFound = known.some((one) => name.by !== 'order' || isOf(one, name.id));
  if (isFound || name.by === 'payment') return { looked: known, trouble: undefined };
  const listed = await readCandidates(parts, name.id, signal);
  if (typeof listed === 'string') return { looked: [], trouble: listed };
  const looked = await Promise.all(listed.map((id) => look(parts, id, signal)));
  return { looked: looked.filter((one) => isOf(one, name.id)), trouble: undefined };
}

/** Retrieves a payment in the lane of people; being stopped is a failure like others. */
export async function look(
  { retrieve }: Pick<FindParts, 'retrieve'>,
  id: string,
  signal: AbortSignal | undefined,
): Promise<Looked> {
  const ref = { kind: 'payment', id } as const;
  try {
    const retrieved = await retrieve(ref, { lane: 'operator', ...(signal && { signal }) });
    return { ref, retrieved };
  } catch (error) {
    if (!(error instanceof PaymentServiceError)) throw error;
    const reason = 'the service did not answer in time';
    return { ref, retrieved: { outcome: 'failed', trouble: 'away', reason } };
  }
}

/** @returns ids of payments that may belong to the order (rule 2); text when the list fails */
async function readCandidates(
  { db, client, clock }: FindParts,
  orderId: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | string> {
  const [expected] = await readExpectations(db, [orderKeyOf({ id: orderId, orderId })]);
  const sinceMs = (expected?.registeredAt.getTime() ?? clock.nowMs()) - BEFORE_MS;
  const filter = {
    limit: PAGE_LIMIT,
    created_gte: new Date(sinceMs).toISOString(),
    ...(expected && { currency: expected.currency }),
  };
  let rows: readonly object[];
  try {
    const page = await client.payments.list(filter, {
      lane: 'operator',
      ...(signal && { signal }),
    });
    rows = page.items;
  } catch (error) {
    if (!(error instanceof PaymentServiceError)) throw error;
    return troubleOf(error) === 'missing' ? [] : error.message;
  }
  const read = rows.flatMap((row) => {
    const reading = readResource(row, clock.nowMs() * 1000);
    return reading.outcome === 'read' ? [reading] : [];
  });
  const named = read.filter(({ content }) => content.orderId === orderId);
  if (named.length > 0 || !expected) return named.map(({ ref }) => ref.id).slice(0, MAX_CANDIDATES);
  const alike = read.filter(({ content }) => isAlike(content, expected)).map(({ ref }) => ref.id);
  const local = await readLocalByIds(db, 'payment', alike);
  const heard = new Set(local.flatMap(({ id, status }) => (status === null ? [] : [id])));
  return alike.filter((id) => !heard.has(id)).slice(0, MAX_CANDIDATES);
}

function isAlike(content: SnapshotContent, expected: ExpectationRow): boolean {
  const { orderId, amountMinor, currency } = content;
  const isSilent = orderId === undefined;
  return isSilent && amountMinor === expected.amountMinor && currency === expected.currency;
}

function isOf({ retrieved }: Looked, orderId: string): boolean {
  if (retrieved.outcome !== 'applied') return retrieved.outcome === 'failed';
  const reading = readResource(retrieved.body, Number.MAX_SAFE_INTEGER);
  return reading.outcome === 'read' && reading.content.orderId === orderId;
}
