/**
 * API keys: the kind of a key, and what each kind may do. service-interface.md §5.
 *
 * The contract leaves permissions open. Here a secret key may call every endpoint but those about
 * keys, which require an administrative key. A publishable key belongs in a browser and may call
 * the health check only.
 */
import { API_KEY_PREFIXES, type ApiKeyKind } from './limits.ts';

/** Kinds of keys that may call the payment endpoints. */
export const SECRET_KEY_KINDS = ['sandboxSecret', 'productionSecret'] as const;

/** The kind of a key by its prefix; undefined for text that is not a key. */
export function keyKindOf(apiKey: string): ApiKeyKind | undefined {
  const kinds = Object.keys(API_KEY_PREFIXES) as ApiKeyKind[];
  return kinds.find((kind) => {
    const prefix = API_KEY_PREFIXES[kind];
    return apiKey.startsWith(prefix) && apiKey.length > prefix.length;
  });
}
