/**
 * How often a test kills a process that removes or moves old data, each time at a random moment. Every run of
 * the suite has a seed of its own, so the moments add up; scripts/kill-removals.sh kills more often at once.
 */
export const KILLS = Number(process.env.TEST_KILLS ?? 4);

/** How often test/flow/kill.test.ts kills the one process, and each worker process with each queue. */
export const SINGLE_KILLS = Number(process.env.SINGLE_KILLS ?? 5);
export const ROLE_KILLS = Number(process.env.ROLE_KILLS ?? 1);

const LOADED_ROLES = ['receiver', 'events', 'scheduler', 'alerts'] as const;
/** Those that have work to lose under a load of webhooks; test/flow/killWhileHealing.test.ts kills `reconcile`. */
export type LoadedRole = (typeof LOADED_ROLES)[number];

/**
 * The roles to kill, one after the other. `alerts` takes minutes, because what it was sending is sent again
 * after a lease; test/flow/authorizations.test.ts kills it on a clock that advances.
 */
const { KILLED_ROLES: named = 'receiver,events,scheduler' } = process.env;
export const KILLED_ROLES: readonly LoadedRole[] = LOADED_ROLES.filter((role) =>
  named.split(',').includes(role),
);
