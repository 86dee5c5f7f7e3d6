/** Keeps secrets out of errors, which may be logged. */
import { redactPersonalData } from '../contract/personalData.ts';

const MAX_QUOTE_LENGTH = 300;
/** Far more than is quoted; bounds the search for personal data. */
const MAX_SCANNED_LENGTH = 10_000;

/**
 * Removes the key, personal data and control characters from foreign text, and shortens it.
 */
export function createRedactor(apiKey: string): (text: string) => string {
  return (text) =>
    // Before the text is cut: a part of the key would not be recognized.
    redactPersonalData(text.replaceAll(apiKey, KEY), MAX_SCANNED_LENGTH)
      .slice(0, MAX_QUOTE_LENGTH)
      // After the cut, which can leave half of a character.
      .replaceAll(/\p{C}/gu, ' ');
}

const KEY = '[key]';

/** Removes the key from an id, which is useful only in full. */
export function redactKey(id: string, apiKey: string): string {
  return id.replaceAll(apiKey, KEY);
}
