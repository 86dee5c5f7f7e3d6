/** The daily summary: a message to every channel that gets alerts, regardless of its severity. */

import type { Severity } from '../alerts/domain/alert.ts';
import { countOpenAlerts } from '../alerts/store/openAlerts.ts';
import { toSafeInteger } from '../contract/money.ts';
import { formatHead } from '../ledger/domain/chain.ts';
import { type DayTotals, readDayTotals } from '../ledger/read/store/dayTotals.ts';
import { countOpenFindings } from '../ledger/read/store/openFindings.ts';
import { readChainHead } from '../ledger/store/chain.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { DAY_MS } from '../platform/time.ts';
import type { ChannelName, DaySummary } from './domain/message.ts';
import { insertMessages } from './store/messages.ts';

export interface SummaryParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly channels: readonly ChannelName[];
}

/**
 * Enqueues the summary of the day before a slot, in UTC, however late the slot is run. A second run for
 * the same day writes nothing. A day without activity and without anything open has no summary: there
 * may be no shop yet.
 */
export async function enqueueDailySummary(
  { db, clock, channels }: SummaryParts,
  slot: Date,
): Promise<void> {
  const slotMs = slot.getTime();
  const to = new Date(slotMs - (slotMs % DAY_MS));
  const from = new Date(to.getTime() - DAY_MS);
  const day = from.toISOString().slice(0, 10);
  const bySeverity = new Map(
    (await countOpenAlerts(db)).map(({ severity, open }) => [severity, open]),
  );
  const open = (severity: Severity): number => bySeverity.get(severity) ?? 0;
  const head = await readChainHead(db);
  const summary: DaySummary = {
    day,
    currencies: (await readDayTotals(db, { from, to })).map((totals) => inJson(totals, day)),
    openFindings: await countOpenFindings(db),
    chainHead: head ? formatHead(head) : null,
    openAlerts: { info: open('info'), warning: open('warning'), critical: open('critical') },
  };
  const isEmpty = summary.currencies.length === 0 && summary.openFindings === 0;
  if (isEmpty && bySeverity.size === 0) return;
  const messages = channels.map((channel) => ({
    // The day is part of the id: a run that died after its commit is repeated.
    id: `msg_summary.${day}.${channel}`,
    channel,
    content: { kind: 'summary', summary } as const,
    stream: undefined,
  }));
  await insertMessages(db, messages, new Date(clock.nowMs()));
}

/** @throws RangeError for a sum that JSON cannot carry exactly */
function inJson({ currency, ...sums }: DayTotals, day: string): DaySummary['currencies'][number] {
  const tooLarge = Object.values(sums).find((sum) => !Number.isSafeInteger(Number(sum)));
  if (tooLarge !== undefined) {
    throw new RangeError(
      `The summary of ${day} is not sent: no message carries the sum of ${tooLarge} minor units of ${currency} ` +
        `exactly. \`npx tallyhook statement --month ${day.slice(0, 7)} --currency ${currency}\` shows the sums.`,
    );
  }
  return {
    currency,
    capturedMinor: toSafeInteger(sums.capturedMinor),
    refundedMinor: toSafeInteger(sums.refundedMinor),
    disputedMinor: toSafeInteger(sums.disputedMinor),
    paidOutMinor: toSafeInteger(sums.paidOutMinor),
  };
}
