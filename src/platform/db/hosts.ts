/**
 * An address that names several servers of one database, as libpq writes it:
 * `postgres://user:password@a:5432,b:5432/name`. One of them is the primary; after a failover, another.
 */

const PARTS = /^(\w+:\/\/(?:[^/?]*@)?)([^/?@]*)(.*)$/s;

/** One address for each server that an address names, in its order. */
export function addressesOf(url: string): readonly string[] {
  const [, user = '', hosts = '', rest = ''] = PARTS.exec(url) ?? [];
  if (!hosts.includes(',')) return [url];
  return hosts.split(',').map((host) => `${user}${host}${rest}`);
}

/** The server's name and port in an address, without anything secret. */
export function hostOf(url: string): string {
  const [, , host = ''] = PARTS.exec(url) ?? [];
  return host;
}

/** The values of `target_session_attrs` that lead to the primary. */
const TO_PRIMARY = ['read-write', 'primary'];

/** What is wrong with an address; undefined if nothing is. */
export function problemOfAddress(url: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(url)) return 'must begin with postgres://';
  const addresses = addressesOf(url);
  if (addresses.length > 1 && addresses.some((address) => hostOf(address) === ''))
    return 'has an empty name between its commas';
  const wanted = new URLSearchParams(url.split('?')[1]).get('target_session_attrs');
  if (wanted === null || TO_PRIMARY.includes(wanted)) return undefined;
  return `has target_session_attrs=${wanted}, but Tallyhook writes: leave it out or set it to read-write`;
}
