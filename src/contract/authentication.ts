/**
 * Keys: what kind one is, and what each kind may do. Interface document, section Authentication.
 *
 * Rule 7 leaves permissions open. Here a secret key may use every endpoint, and a key of another
 * kind is known but may do nothing except ask for health: publishable keys belong in a browser, and
 * the administrative key makes other keys.
 */
import { API_KEY_PREFIXES, type ApiKeyKind } from './limits.ts';

/** Kinds that may use the endpoints of money. */
export const SECRET_KEY_KINDS = ['sandboxSecret', 'productionSecret'] as const;

/** The kind of a key by its prefix; undefined for text that is no key. */
export function keyKindOf(apiKey: string): ApiKeyKind | undefined {
  const kinds = Object.keys(API_KEY_PREFIXES) as ApiKeyKind[];
  return kinds.find((kind) => {
    const prefix = API_KEY_PREFIXES[kind];
    return apiKey.startsWith(prefix) && apiKey.length > prefix.length;
  });
}
