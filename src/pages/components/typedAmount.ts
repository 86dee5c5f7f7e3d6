/** Amounts that a person types to confirm what happens: `54.00`, as the customer reads them. */
import { z } from 'zod';
import { formatMoney, parseAmountMinor, parseDecimal } from '../../contract/money.ts';
import type { Problem } from '../page.ts';

/** An amount in minor units that a form has from its page: what the person saw. */
export const seenMinor = z
  .string()
  .transform((text) => parseAmountMinor(text))
  .pipe(z.number().int().min(1));

/** @param mostMinor the largest amount that is accepted */
export function readTypedAmount(
  typed: string,
  currency: string,
  mostMinor: number,
): { readonly outcome: 'read'; readonly amountMinor: number } | Problem {
  const amountMinor = parseDecimal(typed.trim(), currency);
  if (amountMinor !== undefined && amountMinor > 0 && amountMinor <= mostMinor) {
    return { outcome: 'read', amountMinor };
  }
  const message = `${JSON.stringify(typed)} is not an amount from ${formatMoney(1, currency)} to ${formatMoney(mostMinor, currency)}. Nothing was done. Go back and type it with a point, such as ${formatMoney(mostMinor, currency).split(' ')[0]}.`;
  return { outcome: 'invalid', message };
}

/** The same, where a part is not possible. */
export function confirmsAmount(
  typed: string,
  currency: string,
  expectedMinor: number,
): Problem | undefined {
  if (parseDecimal(typed.trim(), currency) === expectedMinor) return undefined;
  const message = `${JSON.stringify(typed)} is not ${formatMoney(expectedMinor, currency)}. Nothing was done. Go back and type the amount that the page shows.`;
  return { outcome: 'invalid', message };
}
