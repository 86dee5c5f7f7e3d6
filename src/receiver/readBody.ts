/**
 * Reads the body of a webhook as the bytes that were sent.
 *
 * 1. A body that ends before its declared length is incomplete and is not used.
 * 2. Memory holds at most the limit. The rest is read and dropped, so that the connection can serve
 *    further requests; the server's timeout bounds how long that takes.
 * 3. An encoded body is refused, not decompressed: the signature covers the bytes as sent.
 *
 * Express's `raw` passes every body through several layers and a copy, which showed in profiles of this
 * route.
 */
import type { IncomingMessage } from 'node:http';

export type BodyReading =
  | { readonly outcome: 'read'; readonly body: Buffer }
  | { readonly outcome: 'too_large' | 'encoded_body' | 'incomplete_body' };

/** Never rejects. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<BodyReading> {
  return new Promise((resolve) => {
    const isEncoded = !PLAIN.has(request.headers['content-encoding']?.toLowerCase());
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (!isEncoded && length <= maxBytes) chunks.push(chunk);
    });
    request.on('end', () => {
      if (isEncoded) resolve({ outcome: 'encoded_body' });
      else if (length > maxBytes) resolve({ outcome: 'too_large' });
      else resolve({ outcome: 'read', body: join(chunks, length) });
    });
    // Fewer bytes arrived than declared. After a complete body this has no effect.
    const giveUp = (): void => resolve({ outcome: 'incomplete_body' });
    request.on('error', giveUp);
    request.on('close', giveUp);
  });
}

const PLAIN = new Set([undefined, 'identity']);

/** Most bodies arrive in one piece, which need not be copied. */
function join(chunks: readonly Buffer[], length: number): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks, length);
}
