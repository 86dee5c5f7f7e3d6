/** The money that a finding is about, where its facts have an amount. */
import type { FindingClass } from './findings.ts';

export interface FindingAmount {
  readonly currency: string;
  readonly amountMinor: number;
}

/** @returns undefined where the facts have no amount of their own */
export function amountInFacts(finding: {
  readonly class: string;
  readonly detail: Readonly<Record<string, unknown>>;
}): FindingAmount | undefined {
  const { detail } = finding;
  const { currency } = detail;
  const amountMinor = excessOf(finding.class as FindingClass, detail);
  if (typeof currency !== 'string' || amountMinor === undefined) return undefined;
  return { currency, amountMinor };
}

function excessOf(
  name: FindingClass,
  detail: Readonly<Record<string, unknown>>,
): number | undefined {
  switch (name) {
    case 'over_refund':
    case 'double_loss':
      return amountOf(detail.excessMinor);
    case 'capture_revoked':
      return amountOf(detail.revokedMinor);
    case 'over_capture': {
      const captured = amountOf(detail.capturedMinor);
      const due = amountOf(detail.netAmountMinor) ?? amountOf(detail.amountMinor);
      return captured === undefined || due === undefined ? undefined : captured - due;
    }
    default:
      return undefined;
  }
}

function amountOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}
