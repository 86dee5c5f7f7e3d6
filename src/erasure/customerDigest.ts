import { hash } from 'node:crypto';

/** What a request that is done keeps of a customer's id. */
export function digestOfCustomer(id: string): string {
  return `sha256:${hash('sha256', id, 'hex')}`;
}
