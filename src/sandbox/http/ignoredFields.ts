/** Request fields that were ignored since the start, for the log and the control routes. */
import type { Endpoint } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { isoTime } from '../domain/time.ts';
import type { SandboxLog } from '../log.ts';

export interface IgnoredField {
  readonly method: string;
  readonly path: string;
  readonly field: string;
  readonly count: number;
  readonly last_at: string;
}

export interface IgnoredFields {
  record(endpoint: Endpoint, fields: readonly string[]): void;
  all(): readonly IgnoredField[];
}

/** Names come from outside, so both their number and their length are limited. */
const MAX_FIELDS = 1_000;
const MAX_NAME_LENGTH = 100;

export function createIgnoredFields(clock: Clock, log: SandboxLog): IgnoredFields {
  const recorded = new Map<string, IgnoredField>();
  return {
    record: ({ method, path }, fields) => {
      if (fields.length === 0) return;
      const names = fields.map((name) => name.slice(0, MAX_NAME_LENGTH));
      log.info({ method, path, fields: names }, 'sandbox.fields_ignored');
      const last_at = isoTime(clock.nowMs());
      for (const field of names) {
        const key = `${method} ${path} ${field}`;
        const count = (recorded.get(key)?.count ?? 0) + 1;
        if (count > 1 || recorded.size < MAX_FIELDS) {
          recorded.set(key, { method, path, field, count, last_at });
        }
      }
    },
    all: () => [...recorded.values()],
  };
}
