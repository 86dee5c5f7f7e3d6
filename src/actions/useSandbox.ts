/**
 * Has something happen in the sandbox for a person: a test payment, a fault, another time. The audit log has
 * an attempt, because the sandbox decides and may refuse.
 */
import type { Actor } from '../audit/domain/actor.ts';
import { type Attempted, recordAttempt } from '../audit/recordAudit.ts';
import { PaymentServiceError } from '../client/index.ts';
import { SandboxError } from '../demo/control.ts';
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
  | { readonly outcome: 'refused'; readonly reason: string }
  /** No usable response; it may have happened. */
  | { readonly outcome: 'unavailable'; readonly reason: string };

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
  if (error instanceof SandboxError) {
    const { reason } = error;
    return { value: { outcome: 'refused', reason }, result: 'refused', detail: { error: reason } };
  }
  const reason = error.message;
  const isRefused =
    error instanceof PaymentServiceError &&
    (error.kind === 'refused' || error.kind === 'invalid_request');
  return isRefused
    ? { value: { outcome: 'refused', reason }, result: 'refused', detail: { error: reason } }
    : { value: { outcome: 'unavailable', reason }, result: 'unknown', detail: { error: reason } };
}
