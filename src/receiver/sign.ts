import { createHmac } from 'node:crypto';
import { SIGNATURE_ALGORITHM } from '../contract/signature.ts';

/** Signs a body as the service does. service-interface.md §5.4. */
export function signBody(body: Buffer, secret: string): Buffer {
  return createHmac(SIGNATURE_ALGORITHM, secret).update(body).digest();
}
