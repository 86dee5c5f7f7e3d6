/**
 * Digits in the text of a bank line that could be a card number. One in ten references of settlements looks like
 * one, so a checksum is stored instead, by which the reference is recognized.
 *
 * 1. A checksum has four digits. It reveals as little about a card as its last four digits, which receipts have.
 * 2. Digits of one group have one checksum, so that no two are of overlapping digits. Shorter groups, which
 *    could be guessed, have none unless they form the number together.
 */

/** Shorter digits are no card number. */
const LEAST_DIGITS = 12;
/** The greatest prime of four digits: references that follow each other have different checksums. */
const MODULUS = 9973n;

/** What is stored instead of digits: `[digits 1218]`, with a checksum for each number among them. */
export function hideDigits(digits: string): string {
  return `[digits ${checksumsOf(digits).join(', ')}]`;
}

function checksumsOf(digits: string): readonly string[] {
  const numbers = digits.split(/[ -]/).filter((group) => group.length >= LEAST_DIGITS);
  return (numbers.length === 0 ? [digits.replaceAll(/[ -]/g, '')] : numbers).map((number) =>
    String(BigInt(number) % MODULUS).padStart(4, '0'),
  );
}

/** Whether a text has the checksums of all numbers of a reference that could be hidden. */
export function hidesReference(text: string, reference: string): boolean {
  const hidden = [...text.matchAll(/\[digits ([\d, ]+)\]/g)].flatMap(
    ([, checksums]) => checksums?.split(', ') ?? [],
  );
  const numbers = (reference.match(/\d(?:[ -]?\d)+/g) ?? []).filter(
    (digits) => digits.replaceAll(/[ -]/g, '').length >= LEAST_DIGITS,
  );
  return numbers.length > 0 && numbers.flatMap(checksumsOf).every((one) => hidden.includes(one));
}
