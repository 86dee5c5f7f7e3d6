/** Alerts, their outbox and their messages. */
import type { Mistake } from '../mistake.ts';

export const NOTIFY: readonly Mistake[] = [
  {
    guarantee: 'A message is given up after three days, not earlier.',
    file: 'src/notify/domain/retry.ts',
    code: 'GIVE_UP_AFTER_MS = 72 * HOUR_MS',
    mistaken: 'GIVE_UP_AFTER_MS = 71 * HOUR_MS',
    test: 'test/unit/notify/retry.test.ts',
  },
  {
    guarantee: 'Of two workers, one dispatches the outbox, and the other does not wait.',
    file: 'src/alerts/store/outbox.ts',
    code: ' for update skip locked`',
    mistaken: '`',
    test: 'test/notify/claims.test.ts',
    named: 'dispatched by one worker',
  },
  {
    guarantee: 'An attempt that outlived its lease does not postpone the next one.',
    file: 'src/notify/store/messages.ts',
    code: "where id = $1 and attempts = $2 and state = 'due'",
    mistaken: "where id = $1 and $2::int > 0 and state = 'due'",
    test: 'test/notify/claims.test.ts',
    named: 'is not postponed by the first attempt',
  },
  {
    guarantee: 'A late outcome does not overwrite a settled message.',
    file: 'src/notify/store/messages.ts',
    code: "where id = $1 and state = 'due'`",
    mistaken: 'where id = $1`',
    test: 'test/notify/claims.test.ts',
    named: 'when a later outcome',
  },
  {
    guarantee: 'Each of several secrets signs.',
    file: 'src/notify/channels/webhook.ts',
    code: 'signers.map((signer)',
    mistaken: 'signers.slice(0, 1).map((signer)',
    test: 'test/notify/channels.test.ts',
    named: 'accepts the messages that it can verify',
  },
  {
    guarantee: 'Transactions that sync the alerts of one subject wait for each other.',
    file: 'src/alerts/store/alerts.ts',
    code: '      order by subject, rule, variant\n        for update`',
    mistaken: '      order by subject, rule, variant`',
    test: 'test/notify/claims.test.ts',
    named: 'run one after the other',
  },
  {
    guarantee: 'The app may take notifications from the outbox.',
    file: 'migrations/rights/tallyhook_app.sql',
    code: 'grant select, insert, delete on alert_outbox',
    mistaken: 'grant select, insert on alert_outbox',
    test: 'test/platform/rights.test.ts',
    named: 'tallyhook_app',
  },
];
