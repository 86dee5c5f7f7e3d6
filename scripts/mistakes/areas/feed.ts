/** Locks of the ledger, and the change feed. */
import type { Mistake } from '../mistake.ts';

export const FEED: readonly Mistake[] = [
  {
    guarantee: 'A worker that hangs does not hold up the others for long.',
    file: 'src/ledger/inbox/applyEvents.ts',
    code: 'limitLockWaits(tx, LANES_HELD_FOR_MS)',
    mistaken: 'limitLockWaits(tx, 3_600_000)',
    test: 'test/ledger/jobs.test.ts',
    named: 'wait for one that hangs once',
  },
  {
    guarantee: 'Workers that work for long do not ignore the lanes of each other.',
    file: 'src/ledger/inbox/applyEvents.ts',
    code: 'if (!holder) throw error.cause;',
    mistaken: '',
    test: 'test/ledger/jobs.test.ts',
    named: 'still leave them to it',
  },
  {
    guarantee: 'A job leaves events of a payment to the worker that is applying others of it.',
    file: 'src/ledger/inbox/store/pending.ts',
    code: 'pg_try_advisory_xact_lock(',
    mistaken: 'pg_try_advisory_xact_lock_shared(',
    test: 'test/ledger/locks.test.ts',
    named: 'which wait for it: a job',
  },
  {
    guarantee:
      'A job ends when none of its events is left, also if another worker held them and failed.',
    file: 'src/ledger/inbox/jobs.ts',
    code: 'if (held.length > 0) await parts.applier.applyHeld(held);',
    mistaken: '',
    test: 'test/ledger/jobs.test.ts',
    named: 'leave no event behind',
  },
  {
    guarantee: 'A claim does not wait for events that another transaction is applying.',
    file: 'src/ledger/inbox/store/pending.ts',
    code: 'ARE_CLAIMED[lanes]}\n                 order by webhook_event_id\n                   for update skip locked)',
    mistaken:
      'ARE_CLAIMED[lanes]}\n                 order by webhook_event_id\n                   for update)',
    test: 'test/ledger/locks.test.ts',
    named: 'are skipped without waiting, and available',
  },
  {
    guarantee:
      'A transaction that holds a resource and not its order ends before it waits for the order.',
    file: 'src/ledger/applySnapshots.ts',
    code: '  requireOrders(rows, orders);\n',
    mistaken: '',
    test: 'test/ledger/locks.test.ts',
    named: 'a resource of an order that it does not hold',
  },
  {
    guarantee: 'Resources are locked in the order of their keys.',
    file: 'src/ledger/store/resources.ts',
    code: 'order by kind, id) wanted',
    mistaken: 'order by kind desc, id desc) wanted',
    test: 'test/ledger/locks.test.ts',
    named: 'are locked in the order',
  },
  {
    guarantee: 'The oldest changes get their numbers first.',
    file: 'src/ledger/store/changes.ts',
    code: 'select id from change_log order by id limit $1',
    mistaken: 'select id from change_log limit $1',
    test: 'test/ledger/changeFeed.test.ts',
    named: 'is given to older changes first',
  },
  {
    guarantee: "The number of an order's last change is not shown while a later change has none.",
    file: 'src/ledger/store/changes.ts',
    code: "\n      where not exists (\n        select from change_log l where l.kind = 'order' and l.subject = wanted.order_key)",
    mistaken: '',
    test: 'test/ledger/changeFeed.test.ts',
    named: 'of the last change of an order is not shown',
  },
  {
    guarantee: 'A reader that is one ahead of the feed is not believed.',
    file: 'src/ledger/changeFeed.ts',
    code: 'if (after > last)',
    mistaken: 'if (after > last + 1)',
    test: 'test/ledger/changeFeed.test.ts',
    named: 'rejects a cursor that is ahead by one',
  },
  {
    guarantee: 'After a page that is exactly full, no more is promised.',
    file: 'src/ledger/changeFeed.ts',
    code: 'hasMore: rows.length > limit',
    mistaken: 'hasMore: rows.length >= limit',
    test: 'test/ledger/changeFeed.test.ts',
    named: 'also after one that is exactly full',
  },
  {
    guarantee: 'An opened finding is a change of its order.',
    file: 'src/ledger/recordChanges.ts',
    code: ' ||\n    update.open_findings.join() !== row.openFindings.join()',
    mistaken: '',
    test: 'test/ledger/changeFeed.test.ts',
    named: 'when a finding about a part of an order opens',
  },
];
