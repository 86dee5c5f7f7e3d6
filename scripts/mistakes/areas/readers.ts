/** What reads the ledger: open pages, order webhooks, standbys, the feed. */
import type { Mistake } from '../mistake.ts';

export const READERS: readonly Mistake[] = [
  {
    guarantee: 'A topic that is first read after a page has moved for it.',
    file: 'src/pages/live/watcher.ts',
    code: 'Math.max(one.movedTick, one.firstTick) > since',
    mistaken: 'one.movedTick > since',
    test: 'test/unit/pages/watcher.test.ts',
  },
  {
    guarantee: 'The totals of an imported order count as sent.',
    file: 'src/notify/domain/orderWebhooks.ts',
    code: 'if (change.isHistory && change.number !== order.lastChange) continue;',
    mistaken: 'if (change.isHistory) continue;',
    test: 'test/unit/notify/orderWebhooks.test.ts',
  },
  {
    guarantee: 'Several changes of an order in one batch send one update of its totals.',
    file: 'src/notify/domain/orderWebhooks.ts',
    code: 'sentTotals.get(change.orderKey)?.totals ?? sentBefore.get(change.orderKey)',
    mistaken: 'sentBefore.get(change.orderKey)',
    test: 'test/unit/notify/orderWebhooks.test.ts',
  },
  {
    guarantee: 'A read includes what this process has just written.',
    file: 'src/platform/db/reads.ts',
    code: 'ageMs <= MAX_AGE_MS && provenMs > requiredMs',
    mistaken: 'ageMs <= MAX_AGE_MS',
    test: 'test/unit/platform/reads.test.ts',
  },
  {
    guarantee: 'A standby on another timeline than the primary is not read.',
    file: 'src/platform/db/reads.ts',
    code: 'if (primary.timeline !== standby.timeline)',
    mistaken: 'if (standby.timeline === null)',
    test: 'test/unit/platform/reads.test.ts',
  },
  {
    guarantee: 'A reader that has read exactly what both servers have continues.',
    file: 'src/ledger/domain/feedEpochs.ts',
    code: 'if (last < after) {',
    mistaken: 'if (last <= after) {',
    test: 'test/unit/ledger/feedEpochs.test.ts',
  },
  {
    guarantee: 'A webhook that was signed in the future is refused.',
    file: 'src/webhooks/verify.ts',
    code: 'if (signedMs - nowMs > toleranceMs) {',
    mistaken: 'if (signedMs - nowMs > 1_000 * toleranceMs) {',
    test: 'test/unit/webhooks/verify.test.ts',
  },
  {
    guarantee: 'A row at the end of a scan is on its page.',
    file: 'src/ledger/domain/listPage.ts',
    code: 'newestFirst(row, frontier) <= 0',
    mistaken: 'newestFirst(row, frontier) < 0',
    test: 'test/unit/ledger/listPage.test.ts',
  },
];
