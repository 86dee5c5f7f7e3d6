/**
 * Reads the body of a webhook as the bytes that were sent.
 *
 * 1. A body that ends before its declared length is incomplete and is not used.
 * 2. Memory holds at most the limit, and the budget of all bodies is charged for it (domain/bodyBudget.ts).
 *    A longer body is read and dropped, so that the connection can serve further requests, up to
 *    a multiple of the limit.
 * 3. An encoded body is refused, not decompressed: the signature covers the bytes as sent.
 * 4. Chunks are copied into one buffer. A chunk of one byte occupies a hundred, so a body in tiny chunks
 *    would take many times the memory that it is charged for.
 *
 * Express's `raw` passes every body through several layers and a copy, which showed in profiles of this
 * route.
 */
import type { IncomingMessage } from 'node:http';
import type { BodyBudget, BodyOrigin } from './domain/bodyBudget.ts';
import type { OpenBody } from './guard.ts';

export type BodyReading =
  | { readonly outcome: 'read'; readonly body: Buffer }
  | { readonly outcome: 'too_large' | 'encoded_body' | 'incomplete_body' | 'over_budget' };

export interface BodyLimit {
  readonly maxBytes: number;
  readonly budget: Pick<BodyBudget<OpenBody>, 'charge' | 'release'>;
  readonly origin: BodyOrigin;
}

/** How much of a body that is too large is read, in multiples of the limit. */
const READ_FACTOR = 4;

/** Never rejects. After any outcome but `read`, the request may have further bytes. */
export function readBody(request: IncomingMessage, limit: BodyLimit): Promise<BodyReading> {
  const { budget, maxBytes, origin } = limit;
  if (!PLAIN.has(request.headers['content-encoding']?.toLowerCase())) {
    return Promise.resolve({ outcome: 'encoded_body' });
  }
  return new Promise((resolve) => {
    const declaredBytes = Number(request.headers['content-length'] ?? Number.NaN);
    const buffer = createBuffer(Math.min(maxBytes, declaredBytes || maxBytes));
    let length = 0;
    let isTooLarge = declaredBytes > maxBytes;
    const settle = (reading: BodyReading): void => {
      request.off('data', onData);
      budget.release(open);
      buffer.clear();
      resolve(reading);
    };
    const open: OpenBody = { refuse: () => settle({ outcome: 'over_budget' }) };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > maxBytes) isTooLarge = true;
      if (!isTooLarge) {
        const bytes = buffer.append(chunk);
        for (const body of budget.charge(open, origin, bytes)) body.refuse();
        return;
      }
      budget.release(open);
      buffer.clear();
      if (length > READ_FACTOR * maxBytes) settle({ outcome: 'too_large' });
    };
    request.on('data', onData);
    request.on('end', () => {
      settle(isTooLarge ? { outcome: 'too_large' } : { outcome: 'read', body: buffer.bytes() });
    });
    // Fewer bytes arrived than declared. After a complete body this has no effect.
    const giveUp = (): void => settle({ outcome: 'incomplete_body' });
    request.on('error', giveUp);
    request.on('close', giveUp);
  });
}

const PLAIN = new Set([undefined, 'identity']);

/** What is left of a body that was refused, and may still arrive without closing the connection. */
export const MAX_DISCARDED_BYTES = 64 * 1024;

/**
 * Drops what still arrives of a body, so that the sender can read the reply and use the connection
 * again. Closes the connection if it is much.
 */
export function discardBody(request: IncomingMessage): void {
  let discarded = 0;
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) request.socket.destroy();
  });
  request.resume();
}

export function isDeclaredLonger({ headers }: IncomingMessage, bytes: number): boolean {
  return Number(headers['content-length'] ?? 0) > bytes;
}

interface GrowingBuffer {
  /** @returns the bytes of memory that this takes in addition */
  append(chunk: Buffer): number;
  bytes(): Buffer;
  clear(): void;
}

const EMPTY = Buffer.alloc(0);
const MIN_CAPACITY_BYTES = 4 * 1024;

/**
 * Most bodies arrive in one chunk, which is not copied.
 * @param mostBytes the length of the longest body that can arrive
 */
function createBuffer(mostBytes: number): GrowingBuffer {
  let memory: Buffer = EMPTY;
  let length = 0;
  return {
    append: (chunk) => {
      const before = memory.length;
      if (length === 0) {
        memory = chunk;
      } else {
        memory = withCapacity(memory, length + chunk.length, mostBytes);
        chunk.copy(memory, length);
      }
      length += chunk.length;
      return memory.length - before;
    },
    bytes: () => memory.subarray(0, length),
    clear: () => {
      memory = EMPTY;
      length = 0;
    },
  };
}

/** Memory for at least `needed` bytes, which begins with the given one; grows by doubling. */
function withCapacity(memory: Buffer, needed: number, mostBytes: number): Buffer {
  if (memory.length >= needed) return memory;
  const doubled = Math.min(mostBytes, Math.max(2 * memory.length, MIN_CAPACITY_BYTES));
  const grown = Buffer.allocUnsafeSlow(Math.max(needed, doubled));
  memory.copy(grown);
  return grown;
}
