/** Fields of addresses and forms that name findings. */
import { z } from 'zod';
import { id } from '../../console/schemas.ts';

export const findingClass = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a class such as over_refund');

export const findingSubject = id;

/** Digest of the facts that a page showed. */
export const detailDigest = z
  .string()
  .regex(/^[0-9a-f]{32}$/, 'must be sent by the page that shows the facts');
