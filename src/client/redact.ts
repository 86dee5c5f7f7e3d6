/** Keeps out of errors what must not reach a log. */
import { redactCardNumbers } from '../contract/cardNumbers.ts';

const LONGEST_QUOTE = 300;
/** Far more than is quoted; bounds the search for card numbers. */
const LONGEST_LOOKED_AT = 10_000;

/**
 * Takes out of a foreign text the key, what can be a card's number, control characters, and length.
 */
export function createRedactor(apiKey: string): (text: string) => string {
  return (text) =>
    // Before the text is cut: a part of the key would not be recognized.
    redactCardNumbers(text.replaceAll(apiKey, KEY).slice(0, LONGEST_LOOKED_AT))
      .slice(0, LONGEST_QUOTE)
      // After the cut, which can leave half of a character.
      .replaceAll(/\p{C}/gu, ' ');
}

const KEY = '[key]';

/** Takes the key out of an id, which is of use only as a whole. */
export function withoutKey(id: string, apiKey: string): string {
  return id.replaceAll(apiKey, KEY);
}
