import type { ResourceFacts } from '../facts.ts';

/**
 * Whether a resource is in an earlier status of the same stage while a body without a version reports the later
 * one: the response that brought the earlier status may lag behind that body. Alerts stay as they are meanwhile.
 * @param progressOf the place of a status within its stage
 */
export function hasFallenBack(
  { before, status, stage, isUncertain }: ResourceFacts,
  progressOf: (status: string | undefined) => number,
): boolean {
  if (!isUncertain || before === undefined || before.stage !== stage) return false;
  return progressOf(status) < progressOf(before.status);
}
