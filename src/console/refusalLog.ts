/**
 * Logs refused requests, at most a few lines a minute: a stranger must not fill the disk. The next line
 * after that has the number of lines that were left out.
 */
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { MINUTE_MS } from '../platform/time.ts';

export const MAX_LINES = 30;

export type RefusalLog = (
  facts: Readonly<Record<string, string | number>>,
  event:
    | 'console.unauthorized'
    | 'console.address_limited'
    | 'console.forbidden'
    | 'console.sign_in_refused',
) => void;

export function createRefusalLog(log: Log, clock: Clock): RefusalLog {
  let endsMs = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let notLogged = 0;
  return (facts, event) => {
    const nowMs = clock.nowMs();
    if (nowMs >= endsMs) {
      endsMs = nowMs + MINUTE_MS;
      lines = 0;
    }
    if (lines >= MAX_LINES) {
      notLogged += 1;
      return;
    }
    lines += 1;
    log.warn(notLogged > 0 ? { ...facts, notLogged } : facts, event);
    notLogged = 0;
  };
}
