/** What the forms of the sandbox offer. */
import { HOUR_MS } from '../../platform/time.ts';

export const SANDBOX_CURRENCIES = ['EUR', 'USD', 'JPY', 'KWD'] as const;

/** Shares of cases in which a fault happens. */
export const SHARES = [
  { value: '0', label: 'off' },
  { value: '0.1', label: '1 in 10' },
  { value: '0.5', label: 'every second' },
  { value: '1', label: 'always' },
] as const;

/** Steps by which the clock moves, in milliseconds. */
export const CLOCK_STEPS = [
  { value: String(60_000), label: '1 minute' },
  { value: String(HOUR_MS), label: '1 hour' },
  { value: String(24 * HOUR_MS), label: '1 day' },
  { value: String(7 * 24 * HOUR_MS), label: '7 days: authorizations expire' },
  { value: String(10 * 24 * HOUR_MS), label: '10 days: disputes expire' },
] as const;
