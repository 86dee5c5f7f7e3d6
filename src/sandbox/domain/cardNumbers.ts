/**
 * Keeps card numbers out of metadata. The contract says that no card data belongs there: a number
 * that is sent nevertheless is masked before it is stored, so that neither answers nor webhooks nor
 * the resources hold it. service-interface.md §4.3.1, `metadata`.
 */
import { cardBrand, isCardNumber } from './outcomes.ts';

/** 12 to 19 digits, with or without spaces and dashes between them. */
const DIGITS = /(?<!\d)\d(?:[ -]?\d){11,18}(?!\d)/g;
const SHOWN = 4;

/** The same value with every card number in it masked, however deep. */
export function maskCardNumbers(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(DIGITS, mask);
  if (typeof value === 'number') {
    const text = String(value);
    const masked = text.replaceAll(DIGITS, mask);
    return masked === text ? value : masked;
  }
  if (Array.isArray(value)) return value.map(maskCardNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, maskCardNumbers(inner)]),
  );
}

/** Of a network that is known, and with the right check digit: a reference is rarely both. */
function mask(text: string): string {
  const digits = text.replaceAll(/\D/g, '');
  if (!isCardNumber(digits) || cardBrand(digits) === 'Unknown') return text;
  return '*'.repeat(digits.length - SHOWN) + digits.slice(-SHOWN);
}
