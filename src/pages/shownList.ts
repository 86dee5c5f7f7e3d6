import { z } from 'zod';
import { ownPath } from './session/ownPath.ts';

/**
 * The field `next` of a form: the list that was shown, with its filter, to which the action leads back.
 * @param href the list where the field is missing
 */
export function shownList(href: string) {
  return z.string().default(href).transform(ownPath);
}
