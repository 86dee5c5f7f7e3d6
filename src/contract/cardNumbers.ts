/** Finds possible card numbers in foreign text, to keep them out of logs and tables. */

/** The length of a card number. */
const CARD_DIGITS = { min: 12, max: 19 } as const;

/**
 * Replaces every run of digits that contains a possible card number.
 * @param replacement what is written instead of a run, in which groups have a space or hyphen between them
 */
export function redactCardNumbers(
  text: string,
  replacement: (digits: string) => string = () => '[digits]',
): string {
  return text.replaceAll(/\d(?:[ -]?\d)+/g, (digits) =>
    holdsCardNumber(digits) ? replacement(digits) : digits,
  );
}

/** Whether neighboring groups of digits form a card number, alone or among others. */
function holdsCardNumber(digits: string): boolean {
  const groups = digits.split(/[ -]/);
  return groups.some((_, from) => {
    const following = groups.slice(from, from + CARD_DIGITS.max);
    return following.some((_group, last) => isCardNumber(following.slice(0, last + 1).join('')));
  });
}

/** A valid length and a valid check digit (ISO/IEC 7812): most ids fail this. */
function isCardNumber(digits: string): boolean {
  if (digits.length < CARD_DIGITS.min || digits.length > CARD_DIGITS.max) return false;
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
