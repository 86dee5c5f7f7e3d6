/**
 * The address of the client that sent a request.
 *
 * 1. `X-Forwarded-For` counts only if the peer of the connection is a trusted proxy, because anybody
 *    can send the header. Proxies append to it, so it is read from the right: the first hop that is
 *    not a trusted proxy is the client. What is left of it is the client's own claim.
 * 2. A hop that is not an address ends the reading: the proxy that passed it on is the last known hop.
 * 3. IPv4 addresses in IPv6 notation are written as IPv4, so that one client has one address.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

export interface TrustedProxies {
  readonly has: (address: string) => boolean;
}

export const NO_TRUSTED_PROXIES: TrustedProxies = { has: () => false };

type ClientRequest = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/** The client's address; `unknown` when the connection has already ended. */
export function clientAddress(request: ClientRequest, trusted: TrustedProxies): string {
  const forwarded = request.headers['x-forwarded-for'];
  let address = peerAddress(request.socket);
  if (forwarded === undefined || !trusted.has(address)) return address;
  // Node.js joins repeated headers in their order.
  for (const hop of String(forwarded).split(',').reverse()) {
    const parsed = parseHop(hop.trim());
    if (parsed === undefined) return address;
    address = parsed;
    if (!trusted.has(address)) return address;
  }
  return address;
}

/** The address of the other end of a connection: a client, or the last proxy. */
export function peerAddress(socket: { readonly remoteAddress?: string | undefined }): string {
  return socket.remoteAddress === undefined ? 'unknown' : canonical(socket.remoteAddress);
}

/**
 * What limits per address count as one: an IPv4 address, or the /64 network of an IPv6 address,
 * because providers hand out such networks whole.
 */
export function addressGroup(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = expandIPv6(address).slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}

/**
 * Reads a comma-separated list of addresses and CIDR networks: `10.0.0.0/8, ::1`.
 * @returns undefined if an entry is neither
 */
export function parseTrustedProxies(text: string): TrustedProxies | undefined {
  const list = new BlockList();
  for (const entry of text.split(',')) {
    if (!addEntry(list, entry.trim())) return undefined;
  }
  return {
    has: (address) => isIP(address) !== 0 && list.check(address, familyOf(address)),
  };
}

function addEntry(list: BlockList, entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return false;
  if (prefix === undefined) {
    const plain = canonical(address);
    list.addAddress(plain, familyOf(plain));
    return true;
  }
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (!(bits <= (isIPv4(address) ? 32 : 128))) return false;
  list.addSubnet(address, bits, familyOf(address));
  return true;
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const HOP_WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/;

function parseHop(hop: string): string | undefined {
  const [, bracketed, dotted] = HOP_WITH_PORT.exec(hop) ?? [];
  const address = bracketed ?? dotted ?? hop;
  return isIP(address) === 0 ? undefined : canonical(address);
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** One spelling for each address; without the zone, which names an interface of this machine. */
function canonical(address: string): string {
  const [plain = ''] = address.split('%');
  const [, mapped] = MAPPED.exec(plain) ?? [];
  return (mapped ?? plain).toLowerCase();
}

/** The eight groups of an IPv6 address. */
function expandIPv6(address: string): readonly number[] {
  const [head = '', tail] = address.split('::');
  const left = groupsOf(head);
  if (tail === undefined) return left;
  const right = groupsOf(tail);
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => 0);
  return [...left, ...zeros, ...right];
}

function groupsOf(text: string): readonly number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!isIPv4(group)) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
