/** What doctor reports of the parts of an installation, and what to do about it. */
import { describe, expect, test } from 'vitest';
import {
  failed,
  type Judgment,
  notChecked,
  ok,
  warning,
} from '../../../src/doctor/domain/judge.ts';
import { judgeDeliveries, type SentDelivery } from '../../../src/doctor/domain/judgeDeliveries.ts';
import {
  judgeConnections,
  judgePorts,
  judgeSecretFiles,
} from '../../../src/doctor/domain/judgeExposure.ts';
import { judgePooling } from '../../../src/doctor/domain/judgePooling.ts';
import {
  chooseProfiles,
  judgeAddresses,
  judgeEvents,
  judgeSecrets,
  type ProfileFacts,
} from '../../../src/doctor/domain/judgeProfiles.ts';
import { judgeReplication } from '../../../src/doctor/domain/judgeReplication.ts';
import { judgeRights } from '../../../src/doctor/domain/judgeRights.ts';
import { judgeSession } from '../../../src/doctor/domain/judgeSession.ts';
import { judgeStandby } from '../../../src/doctor/domain/judgeStandby.ts';
import { MINUTE_MS } from '../../../src/platform/time.ts';

type Row = readonly [name: string, judge: () => Judgment, expected: Judgment];

const sent = (httpStatus: number | null): SentDelivery => ({
  eventId: 'evt_1',
  sentAt: '2026-11-29T06:00:00.000Z',
  httpStatus,
});
const LAST = 'the last webhook of the sandbox (evt_1, 2026-11-29T06:00:00.000Z)';
const TRY = 'Run `npx tallyhook trigger payment_succeeded`; then check again.';
const SAME = 'Start receiver and sandbox with the same HOST, PORT, WEBHOOK_PATH and DATABASE_URL.';
const LOG = "Read the receiver's log at that time, and `npx tallyhook processes`.";

const DELIVERIES: readonly Row[] = [
  [
    'none',
    () => judgeDeliveries([], undefined),
    notChecked('the sandbox has sent no webhook yet', TRY),
  ],
  [
    'one that cannot be compared',
    () => judgeDeliveries([sent(200)], undefined),
    notChecked(
      `${LAST} was acknowledged, and the inbox cannot be read`,
      'Fix the database check first.',
    ),
  ],
  [
    'one that another program received',
    () => judgeDeliveries([sent(200)], false),
    failed(
      `${LAST} was acknowledged and is not in the inbox: another program received it, or a receiver of another database`,
      `${SAME} ${TRY}`,
    ),
  ],
  [
    'no response',
    () => judgeDeliveries([sent(null)], true),
    failed(
      `${LAST} was not acknowledged: no response`,
      `Start the receiver if it does not run. ${SAME} ${TRY}`,
    ),
  ],
  [
    'another secret',
    () => judgeDeliveries([sent(401)], true),
    failed(
      `${LAST} was not acknowledged: the receiver knows no secret that matches its signature (HTTP 401)`,
      `Set SANDBOX_WEBHOOK_SECRET to one value for the receiver and the sandbox, and restart both. ${TRY}`,
    ),
  ],
  [
    'another path',
    () => judgeDeliveries([sent(404)], true),
    failed(
      `${LAST} was not acknowledged: nothing receives webhooks at that path (HTTP 404)`,
      `${SAME} ${TRY}`,
    ),
  ],
  ...[100, 300].map(
    (status): Row => [
      `a response with ${status}, which acknowledges nothing`,
      () => judgeDeliveries([sent(status), sent(null)], true),
      failed(
        `${LAST} was not acknowledged: HTTP ${status}; 0 of the last 2 were acknowledged`,
        `${LOG} ${TRY}`,
      ),
    ],
  ),
];

const PRIVATE = {
  databaseUrl: undefined,
  migrateDatabaseUrl: undefined,
  queueDatabaseUrl: undefined,
  databaseReadUrl: undefined,
  redis: undefined,
};
const redis = (host: string) => ({ ...PRIVATE, redis: { hosts: [host], isTls: false } });
const TLS =
  'Add ?sslmode=verify-full to a postgres:// URL, and use rediss:// for Redis. Without TLS, whoever reads the network reads the password and the payments.';
const PROXY =
  'Use 127.0.0.1 with a proxy that adds TLS, or let only a private network reach the port. Tokens of the admin port cross the network unencrypted, and the health port requires none.';
const file = (name: string, isOpen: boolean) => ({ name, path: `/run/${name}`, isOpen });

const EXPOSURE: readonly Row[] = [
  [
    'private connections',
    () => judgeConnections(PRIVATE),
    ok('connections leave this machine only encrypted'),
  ],
  [
    'a socket in the folder of its default',
    () => judgeConnections({ ...PRIVATE, databaseUrl: 'postgres:///shop' }),
    ok('connections leave this machine only encrypted'),
  ],
  [
    'an address that ends like the one of this machine',
    () => judgeConnections(redis('not-localhost')),
    warning('REDIS_URL connects to not-localhost without TLS', TLS),
  ],
  [
    'private ports',
    () => judgePorts({ adminHost: 'localhost', metricsHost: undefined }),
    ok('the admin port and the health port are open to this machine only'),
  ],
  [
    'open ports',
    () => judgePorts({ adminHost: '::', metricsHost: '0.0.0.0' }),
    warning(
      'ADMIN_HOST opens the admin port at ::\nMETRICS_HOST opens the health port at 0.0.0.0',
      PROXY,
    ),
  ],
  ['no files', () => judgeSecretFiles([]), ok('no secret is read from a file of its own')],
  [
    'private files',
    () => judgeSecretFiles([file('CHAIN_KEY', false), file('ADMIN_TOKEN', false)]),
    ok('CHAIN_KEY, ADMIN_TOKEN: only the owner and the group read the file'),
  ],
  [
    'files that others read',
    () => judgeSecretFiles([file('A', true), file('B', false), file('C', true)]),
    warning(
      'A_FILE: every user of the machine can read or change /run/A\nC_FILE: every user of the machine can read or change /run/C',
      'Run: chmod 400 /run/A /run/C',
    ),
  ],
];

const NO_SESSION = {
  redisUrl: undefined,
  queueDatabaseUrl: undefined,
  migrateDatabaseUrl: undefined,
};

const POOLING: readonly Row[] = [
  [
    'none',
    () => judgePooling({ mode: 'direct' }, NO_SESSION),
    ok('no pooler: connections lead to PostgreSQL'),
  ],
  [
    'in session mode',
    () => judgePooling({ mode: 'session' }, NO_SESSION),
    ok('a pooler in session mode: each connection has a session of its own'),
  ],
  [
    'in statement mode',
    () => judgePooling({ mode: 'statement' }, NO_SESSION),
    failed(
      'a pooler in statement mode, which allows no transactions: nothing can be persisted',
      'Set the pooler to transaction mode (pool_mode = transaction), or let DATABASE_URL name the server.',
    ),
  ],
  [
    'in transaction mode, with the queue behind it',
    () => judgePooling({ mode: 'transaction', keepsStatements: true }, NO_SESSION),
    failed(
      'a pooler in transaction mode, and the queue listens for jobs in a session of its own: events would be persisted but not applied',
      'Set QUEUE_DATABASE_URL to the PostgreSQL server itself, or REDIS_URL to Redis.',
    ),
  ],
];

const profile = (more: Partial<ProfileFacts> = {}, url?: string): ProfileFacts => ({
  profileId: 'pro_1',
  details: { webhook_url: url },
  secret: 1,
  ...more,
});
const PATH = { webhookPath: '/webhooks', publicUrl: undefined };
const WHOLE = { webhookPath: '/webhooks', publicUrl: 'https://shop.example/webhooks?token=a' };
const listed = (count: number) => ({
  kind: 'profiles' as const,
  profiles: Array.from({ length: count }, (_, n) => profile({ profileId: `p${n + 1}` })),
});
const OTHERS =
  'Enable all events for pro_1 at the service. Until then, only reconciliation finds the other changes.';
const HIDDEN =
  'Compare it with WEBHOOK_SECRETS yourself, for example in the dashboard of the service.';

const PROFILES: readonly Row[] = [
  [
    'no endpoint',
    () => chooseProfiles({ kind: 'absent' }, undefined, PATH).judgment,
    notChecked(
      'the service shows no business profiles of this account (HTTP 404)',
      'Check PAYMENTS_MERCHANT_ID. If the service has no such endpoint, check its dashboard: the webhook address must end in /webhooks, and its secret must be one of WEBHOOK_SECRETS.',
    ),
  ],
  ['five', () => chooseProfiles(listed(5), undefined, PATH).judgment, ok('p1, p2, p3, p4, p5')],
  [
    'seven',
    () => chooseProfiles(listed(7), undefined, PATH).judgment,
    ok('p1, p2, p3, p4, p5 and 2 more'),
  ],
  [
    'without details',
    () => judgeAddresses([profile({ details: undefined })], PATH),
    failed(
      'pro_1 has no address, so no webhook is sent',
      'Set the webhook address of pro_1 at the service to the address of this receiver, ending in /webhooks.',
    ),
  ],
  [
    'with another address',
    () => judgeAddresses([profile({}, 'https://shop.example/hooks')], WHOLE),
    failed(
      'pro_1 sends webhooks to https://shop.example/hooks',
      'Set the webhook address of pro_1 at the service to https://shop.example/webhooks.',
    ),
  ],
  [
    'with another path',
    () => judgeAddresses([profile({}, 'https://shop.example/hooks')], PATH),
    warning(
      "pro_1 sends webhooks to https://shop.example/hooks, and this receiver's path is /webhooks",
      'Set the webhook address of pro_1 at the service to the address of this receiver, ending in /webhooks. If a proxy maps one path to the other, set WEBHOOK_PUBLIC_URL to the public address.',
    ),
  ],
  [
    'with secrets that are hidden, each named',
    () =>
      judgeSecrets(
        [profile({ secret: 'hidden' }), profile({ profileId: 'pro_2', secret: 'hidden' })],
        'service',
      ),
    notChecked(
      'the service does not show the secret of pro_1\nthe service does not show the secret of pro_2',
      `${HIDDEN} ${HIDDEN}`,
    ),
  ],
  ['with every event', () => judgeEvents([profile()]), ok('pro_1 sends every event')],
  ...(
    [
      [{ payment_created_enabled: false }, 'payment_created_enabled is off'],
      [
        { payment_succeeded_enabled: false, payment_statuses_enabled: ['succeeded'] },
        'payment_succeeded_enabled is off, payment_statuses_enabled is set',
      ],
      [{ refund_statuses_enabled: ['failed'] }, 'refund_statuses_enabled is set'],
    ] satisfies readonly (readonly [ProfileFacts['details'], string])[]
  ).map(
    ([details, restrictions]): Row => [
      `with fewer events: ${restrictions}`,
      () => judgeEvents([profile({ details })]),
      warning(`pro_1 does not send every event: ${restrictions}`, OTHERS),
    ],
  ),
  [
    'with more and with fewer events, the worst first',
    () =>
      judgeEvents([
        profile({ profileId: 'pro_2' }),
        profile({ details: { payment_failed_enabled: false } }),
      ]),
    warning(
      'pro_1 does not send every event: payment_failed_enabled is off\npro_2 sends every event',
      OTHERS,
    ),
  ],
];

const REPLICATION = {
  synchronousCommit: 'on',
  synchronousStandbyNames: 'a',
  fsync: 'on',
  fullPageWrites: 'on',
  standbys: 1,
  synchronous: 1,
  isPatroni: false,
};
const ASYNCHRONOUS = { ...REPLICATION, synchronousStandbyNames: '', synchronous: 0 };
const LOSES = '1 standby, none of them synchronous: a failover can lose what was acknowledged last';
const SET_NAMES =
  'Set synchronous_standby_names; with Patroni synchronous_mode and synchronous_mode_strict.';
const STRICT =
  'With Patroni, synchronous_mode alone empties synchronous_standby_names when no standby is left, and goes on; synchronous_mode_strict keeps it.';
const COMMIT = 'Set synchronous_commit = on, also for the role and the database of DATABASE_URL.';
const COMMITTED = 'acknowledged events are on 1 synchronous standby of 1';

const REPLICATED: readonly Row[] = [
  ...['on', 'remote_apply', 'remote_write'].map(
    (synchronousCommit): Row => [
      `with synchronous_commit = ${synchronousCommit}`,
      () => judgeReplication({ ...REPLICATION, synchronousCommit }),
      ok(COMMITTED),
    ],
  ),
  [
    'by Patroni',
    () => judgeReplication({ ...REPLICATION, isPatroni: true }),
    ok(`${COMMITTED}. ${STRICT}`),
  ],
  ['asynchronously', () => judgeReplication(ASYNCHRONOUS), warning(LOSES, SET_NAMES)],
  [
    'asynchronously by Patroni',
    () => judgeReplication({ ...ASYNCHRONOUS, isPatroni: true }),
    warning(LOSES, `${SET_NAMES} ${STRICT}`),
  ],
  [
    'without fsync',
    () => judgeReplication({ ...REPLICATION, fsync: 'off' }),
    failed(
      'fsync is off: a crash of the server can lose or damage what is acknowledged',
      'Set fsync = on.',
    ),
  ],
  [
    'with commits in memory',
    () => judgeReplication({ ...REPLICATION, synchronousCommit: 'off' }),
    failed(
      'synchronous_commit is off: a crash of the server loses what it acknowledged last',
      COMMIT,
    ),
  ],
  [
    'with commits on this disk alone',
    () => judgeReplication({ ...REPLICATION, synchronousCommit: 'local' }),
    failed(
      'synchronous_commit is local: commits do not wait for the synchronous standby, so a failover can lose what was acknowledged last',
      COMMIT,
    ),
  ],
  [
    'to a standby that is not connected',
    () => judgeReplication({ ...REPLICATION, synchronous: 0 }),
    failed(
      'no synchronous standby is connected (synchronous_standby_names = a): commits wait, and deliveries are refused with 503',
      'Bring the standby back, or name another one.',
    ),
  ],
  [
    'to a console that reads nothing',
    () => judgeStandby(new Error('refused')),
    warning(
      'it cannot be read, so pages and lists are read from the primary: refused',
      'Start the standby, or correct DATABASE_READ_URL.',
    ),
  ],
  [
    'from another server',
    () => judgeStandby({ problem: 'it belongs to another cluster', behindBytes: 0 }),
    warning(
      'it belongs to another cluster, so pages and lists are read from the primary',
      'Set DATABASE_READ_URL to a standby that follows the server of DATABASE_URL.',
    ),
  ],
  [
    'ahead of what was read of the primary',
    () => judgeStandby({ problem: undefined, behindBytes: -1 }),
    ok('a standby of this cluster, 0 KiB of log behind the primary'),
  ],
  [
    'near the primary',
    () => judgeStandby({ problem: undefined, behindBytes: 16 * 1024 * 1024 }),
    ok('a standby of this cluster, 16384 KiB of log behind the primary'),
  ],
  [
    'far behind the primary',
    () => judgeStandby({ problem: undefined, behindBytes: 16 * 1024 * 1024 + 1 }),
    warning(
      '16385 KiB of log behind the primary: while it is more than ten seconds behind, pages and lists are read from the primary',
      'Find out what delays it: its disk, the network, or a query that conflicts with the replay (max_standby_streaming_delay).',
    ),
  ],
];

const role = (name: string, missing: readonly string[], surplus: readonly string[]) => ({
  role: name,
  missing,
  surplus,
});
const rights = (roles: Parameters<typeof judgeRights>[0]['roles']) =>
  judgeRights({ user: 'shop', missingOfUser: { app: [], reads: [], chain: ['grant x'] }, roles });
const grant = (list: string) =>
  `Run \`npx tallyhook migrate\` as the owner of the tables, or run: ${list}`;
const SESSION = {
  user: 'shop',
  database: 'shop',
  isolation: 'read committed',
  statementMs: 0,
  transactionMs: 0,
};

const USER: readonly Row[] = [
  ['complete', () => rights([role('app', [], [])]), ok('shop has the rights of app, reads')],
  [
    'too few, of several roles',
    () => rights([role('app', ['grant a', 'grant b'], []), role('reads', ['grant c'], [])]),
    failed(
      'app lacks rights on 2 objects\nreads lacks rights on 1 object',
      grant('grant a; grant b; grant c;'),
    ),
  ],
  [
    'too many',
    () => rights([role('app', [], ['revoke a']), role('reads', [], ['revoke b', 'revoke c'])]),
    warning(
      'app has rights on 1 object that it does not need\nreads has rights on 2 objects that it does not need',
      grant('revoke a; revoke b; revoke c;'),
    ),
  ],
  [
    'none',
    () => judgeRights({ user: 'shop', missingOfUser: { app: ['grant a'] }, roles: [] }),
    failed(
      'the database user shop has the rights of no role',
      'Connect as a member of tallyhook_app, or run as an administrator: grant tallyhook_app to shop. See docs/guides/database-roles.md.',
    ),
  ],
  [
    'with limits that are long enough',
    () => judgeSession({ ...SESSION, statementMs: 5 * MINUTE_MS }),
    ok('no setting of the user, the database or the server cancels or rejects statements'),
  ],
  [
    'with two limits that are too short',
    () => judgeSession({ ...SESSION, statementMs: 30_000, transactionMs: 60_000 }),
    warning(
      'statement_timeout is 30 s: the server cancels what takes longer, so that retention, verify, exports and migrations fail again each time, and a receiver under load refuses deliveries with 503. Tallyhook has limits of its own, up to 5 minutes',
      'Run: alter role "shop" in database "shop" set statement_timeout = 0',
    ),
  ],
];

describe.each([
  ['deliveries of the sandbox', DELIVERIES],
  ['what others can read', EXPOSURE],
  ['a pooler', POOLING],
  ['profiles', PROFILES],
  ['what is replicated', REPLICATED],
  ['the rights of the user', USER],
])('doctor reports of %s', (_about, rows) => {
  test.each(rows)('%s', (_name, judge, expected) => {
    expect(judge()).toEqual(expected);
  });
});
