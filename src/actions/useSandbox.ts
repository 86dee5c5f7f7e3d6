/**
 * Has something happen in the sandbox for a person: a test payment, a fault, another time. The audit log has
 * an attempt, because the sandbox decides and may refuse.
 */
import type { Actor } from '../audit/domain/actor.ts';
import { type Attempted, recordAttempt } from '../audit/recordAudit.ts';
import { PaymentServiceError } from '../client/index.ts';
import { SandboxError, SandboxUnreachableError } from '../demo/control.ts';
import type { Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';

export interface SandboxUse {
  /** What is used, such as `payment` or `clock`. */
  readonly what: string;
  /** The order that it concerns. */
  readonly orderId?: string | undefined;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export type SandboxUsed<T> =
  | { readonly outcome: 'done'; readonly value: T }
  /** The sandbox rejected it. */
  | {
      readonly outcome: 'refused';
      readonly reason: string;
      readonly httpStatus: number | undefined;
    }
  /** No usable response. */
  | {
      readonly outcome: 'unavailable';
      readonly reason: string;
      /** Of the response; undefined if there was none, or none that can be read. */
      readonly httpStatus: number | undefined;
      /** Whether anything responded. */
      readonly isReached: boolean;
      /** Whether it may have happened anyway. */
      readonly mayHaveHappened: boolean;
    };

export async function useSandboxAs<T>(
  db: Database,
  actor: Actor,
  { what, orderId, detail = {} }: SandboxUse,
  use: () => Promise<T>,
): Promise<SandboxUsed<T>> {
  const intent = {
    actor,
    action: 'sandbox.use',
    subject: { kind: 'sandbox', id: what },
    orderKey: orderId === undefined ? null : `order:${orderId}`,
    detail,
  } as const;
  return await recordAttempt(db, intent, async () => {
    try {
      return { value: { outcome: 'done', value: await use() }, result: 'done' };
    } catch (error) {
      return failed(toError(error));
    }
  });
}

function failed<T>(error: Error): Attempted<SandboxUsed<T>> {
  const { reason, isRefused, ...facts } = factsOf(error);
  const detail = { error: reason };
  if (isRefused) {
    const { httpStatus } = facts;
    return { value: { outcome: 'refused', reason, httpStatus }, result: 'refused', detail };
  }
  return { value: { outcome: 'unavailable', reason, ...facts }, result: 'unknown', detail };
}

function factsOf(error: Error) {
  if (error instanceof PaymentServiceError) {
    const { httpStatus, kind, outcomeUnknown: mayHaveHappened } = error;
    // The sandbox redirects nothing: another program listens there, or a fault of requests is on.
    const isRedirect = httpStatus !== undefined && httpStatus >= 300 && httpStatus < 400;
    return {
      reason: withoutStop(error.message),
      isRefused: (kind === 'refused' && !isRedirect) || kind === 'invalid_request',
      httpStatus,
      isReached: httpStatus !== undefined,
      mayHaveHappened,
    };
  }
  const isRefused = error instanceof SandboxError;
  return {
    reason: withoutStop(isRefused ? error.reason : error.message),
    isRefused,
    httpStatus: isRefused ? error.httpStatus : undefined,
    isReached: !(error instanceof SandboxUnreachableError),
    mayHaveHappened: !isRefused,
  };
}

/** As part of a sentence. */
function withoutStop(text: string): string {
  return text.replace(/\.$/, '');
}
