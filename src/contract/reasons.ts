/**
 * Why a resource failed or was opened, in one line for people. The service's own text in order of
 * relevance: its unified code and message, then the acquirer's. service-interface.md §2, and the
 * family's fields for refunds and disputes.
 */
import type { ResourceKind } from './resources/index.ts';

/** The fields that describe a reason. */
export interface ReasonFields {
  readonly unifiedCode?: string | null | undefined;
  readonly unifiedMessage?: string | null | undefined;
  /** The acquirer's own code and text. */
  readonly errorCode?: string | null | undefined;
  readonly errorMessage?: string | null | undefined;
  /**
   * Payments: why it was canceled, or the acquirer's longer reason. Refunds: why it was requested.
   * Disputes: the bank's reason.
   */
  readonly reason?: string | null | undefined;
  /** Disputes: the card network's code of the reason. */
  readonly reasonCode?: string | null | undefined;
}

/** Payouts that did not reach the recipient. */
const UNDONE_PAYOUTS = ['failed', 'cancelled', 'expired', 'ineligible', 'reversed'];

/** Whether a payout of this status did not reach the recipient. */
export function isUndonePayout(status: string | null | undefined): boolean {
  return UNDONE_PAYOUTS.includes(status ?? '');
}

/**
 * The reason for the current state of a resource, not for an earlier failed attempt. Undefined if
 * the state needs no reason or the service gave none.
 */
export function describeReason(
  kind: ResourceKind,
  status: string | null | undefined,
  fields: ReasonFields,
): string | undefined {
  switch (kind) {
    case 'payment':
      if (status === 'cancelled') return joined([fields.reason]);
      return status === 'failed' ? failure({ ...fields, more: fields.reason }) : undefined;
    case 'refund':
      return status === 'failed' ? failure(fields) : undefined;
    case 'payout':
      return isUndonePayout(status) ? failure(fields) : undefined;
    case 'dispute':
      return joined([fields.reasonCode, fields.reason]);
  }
}

type Words = readonly (string | null | undefined)[];

function failure({
  unifiedCode,
  unifiedMessage,
  errorCode,
  errorMessage,
  more,
}: ReasonFields & { readonly more?: string | null | undefined }): string | undefined {
  const unified = joined([unifiedCode, unifiedMessage]);
  const own = joined([errorCode, errorMessage, more === errorMessage ? undefined : more]);
  if (unified === undefined || own === undefined) return unified ?? own;
  return `${unified} (acquirer: ${own})`;
}

function joined(words: Words): string | undefined {
  const text = words.filter(Boolean).join(' ');
  return text === '' ? undefined : text;
}
