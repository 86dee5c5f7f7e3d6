/**
 * Finds what can be a card's number in text that an outsider wrote, so that it can be kept out of
 * logs and tables.
 */

/** What a card's number can have. */
const CARD_DIGITS = { min: 12, max: 19 } as const;

/** Replaces each run of digits that holds what can be a card's number. */
export function redactCardNumbers(text: string): string {
  return text.replaceAll(/\d(?:[ -]?\d)+/g, (digits) =>
    holdsCardNumber(digits) ? '[digits]' : digits,
  );
}

/** Whether neighbouring groups of the digits make a card's number, alone or among others. */
function holdsCardNumber(digits: string): boolean {
  const groups = digits.split(/[ -]/);
  return groups.some((_, from) => {
    const following = groups.slice(from, from + CARD_DIGITS.max);
    return following.some((_group, last) => isCardNumber(following.slice(0, last + 1).join('')));
  });
}

/** Of so many digits, and with the check digit of ISO/IEC 7812: most ids are no card's number. */
function isCardNumber(digits: string): boolean {
  if (digits.length < CARD_DIGITS.min || digits.length > CARD_DIGITS.max) return false;
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
