/**
 * The service's signature. It shares no code with the receiver's verification, so that a mistake in one
 * fails in the other. service-interface.md §5.4.
 */
import { createHmac } from 'node:crypto';
import { SIGNATURE_ALGORITHM } from '../../contract/index.ts';

/** Lower-case hexadecimal without a prefix. */
export function signWebhook(body: string, secret: string): string {
  return createHmac(SIGNATURE_ALGORITHM, Buffer.from(secret, 'utf8'))
    .update(Buffer.from(body, 'utf8'))
    .digest('hex');
}
