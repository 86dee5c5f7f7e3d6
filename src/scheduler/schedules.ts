/** What runs when: one table. Times are in UTC. */
import type { Sweep } from '../ledger/sweep.ts';

export interface Schedule {
  readonly name: string;
  /** Five fields of cron. */
  readonly cron: string;
  readonly run: () => Promise<void>;
  /** What to run once when the scheduler starts. */
  readonly atStart: () => Promise<void>;
}

export function scheduleTable({ sweep }: { readonly sweep: Sweep }): readonly Schedule[] {
  return [{ name: 'sweep', cron: '* * * * *', run: sweep.overdue, atStart: sweep.everything }];
}
