/**
 * Amounts as files have them.
 *
 * 1. An amount is exact: it has no more decimals than its currency. A currency without decimals may have
 *    two zeros, as many services print them; three would be thousands.
 * 2. Thousands are separated by the other mark, in groups of three, or not at all.
 */
import { parseDecimal } from '../../contract/money.ts';

export type DecimalMark = '.' | ',';

const AMOUNTS: Readonly<Record<DecimalMark, RegExp>> = {
  '.': /^([+-]?)(\d{1,3}(?:,\d{3})+|\d{1,13})(?:\.(\d{0,4}))?(-?)$/,
  ',': /^([+-]?)(\d{1,3}(?:\.\d{3})+|\d{1,13})(?:,(\d{0,4}))?(-?)$/,
};

/** Minor units with their sign, which may also stand behind the digits; undefined for anything else. */
export function parseSignedAmount(
  text: string,
  mark: DecimalMark,
  currency: string,
): number | undefined {
  const match = AMOUNTS[mark].exec(text.trim());
  if (!match) return undefined;
  const [, before = '', whole = '', decimals = '', behind = ''] = match;
  if (before !== '' && behind !== '') return undefined;
  const fraction = decimals === '' || decimals === '00' ? '' : `.${decimals}`;
  const amountMinor = parseDecimal(`${whole.replaceAll(/[.,]/g, '')}${fraction}`, currency);
  if (amountMinor === undefined) return undefined;
  // Not a negative zero.
  return before === '-' || behind === '-' ? 0 - amountMinor : amountMinor;
}
