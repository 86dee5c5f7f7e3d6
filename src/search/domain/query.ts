/** What the text of a search may mean. Every meaning is searched for, because an id may look like any of them. */
import { parseId } from '../../contract/identifiers.ts';
import { CURRENCIES, currencyExponent, parseDecimal } from '../../contract/money.ts';
import { RESOURCE_KINDS } from '../../contract/resources/index.ts';

/** What is named by a number alone. An event has an id, too, so its number is looked up as one. */
export const NUMBERED_KINDS = ['alert', 'finding', 'message', 'run'] as const;
export type NumberedKind = (typeof NUMBERED_KINDS)[number];

export interface Amount {
  readonly amountMinor: number;
  readonly currency: string;
}

export interface SearchQuery {
  /** Ids that the text may be, the whole text first. */
  readonly ids: readonly string[];
  /** With the word of its kind, such as `alert 12`. */
  readonly numbered: { readonly kind: NumberedKind; readonly number: number } | undefined;
  /** An amount with its currency, such as `EUR 54.00`. */
  readonly amount: Amount | undefined;
}

const ID_KINDS: readonly string[] = ['order', ...RESOURCE_KINDS, 'event', 'customer'];

/** @returns undefined for text that cannot be an id, a number or an amount */
export function readSearch(text: string): SearchQuery | undefined {
  // No id has them: they come along with a copy from a mail, a chat or a spreadsheet.
  const whole = parseId(text.replaceAll(/\p{Cf}/gu, '').trim());
  if (whole === undefined) return undefined;
  const [, word = '', rest = ''] = /^([a-z]{3,9}?)s?[\s:#]+#?(\S.*)$/i.exec(whole) ?? [];
  const kind = word.toLowerCase();
  const named = ID_KINDS.includes(kind) ? [rest] : [];
  return {
    ids: [whole, ...named],
    numbered: readNumbered(kind, rest),
    amount: readAmount(whole),
  };
}

function readNumbered(kind: string, rest: string): SearchQuery['numbered'] {
  const numbered = NUMBERED_KINDS.find((name) => name === kind);
  if (numbered === undefined || !/^[1-9]\d{0,14}$/.test(rest)) return undefined;
  return { kind: numbered, number: Number(rest) };
}

/** An amount before or after its currency, with a point or a comma as the decimal separator. */
export function readAmount(text: string): Amount | undefined {
  const found =
    /^([a-z]{3})\s*([\d.,'\s]+)$/i.exec(text) ?? /^([\d.,'\s]+?)\s*([a-z]{3})$/i.exec(text);
  if (!found) return undefined;
  const [, first = '', second = ''] = found;
  const [code, digits] = /^\d/.test(first) ? [second, first] : [first, second];
  const currency = code.toUpperCase();
  if (!CURRENCIES.has(currency)) return undefined;
  const amountMinor = parseDecimal(plainDecimal(digits, currency), currency);
  return amountMinor === undefined ? undefined : { amountMinor, currency };
}

/**
 * The text with a point as its decimal separator, and no other. The last separator is the decimal one,
 * unless as many digits follow as in a group of thousands and the currency has other decimals, or the
 * same separator is there twice.
 */
function plainDecimal(digits: string, currency: string): string | undefined {
  const text = digits.replaceAll(/['\s]/g, '');
  const last = Math.max(text.lastIndexOf('.'), text.lastIndexOf(','));
  if (last < 0) return text;
  const isRepeated = text.indexOf(text.charAt(last)) !== last;
  const decimals = text.length - last - 1;
  const isGroup = isRepeated || (decimals === 3 && currencyExponent(currency) !== 3);
  const whole = isGroup ? text : text.slice(0, last);
  if (!/^\d{1,3}(?:[.,]\d{3})*$|^\d+$/.test(whole)) return undefined;
  const plain = whole.replaceAll(/[.,]/g, '');
  return isGroup ? plain : `${plain}.${text.slice(last + 1)}`;
}
