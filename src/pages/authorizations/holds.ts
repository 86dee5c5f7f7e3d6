/** Holds as the pages of authorizations send them: what a person saw and decided about. */
import { z } from 'zod';
import { parseId } from '../../contract/identifiers.ts';
import { parseAmountMinor, parseCurrency } from '../../contract/money.ts';

/** More than this would take longer than a browser waits. */
export const MAX_HOLDS = 20;

export interface Hold {
  readonly paymentId: string;
  readonly amountMinor: number;
  readonly currency: string;
}

/** A hold as the value of a field: `6540:USD:pay_1`. */
export function holdValue({ paymentId, amountMinor, currency }: Hold): string {
  return `${amountMinor}:${currency}:${paymentId}`;
}

function readHold(value: string): Hold | undefined {
  const [, minor, code, id] = /^(\d{1,16}):([A-Z]{3}):(.+)$/.exec(value) ?? [];
  const amountMinor = parseAmountMinor(minor);
  const currency = parseCurrency(code);
  const paymentId = parseId(id);
  return amountMinor === undefined || currency === undefined || paymentId === undefined
    ? undefined
    : { amountMinor, currency, paymentId };
}

/** The field `hold`: one value, or several. */
export const holdsField = z
  .preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(z.string()))
  .pipe(z.array(z.string()).min(1).max(MAX_HOLDS, `must be at most ${MAX_HOLDS} at once`))
  .transform((values, context) => {
    const holds = values.flatMap((value) => readHold(value) ?? []);
    const isRepeated = new Set(holds.map(({ paymentId }) => paymentId)).size < holds.length;
    if (holds.length === values.length && !isRepeated) return holds;
    context.addIssue({ code: 'custom', message: 'must name each hold once, as the list does' });
    return z.NEVER;
  });
