/** The money that a finding is about, where its facts have an amount. */
import type { FindingClass } from './findings.ts';

export interface FindingAmount {
  readonly currency: string;
  readonly amountMinor: number;
}

type Detail = Readonly<Record<string, unknown>>;

/** @returns one for each currency; none where the facts have no amount of their own */
export function amountsInFacts(finding: {
  readonly class: string;
  readonly detail: Detail;
}): readonly FindingAmount[] {
  const { detail } = finding;
  return [detail, ...otherExcesses(detail)].flatMap((facts) => {
    const { currency } = facts;
    const amountMinor = excessOf(finding.class as FindingClass, facts);
    const isKnown = typeof currency === 'string' && amountMinor !== undefined;
    return isKnown ? [{ currency, amountMinor }] : [];
  });
}

/** The excesses of an order in further currencies. */
function otherExcesses({ others }: Detail): readonly Detail[] {
  if (!Array.isArray(others)) return [];
  return others.filter((one): one is Detail => typeof one === 'object' && one !== null);
}

function excessOf(name: FindingClass, detail: Detail): number | undefined {
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
