/** Counts payments at the service; the rules are those of domain/totals.ts. */
import { PAYMENT_LIST_STATUSES } from '../contract/requests/payments.ts';
import { readResource } from '../ledger/domain/snapshot.ts';
import { type Cell, contradictsCell } from './domain/totals.ts';
import { isWithin, type Span } from './domain/windows.ts';
import type { RunContext } from './runContext.ts';

export interface RemoteCounts {
  /** @returns undefined where the service sends no total, or one that is of something else */
  readonly count: (cell: Cell, span: Span) => Promise<number | undefined>;
  /** Whether the service applied every filter so far, as far as the rows show. */
  readonly areUsable: () => boolean;
}

export function createRemoteCounts({ parts, requester }: RunContext): RemoteCounts {
  let areUsable = true;

  const isOther = (row: unknown, cell: Cell, span: Span): boolean => {
    const reading = readResource(row, parts.clock.nowMs() * 1000);
    if (reading.outcome !== 'read') return false;
    const { createdMicros } = reading.content;
    const createdMs = createdMicros === undefined ? undefined : createdMicros / 1000;
    return contradictsCell(cell, reading.content) || !isWithin(span, createdMs);
  };

  return {
    areUsable: () => areUsable,
    count: async (cell, span) => {
      if (!areUsable) return undefined;
      const { status, currency } = cell;
      const page = await requester.request((options) =>
        parts.client.payments.list(
          {
            limit: 1,
            created_gte: new Date(span.fromMs).toISOString(),
            created_lte: new Date(span.toMs).toISOString(),
            ...(currency !== undefined && { currency }),
            ...(isListStatus(status) && { status }),
          },
          options,
        ),
      );
      areUsable = ![...page.items, ...page.unreadable].some((row) => isOther(row, cell, span));
      return areUsable ? page.totalCount : undefined;
    },
  };
}

type ListStatus = (typeof PAYMENT_LIST_STATUSES)[number];

function isListStatus(status: string | undefined): status is ListStatus {
  return (PAYMENT_LIST_STATUSES as readonly (string | undefined)[]).includes(status);
}
