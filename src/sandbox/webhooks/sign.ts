/**
 * The service's own signature. Written apart from the receiver's, so that a mistake of one shows on
 * the other. service-interface.md §5.4.
 */
import { createHmac } from 'node:crypto';
import { SIGNATURE_ALGORITHM } from '../../contract/index.ts';

/** Lower-case hexadecimal, without a prefix, as the family sends it. */
export function signWebhook(body: string, secret: string): string {
  return createHmac(SIGNATURE_ALGORITHM, Buffer.from(secret, 'utf8'))
    .update(Buffer.from(body, 'utf8'))
    .digest('hex');
}
