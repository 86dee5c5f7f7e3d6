/** Keeps out of errors what must not reach a log. */

const LONGEST_QUOTE = 300;
/** Far more than is quoted; bounds the search for card numbers. */
const LONGEST_LOOKED_AT = 10_000;

/** What a card's number can have. */
const CARD_DIGITS = { min: 12, max: 19 } as const;

/**
 * Takes out of a foreign text the key, what can be a card's number, control characters, and length.
 */
export function createRedactor(apiKey: string): (text: string) => string {
  return (text) =>
    text
      // Before the text is cut: a part of the key would not be recognized.
      .replaceAll(apiKey, KEY)
      .slice(0, LONGEST_LOOKED_AT)
      .replaceAll(/\d(?:[ -]?\d)+/g, (digits) => (holdsCardNumber(digits) ? '[digits]' : digits))
      .slice(0, LONGEST_QUOTE)
      // After the cut, which can leave half of a character.
      .replaceAll(/\p{C}/gu, ' ');
}

const KEY = '[key]';

/** Takes the key out of an id, which is of use only as a whole. */
export function withoutKey(id: string, apiKey: string): string {
  return id.replaceAll(apiKey, KEY);
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
