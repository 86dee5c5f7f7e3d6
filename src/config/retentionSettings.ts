/** Settings of retention: after how many days each class of data is removed, or `never`. */
import { z } from 'zod';

const MAX_DAYS = 36_500;

/** Whole days, or `never`, which is undefined. */
function days(min: number) {
  const range = `must be whole days from ${min} to ${MAX_DAYS}, or never`;
  return z
    .string()
    .trim()
    .regex(/^(never|\d{1,5})$/, range)
    .transform((text) => (text === 'never' ? undefined : Number(text)))
    .pipe(z.int().min(min, range).max(MAX_DAYS, range).optional());
}

export const RETENTION_SETTINGS = {
  RETENTION_BODIES_DAYS: days(2).prefault('90'),
  RETENTION_EVENTS_DAYS: days(400).prefault('400'),
  RETENTION_MESSAGES_DAYS: days(4).prefault('30'),
  RETENTION_CHANGES_DAYS: days(7).prefault('90'),
  RETENTION_ALERTS_DAYS: days(1).prefault('400'),
  RETENTION_FINDINGS_DAYS: days(1).prefault('400'),
  RETENTION_RUNS_DAYS: days(7).prefault('90'),
  RETENTION_SESSIONS_DAYS: days(1).prefault('30'),
} as const;

type Settings = z.output<z.ZodObject<typeof RETENTION_SETTINGS>>;

/** Days after which the rows of each class are removed; undefined: never. */
export interface RetentionDays {
  readonly bodies: number | undefined;
  readonly events: number | undefined;
  readonly messages: number | undefined;
  readonly changes: number | undefined;
  readonly alerts: number | undefined;
  readonly findings: number | undefined;
  readonly runs: number | undefined;
  readonly sessions: number | undefined;
}

export function retentionOf(settings: Settings): RetentionDays {
  return {
    bodies: settings.RETENTION_BODIES_DAYS,
    events: settings.RETENTION_EVENTS_DAYS,
    messages: settings.RETENTION_MESSAGES_DAYS,
    changes: settings.RETENTION_CHANGES_DAYS,
    alerts: settings.RETENTION_ALERTS_DAYS,
    findings: settings.RETENTION_FINDINGS_DAYS,
    runs: settings.RETENTION_RUNS_DAYS,
    sessions: settings.RETENTION_SESSIONS_DAYS,
  };
}
