/**
 * Reads a webhook's body as the bytes it was sent as.
 *
 * 1. A body is whole or it is none: one that ends before its declared length is incomplete.
 * 2. Never more than the limit is kept in memory. What is beyond it is read off, so that the
 *    connection goes on to serve other requests; the server's timeout bounds how long.
 * 3. An encoded body is refused, not inflated: the signature covers the bytes as sent.
 *
 * Express's `raw` does the same for any kind of body, through several layers and a copy that showed in
 * the profile of the route that everything comes by.
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
    // Fewer bytes arrived than declared. After the end of a whole body this has no effect.
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
