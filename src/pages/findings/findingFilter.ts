/** The filter of findings in an address. */
import { z } from 'zod';
import { id } from '../../console/schemas.ts';

export const findingClass = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a class such as over_refund');

export const findingSubject = id;
