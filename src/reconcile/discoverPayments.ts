/**
 * Discovers payments of an order that has none in the ledger: it was only registered, or is unknown. Rule 2
 * also finds further payments of an order that has some: of a customer who tried once more.
 *
 * The contract has no request by order. A payment is retrieved by its own id, and the list of payments
 * filters by time and currency. So two things are tried, with one retrieve, one page and at most
 * MAX_CANDIDATES more retrieves:
 *
 * 1. The payment with the id of the order: shops that retry safely often give both the same id.
 * 2. The newest payments since shortly before the order was registered, or of the last hour where it was
 *    not. A row that names the order belongs to it. Lists need not carry that field: then a row is a
 *    candidate when the ledger lacks it and it has the registered amount and currency.
 * 3. What is retrieved is applied, also when it turns out to belong to another order.
 */
import { type PaymentServiceClient, PaymentServiceError } from '../client/index.ts';
import { fetchLargest } from '../client/paginate.ts';
import { orderKeyOf } from '../ledger/domain/orderKey.ts';
import { type ResourceRef, readResource, type SnapshotContent } from '../ledger/domain/snapshot.ts';
import type { NamedOrder } from '../ledger/read/orders.ts';
import { readLocalByIds } from '../ledger/read/store/comparison.ts';
import { type ExpectationRow, readExpectations } from '../ledger/store/expectations.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { HOUR_MS } from '../platform/time.ts';
import { failureOf } from './domain/failures.ts';
import type { Retrieve, Retrieved } from './retrieve.ts';

export interface DiscoveryParts {
  readonly db: Database;
  readonly client: PaymentServiceClient;
  readonly retrieve: Retrieve;
  readonly clock: Clock;
}

/** A resource that was requested, and what became of it. */
export interface RetrievedResource {
  readonly ref: ResourceRef;
  readonly retrieved: Retrieved;
}

export interface DiscoveredPayments {
  /** Payments of the order, and those that could not be retrieved. */
  readonly payments: readonly RetrievedResource[];
  /** Why the list could not be read; undefined when it was. */
  readonly listFailure: string | undefined;
}

const MAX_CANDIDATES = 5;
/** A shop may create the payment before it registers the order, and clocks differ. */
const BEFORE_MS = HOUR_MS;

/** What the contract allows as the id of a payment. */
const PAYMENT_ID = /^[\w-]{1,64}$/;

/** Failures of the service are results; nothing is thrown for them. */
export async function discoverPayments(
  parts: DiscoveryParts,
  name: NamedOrder,
  signal: AbortSignal | undefined,
): Promise<DiscoveredPayments> {
  const direct = PAYMENT_ID.test(name.id) ? [await retrievePayment(parts, name.id, signal)] : [];
  const known = direct.filter(({ retrieved }) => retrieved.outcome !== 'missing');
  const isFound = known.some((payment) => name.by !== 'order' || isOf(payment, name.id));
  if (isFound || name.by === 'payment') return { payments: known, listFailure: undefined };
  return discoverListed(parts, { orderId: name.id, known: new Set() }, signal);
}

/** What to look for in the list. */
interface Wanted {
  readonly orderId: string;
  /** Payments of the order that are known already. */
  readonly known: ReadonlySet<string>;
}

/** Rule 2. */
export async function discoverListed(
  parts: DiscoveryParts,
  wanted: Wanted,
  signal: AbortSignal | undefined,
): Promise<DiscoveredPayments> {
  const listed = await listCandidates(parts, wanted, signal);
  if (typeof listed === 'string') return { payments: [], listFailure: listed };
  const payments = await Promise.all(listed.map((id) => retrievePayment(parts, id, signal)));
  return {
    payments: payments.filter((payment) => isOf(payment, wanted.orderId)),
    listFailure: undefined,
  };
}

export function retrievePayment(
  parts: Pick<DiscoveryParts, 'retrieve'>,
  id: string,
  signal: AbortSignal | undefined,
): Promise<RetrievedResource> {
  return retrieveOne(parts, { kind: 'payment', id }, signal);
}

/** Retrieves a resource for a person who waits. An aborted request is a failure like others. */
export async function retrieveOne(
  { retrieve }: Pick<DiscoveryParts, 'retrieve'>,
  ref: ResourceRef,
  signal: AbortSignal | undefined,
): Promise<RetrievedResource> {
  try {
    const retrieved = await retrieve(ref, { lane: 'operator', ...(signal && { signal }) });
    return { ref, retrieved };
  } catch (error) {
    if (!(error instanceof PaymentServiceError)) throw error;
    const reason = 'the service did not respond in time';
    return { ref, retrieved: { outcome: 'failed', failure: 'unavailable', reason } };
  }
}

/** @returns ids of payments that may belong to the order (rule 2); the reason when the list fails */
async function listCandidates(
  { db, client, clock }: DiscoveryParts,
  { orderId, known }: Wanted,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | string> {
  const [expected] = await readExpectations(db, [orderKeyOf({ id: orderId, orderId })]);
  const sinceMs = (expected?.registeredAt.getTime() ?? clock.nowMs()) - BEFORE_MS;
  const filter = {
    created_gte: new Date(sinceMs).toISOString(),
    ...(expected && { currency: expected.currency }),
  };
  let rows: readonly object[];
  try {
    const options = { lane: 'operator', ...(signal && { signal }) } as const;
    const fetched = await fetchLargest((limit) =>
      client.payments.list({ ...filter, limit }, options),
    );
    rows = fetched.page.items;
  } catch (error) {
    if (!(error instanceof PaymentServiceError)) throw error;
    return failureOf(error) === 'missing' ? [] : error.message;
  }
  const read = rows.flatMap((row) => {
    const reading = readResource(row, clock.nowMs() * 1000);
    return reading.outcome === 'read' && !known.has(reading.ref.id) ? [reading] : [];
  });
  const named = read.filter(({ content }) => content.orderId === orderId);
  if (named.length > 0 || !expected) return named.map(({ ref }) => ref.id).slice(0, MAX_CANDIDATES);
  const matching = read
    .filter(({ content }) => matches(content, expected))
    .map(({ ref }) => ref.id);
  const local = await readLocalByIds(db, 'payment', matching);
  const inLedger = new Set(local.flatMap(({ id, status }) => (status === null ? [] : [id])));
  return matching.filter((id) => !inLedger.has(id)).slice(0, MAX_CANDIDATES);
}

/** Whether a row names no order and has the registered amount. */
function matches(content: SnapshotContent, expected: ExpectationRow): boolean {
  const { orderId, amountMinor, currency } = content;
  const namesNone = orderId === undefined;
  return namesNone && amountMinor === expected.amountMinor && currency === expected.currency;
}

function isOf({ retrieved }: RetrievedResource, orderId: string): boolean {
  if (retrieved.outcome !== 'applied') return retrieved.outcome === 'failed';
  const reading = readResource(retrieved.body, Number.MAX_SAFE_INTEGER);
  return reading.outcome === 'read' && reading.content.orderId === orderId;
}
