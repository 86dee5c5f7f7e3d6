/** The ids that the path of a request names. */
import type { Request } from 'express';
import { idOfPart } from '../../alerts/domain/subjectPath.ts';

export function paramsOf({ params }: Request): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(params).map(([name, part]) => [name, idOfPart(String(part))]),
  );
}
