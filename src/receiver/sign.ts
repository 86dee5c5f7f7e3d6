import { createHmac } from 'node:crypto';

/** Signs a body as the service does. Interface document, section "Authentication", 6. */
export function signBody(body: Buffer, secret: string): Buffer {
  return createHmac('sha512', secret).update(body).digest();
}
