/**
 * Keys: what kind one is, and what each kind may do. service-interface.md §5.
 *
 * Rule 7 leaves permissions open. Here a secret key may use every endpoint but those about keys,
 * which are for the administrative key and nothing else is; a publishable key belongs in a browser
 * and may only ask for health.
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
