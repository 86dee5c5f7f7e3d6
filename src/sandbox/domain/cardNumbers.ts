/**
 * Masks card numbers in metadata, where the contract allows no card data. They are masked before they
 * are stored, so no response, webhook or table contains them. service-interface.md §4.3.1, `metadata`.
 */
import { cardBrand, isCardNumber } from './outcomes.ts';

/** 12 to 19 digits, with or without spaces and dashes between them. */
const DIGITS = /(?<!\d)\d(?:[ -]?\d){11,18}(?!\d)/g;
const SHOWN = 4;

/** The same value with every card number in it masked, at any depth. */
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

/** Masks numbers of a known network with a valid check digit; references rarely have both. */
function mask(text: string): string {
  const digits = text.replaceAll(/\D/g, '');
  if (!isCardNumber(digits) || cardBrand(digits) === 'Unknown') return text;
  return '*'.repeat(digits.length - SHOWN) + digits.slice(-SHOWN);
}
