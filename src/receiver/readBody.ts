/**
 * Reads the body of a webhook as the bytes that were sent.
 *
 * 1. A body that ends before its declared length is incomplete and is not used.
 * 2. Memory holds at most the limit, and the budget of all bodies is charged for it (domain/bodyBudget.ts).
 *    A longer body is read and dropped, so that the connection can serve further requests, up to
 *    a multiple of the limit.
 * 3. An encoded body is refused, not decompressed: the signature covers the bytes as sent.
 * 4. Small chunks are copied into blocks. A chunk of one byte occupies a hundred, so a body in tiny chunks
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
    const parts = createParts();
    let length = 0;
    let isTooLarge = isDeclaredLonger(request, maxBytes);
    const settle = (reading: BodyReading): void => {
      request.off('data', onData);
      budget.release(open);
      parts.clear();
      resolve(reading);
    };
    const open: OpenBody = { refuse: () => settle({ outcome: 'over_budget' }) };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > maxBytes) isTooLarge = true;
      if (!isTooLarge) {
        const bytes = parts.append(chunk);
        for (const body of budget.charge(open, origin, bytes)) body.refuse();
        return;
      }
      budget.release(open);
      parts.clear();
      if (length > READ_FACTOR * maxBytes) settle({ outcome: 'too_large' });
    };
    request.on('data', onData);
    request.on('end', () => {
      settle(isTooLarge ? { outcome: 'too_large' } : { outcome: 'read', body: parts.bytes() });
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

/** Whether `Content-Length` exceeds a number of bytes. A body without one is measured as it arrives. */
export function isDeclaredLonger({ headers }: IncomingMessage, bytes: number): boolean {
  return Number(headers['content-length'] ?? 0) > bytes;
}

interface BodyParts {
  /** @returns the bytes of memory that this takes in addition */
  append(chunk: Buffer): number;
  bytes(): Buffer;
  clear(): void;
}

/** Smaller chunks are copied. */
const LARGE_CHUNK_BYTES = 1024;
const BLOCK_BYTES = 4 * 1024;

function createParts(): BodyParts {
  let parts: Buffer[] = [];
  let block = Buffer.alloc(0);
  let usedBytes = 0;

  const closeBlock = (): void => {
    if (usedBytes > 0) parts.push(block.subarray(0, usedBytes));
    usedBytes = 0;
    block = Buffer.alloc(0);
  };
  return {
    append: (chunk) => {
      if (chunk.length >= LARGE_CHUNK_BYTES || parts.length === 0) {
        closeBlock();
        parts.push(chunk);
        return chunk.length;
      }
      const isNew = usedBytes + chunk.length > block.length;
      if (isNew) {
        closeBlock();
        block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      }
      usedBytes += chunk.copy(block, usedBytes);
      return isNew ? BLOCK_BYTES : 0;
    },
    bytes: () => {
      closeBlock();
      const [only] = parts;
      return parts.length === 1 && only ? only : Buffer.concat(parts);
    },
    clear: () => {
      parts = [];
      block = Buffer.alloc(0);
      usedBytes = 0;
    },
  };
}
