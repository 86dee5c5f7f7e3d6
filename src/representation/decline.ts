/** The advice about a failed payment as JSON. */
import { declineOf } from '../ledger/domain/explain.ts';

export interface DeclinedPart {
  readonly kind: string;
  readonly status: string | null;
  readonly unifiedCode: string | null;
  readonly unifiedMessage: string | null;
}

/** Null unless the payment is failed now: the code of an earlier attempt no longer gives advice. */
export function declineJson(part: DeclinedPart) {
  if (part.kind !== 'payment' || part.status !== 'failed') return null;
  const { code, mayRetry, mayUseAnotherMethod, ...advice } = declineOf(
    part.unifiedCode ?? undefined,
    part.unifiedMessage ?? undefined,
  );
  return {
    unified_code: code,
    may_retry: mayRetry,
    may_use_another_method: mayUseAnotherMethod,
    ...advice,
  };
}
