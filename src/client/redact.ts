/** Keeps secrets out of errors, which may be logged. */
import { redactPersonalData } from '../contract/personalData.ts';

const MAX_QUOTE_LENGTH = 300;
/** Far more than is quoted; bounds the search for personal data. */
const MAX_SCANNED_LENGTH = 10_000;

/** Removes secrets from foreign text. @param body of the request that the text is about */
export type Redact = (text: string, body?: unknown) => string;

/**
 * Removes the key, the account of the request, personal data and control characters from foreign text,
 * and shortens it.
 */
export function createRedactor(apiKey: string): Redact {
  return (text, body) =>
    // Before the text is cut: a part of the key would not be recognized.
    redactPersonalData(redactAccount(text.replaceAll(apiKey, KEY), body), MAX_SCANNED_LENGTH)
      .slice(0, MAX_QUOTE_LENGTH)
      // After the cut, which can leave half of a character.
      .replaceAll(/\p{C}/gu, ' ');
}

const KEY = '[key]';

/** Fields of a request with the account that money goes to or comes from. service-interface.md §4.8.1. */
const ACCOUNT_FIELDS: readonly string[] = [
  'payout_method_data',
  'source_bank_data',
  'payment_method_data',
];
/** Shorter texts, such as the code of a country, name no account. */
const MIN_ACCOUNT_LENGTH = 3;

/** A service may quote what it refuses: no form shows that a text is a name or the number of an account. */
function redactAccount(text: string, body: unknown): string {
  if (typeof body !== 'object' || body === null) return text;
  const texts = Object.entries(body)
    .flatMap(([name, value]) => (ACCOUNT_FIELDS.includes(name) ? textsIn(value) : []))
    .filter(({ length }) => length >= MIN_ACCOUNT_LENGTH)
    .toSorted((one, other) => other.length - one.length);
  if (texts.length === 0) return text;
  const any = texts.map((one) => one.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return text.replaceAll(new RegExp(any, 'giu'), '[account]');
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** Removes the key from an id, which is useful only in full. */
export function redactKey(id: string, apiKey: string): string {
  return id.replaceAll(apiKey, KEY);
}
