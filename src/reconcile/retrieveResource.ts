/**
 * Retrieves one resource and applies what the service says of it.
 *
 * What cannot be read changes nothing: a service that is away, that refuses, or that does not know the
 * resource is a fact about the question, and never one about the money.
 */
import { type Lane, type PaymentServiceClient, PaymentServiceError } from '../client/index.ts';
import { applySnapshots } from '../ledger/applySnapshots.ts';
import { contentHash } from '../ledger/contentHash.ts';
import { type ResourceRef, readResource } from '../ledger/domain/snapshot.ts';
import { startOver } from '../ledger/ordersMoved.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';

export interface RetrieveParts {
  readonly db: Database;
  readonly client: PaymentServiceClient;
  readonly clock: Clock;
}

export interface RetrieveOptions {
  readonly lane: Lane;
  readonly signal?: AbortSignal;
}

export type Retrieved =
  | { readonly outcome: 'applied' }
  /** The service knows no such resource. Nothing was changed. */
  | { readonly outcome: 'not_found'; readonly reason: string }
  /** Nothing was learned; `isAway` when asking about another resource would fare no better. */
  | { readonly outcome: 'failed'; readonly reason: string; readonly isAway: boolean };

/** Never throws for what the service does; database errors pass. */
export async function retrieveResource(
  { db, client, clock }: RetrieveParts,
  ref: ResourceRef,
  options: RetrieveOptions,
): Promise<Retrieved> {
  const answer = await ask(client, ref, options);
  if (answer.outcome !== 'answered') return answer;
  const observedMicros = clock.nowMs() * 1000;
  const reading = readResource(answer.body, observedMicros);
  if (reading.outcome !== 'read') {
    return { outcome: 'failed', reason: 'the answer cannot be read', isAway: false };
  }
  if (reading.ref.kind !== ref.kind || reading.ref.id !== ref.id) {
    return { outcome: 'failed', reason: 'the answer is about something else', isAway: false };
  }
  const look = {
    ref,
    content: reading.content,
    contentHash: contentHash(reading.content),
    source: 'retrieve',
    observedMicros,
    webhookEventId: undefined,
  } as const;
  await startOver((alsoLock) =>
    db.transaction((tx) => applySnapshots(tx, { looks: [look], suspects: [], alsoLock })),
  );
  return { outcome: 'applied' };
}

type Answer =
  | { readonly outcome: 'answered'; readonly body: object }
  | Exclude<Retrieved, { readonly outcome: 'applied' }>;

async function ask(
  client: PaymentServiceClient,
  ref: ResourceRef,
  options: RetrieveOptions,
): Promise<Answer> {
  try {
    return { outcome: 'answered', body: await call(client, ref, options) };
  } catch (error) {
    if (!(error instanceof PaymentServiceError)) throw error;
    const { message: reason, httpStatus, kind } = error;
    if (httpStatus === 404) return { outcome: 'not_found', reason };
    const isAway =
      kind === 'unavailable' ||
      kind === 'rate_limited' ||
      kind === 'aborted' ||
      httpStatus === 401 ||
      httpStatus === 403;
    return { outcome: 'failed', reason, isAway };
  }
}

function call(
  client: PaymentServiceClient,
  { kind, id }: ResourceRef,
  options: RetrieveOptions,
): Promise<object> {
  switch (kind) {
    case 'payment':
      return client.payments.retrieve(id, {}, options);
    case 'refund':
      return client.refunds.retrieve(id, {}, options);
    case 'dispute':
      return client.disputes.retrieve(id, options);
    case 'payout':
      return client.payouts.retrieve(id, {}, options);
  }
}
