/**
 * How often a test kills a process that removes or moves old data, each time at a random moment. Every run of
 * the suite has a seed of its own, so the moments add up; scripts/kill-removals.sh kills more often at once.
 */
export const KILLS = Number(process.env.TEST_KILLS ?? 4);
