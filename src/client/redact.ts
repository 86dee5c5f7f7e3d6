/** Keeps secrets out of errors, which may be logged. */
import { redactCardNumbers } from '../contract/cardNumbers.ts';

const MAX_QUOTE_LENGTH = 300;
/** Far more than is quoted; bounds the search for card numbers. */
const MAX_SCANNED_LENGTH = 10_000;

/**
 * Removes the key, possible card numbers and control characters from foreign text, and shortens it.
 */
export function createRedactor(apiKey: string): (text: string) => string {
  return (text) =>
    // Before the text is cut: a part of the key would not be recognized.
    redactCardNumbers(text.replaceAll(apiKey, KEY).slice(0, MAX_SCANNED_LENGTH))
      .slice(0, MAX_QUOTE_LENGTH)
      // After the cut, which can leave half of a character.
      .replaceAll(/\p{C}/gu, ' ');
}

const KEY = '[key]';

/** Removes the key from an id, which is useful only in full. */
export function redactKey(id: string, apiKey: string): string {
  return id.replaceAll(apiKey, KEY);
}
