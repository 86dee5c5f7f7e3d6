import type { ResourceFacts } from '../facts.ts';

/**
 * Whether a known resource is in an earlier status than a body without a version reports at the same stage: the
 * bodies that bring the earlier status may lag behind that one. Alerts stay as they are meanwhile. Compared with
 * the stored status alone, the second body that lags would end what the first one left.
 * @param progressOf the place of a status within its stage
 */
export function hasFallenBack(
  { before, status, stage, statusAhead }: ResourceFacts,
  progressOf: (status: string | undefined) => number,
): boolean {
  if (statusAhead === undefined || before === undefined || before.stage !== stage) return false;
  return progressOf(status) < progressOf(statusAhead);
}
