/**
 * The names of all queues. The PostgreSQL backend creates an object for each; `migrate` does so first,
 * because processes may not.
 */
export const QUEUES = {
  events: 'events',
  reconcile: 'reconcile',
  probe: 'probe',
} as const;

/** What the names of BullMQ's keys in Redis begin with, unless REDIS_PREFIX is set. */
export const DEFAULT_PREFIX = 'bull';
