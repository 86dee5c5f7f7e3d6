/**
 * What each setting means, in the order in which a reader meets them. `npm run generate` writes
 * `.env.example` and docs/reference/settings.md from here and from the schema, which has the
 * defaults that are constants.
 */
import type { SETTINGS } from '../../src/config/config.ts';

export type SettingName = keyof (typeof SETTINGS)['shape'];

export interface SettingText {
  readonly meaning: string;
  /** The default, where the schema has none. */
  readonly otherwise?: string;
  /** A value for `.env.example`, where the schema has no default. */
  readonly example?: string;
}

export interface SettingGroup {
  readonly title: string;
  readonly introduction?: string;
  readonly settings: Partial<Record<SettingName, SettingText>>;
}

export const SETTING_GROUPS: readonly SettingGroup[] = [
  {
    title: 'Storage',
    settings: {
      DATABASE_URL: {
        meaning:
          'PostgreSQL 14 or newer. May name several servers, `postgres://user@a:5432,b:5432/name`: the one that accepts writes is used.',
        otherwise: 'an embedded PostgreSQL under `DATA_DIR`',
        example: 'postgres://tallyhook:password@127.0.0.1:5432/tallyhook',
      },
      MIGRATE_DATABASE_URL: {
        meaning: 'Connection of the role that owns the schema. Only `tallyhook migrate` uses it.',
        otherwise: '`QUEUE_DATABASE_URL` if it is set, and `DATABASE_URL` if not',
        example: 'postgres://owner:password@127.0.0.1:5432/tallyhook',
      },
      QUEUE_DATABASE_URL: {
        meaning:
          'The database of `DATABASE_URL` without the pooler, for what needs a session of its own: the queues if `REDIS_URL` is not set, `tallyhook migrate` and `tallyhook verify --rebuild`.',
        otherwise: '`DATABASE_URL`',
        example: 'postgres://tallyhook:password@127.0.0.1:5432/tallyhook',
      },
      DATABASE_READ_URL: {
        meaning:
          'One standby of the database, for pages and lists of the console and the admin API. What they show is at most ten seconds old, and states how old.',
        otherwise: 'they are read from `DATABASE_URL`',
        example: 'postgres://tallyhook:password@127.0.0.2:5432/tallyhook',
      },
      REDIS_URL: {
        meaning:
          'Redis or Valkey for the queues: one server, `redis+sentinel://HOST:PORT,HOST:PORT/NAME` or `redis+cluster://HOST:PORT,HOST:PORT`. `rediss` in place of `redis` is TLS. User and password stand before the first host: `redis://user:password@HOST:PORT`. `?sentinel_username=…&sentinel_password=…` is the login at the Sentinels.',
        otherwise: 'the queues run in the database',
        example: 'redis://127.0.0.1:6379',
      },
      REDIS_PREFIX: {
        meaning:
          'Beginning of the names of all keys in Redis. Installations that share a server need one each.',
      },
      REDIS_CA_FILE: {
        meaning:
          'File with the certificates, in PEM, of the authority that signed those of Redis and of the Sentinels.',
        otherwise: 'the authorities that Node.js trusts',
        example: '/etc/tallyhook/redis-ca.pem',
      },
      DATA_DIR: { meaning: 'Directory of the embedded database and of generated secrets.' },
    },
  },
  {
    title: 'Receiver',
    settings: {
      HOST: { meaning: 'Address on which the receiver listens.' },
      PORT: { meaning: 'Port of the receiver.' },
      WEBHOOK_PATH: { meaning: 'Path at which the receiver accepts webhooks.' },
      WEBHOOK_SECRETS: {
        meaning:
          'Signing secrets, comma-separated, newest first, each at least 32 bytes with 8 different characters. Any of them may verify a delivery.',
        otherwise: 'generated for the embedded database, required otherwise',
      },
      WEBHOOK_PUBLIC_URL: {
        meaning:
          'The URL to which the service sends webhooks, as seen from outside. `tallyhook doctor` compares it with the business profile.',
        otherwise: '`doctor` compares the path only',
        example: 'https://hooks.shop.example/webhooks',
      },
      WEBHOOK_MAX_BODY_BYTES: { meaning: 'Largest body that the receiver accepts.' },
      TRUSTED_PROXIES: {
        meaning:
          'Addresses and CIDR networks of your reverse proxies, comma-separated. Only requests that arrive from them have the client address that `X-Forwarded-For` names. Limits per client, at the webhook port and the admin port, count that address.',
        otherwise: 'none: the client is the peer of the connection',
        example: '10.0.0.0/8,::1',
      },
    },
  },
  {
    title: 'Events worker',
    settings: {
      EVENT_MAX_ATTEMPTS: {
        meaning: 'Attempts before an event is set aside as dead, from 1 to 10.',
      },
    },
  },
  {
    title: 'Ledger',
    settings: {
      CHAIN_KEY: {
        meaning:
          'A secret of at least 32 bytes, from which the key is made that signs the chain of the journal. Set it where the scheduler runs, and keep it from whoever administers the database. Without it the chain is not signed.',
        otherwise: 'generated in `DATA_DIR` with the embedded database; else none',
      },
      VERIFY_FULL_DAYS: {
        meaning:
          'Days in which `tallyhook verify` proves every row of the ledger at least once, from 1 to 365. Each run proves what changed and a share of the rest.',
      },
    },
  },
  {
    title: 'Admin port and health port',
    settings: {
      ADMIN_HOST: { meaning: 'Address of the admin port.' },
      ADMIN_PORT: {
        meaning: 'Port of the admin API. It also serves `/metrics`, with a token.',
      },
      ADMIN_TOKEN: {
        meaning:
          'The first token of the admin port, at least 32 bytes with 8 different characters. Its role is `admin`, its name, too. Use it to set up; `tallyhook tokens create` makes a token for each person and program.',
        otherwise: 'generated for the embedded database, required otherwise',
      },
      TALLYHOOK_TOKEN: {
        meaning:
          'Commands run as the holder of this token: with its name in the audit log, and only if its role permits them.',
        otherwise: 'a person with the shell and the settings may run every command',
      },
      PUBLIC_CONSOLE_URL: {
        meaning:
          'Address at which people open the console, without a path. Alerts and other messages link to its pages.',
        otherwise: 'none: messages have no links',
        example: 'https://tallyhook.shop.example',
      },
      INSTALLATION_NAME: {
        meaning:
          'What people call this installation, up to 60 characters. Messages and pages carry it, so that staging is not taken for production.',
      },
      CONSOLE_SESSION_IDLE_MINUTES: {
        meaning: 'Minutes after which a session of the console ends that nobody uses.',
      },
      CONSOLE_SESSION_HOURS: {
        meaning: 'Hours after which a session of the console ends, used or not.',
      },
      CONSOLE_OIDC_ISSUER: {
        meaning:
          'OpenID Connect provider at which people sign in to the console: its issuer, by https. Register the redirect address `PUBLIC_CONSOLE_URL/sign-in/callback` there. Set it together with the client, its secret, the roles and `PUBLIC_CONSOLE_URL`.',
        otherwise: 'none: people sign in with tokens',
        example: 'https://login.shop.example/realms/staff',
      },
      CONSOLE_OIDC_CLIENT_ID: {
        meaning: 'Id of the client that is registered for Tallyhook at the provider.',
        otherwise: 'none',
        example: 'tallyhook',
      },
      CONSOLE_OIDC_CLIENT_SECRET: {
        meaning: 'Secret of that client.',
        otherwise: 'none',
      },
      CONSOLE_OIDC_ROLES: {
        meaning:
          'Which value of the claim gives which role: `value=role`, comma-separated. A person with several values gets the role of the first one in this list; a person with none cannot sign in.',
        otherwise: 'none',
        example: 'payments-admins=admin,payments-oncall=operator,accounting=viewer',
      },
      CONSOLE_OIDC_ROLE_CLAIM: {
        meaning:
          'Claim that holds these values: a text or a list. Dots lead into objects: `realm_access.roles`.',
      },
      CONSOLE_OIDC_SCOPES: {
        meaning:
          'Scopes that the sign-in requests, separated by spaces. Some providers return groups only with a scope of their own, such as `groups`.',
      },
      METRICS_HOST: { meaning: 'Address of the health port.' },
      METRICS_PORT: {
        meaning:
          'Health port: serves `/healthz`, `/readyz` and `/metrics` of one process without a token; `0` chooses a free one. The default depends on the first role of the process: `8083` for `receiver` and for all in one process, `8084` for `events`, `8085` for `reconcile`, `8086` for `alerts`, `8087` for `scheduler`, `8088` for `console`.',
        otherwise: '`8083` to `8088`; a free one if it is in use',
      },
      DRAIN_SECONDS: {
        meaning:
          'How long a process goes on serving after a stop signal, while `/readyz` responds 503. Behind a load balancer, set it to more than the time in which that takes an unready process out.',
      },
    },
  },
  {
    title: 'Payment service',
    settings: {
      PAYMENTS_MERCHANT_ID: {
        meaning: 'The installation account: the merchant account of this ledger.',
        otherwise: '`merchant_local` with the embedded database, required otherwise',
      },
      PAYMENTS_PROFILE_ID: {
        meaning:
          'The business profile that sends webhooks here. `tallyhook doctor` checks it, and an object of another profile becomes a finding.',
        otherwise: 'all profiles of the account',
      },
      PAYMENTS_BASE_URL: {
        meaning: 'Base URL of the payment service.',
        otherwise: 'the sandbox, with the embedded database',
      },
      PAYMENTS_API_KEY: {
        meaning:
          'Secret key, `snd_…` or `prd_…`. Without a key Tallyhook sends no requests to the service.',
        otherwise: "the sandbox's key, with the embedded database",
      },
      RATE_RESERVE_PERCENT: {
        meaning:
          "Percentage of the service's rate limit, from 0 to 90, that background work (refresh and discovery) leaves free. Requests that a webhook caused may use it.",
      },
      BACKGROUND_REQUESTS_PER_MINUTE: {
        meaning: 'Most requests per minute for background work, all processes together.',
        otherwise: 'what the service allows',
      },
      SANDBOX_PORT: {
        meaning: 'Port of the sandbox, on loopback only; `0` chooses a free one.',
      },
      SANDBOX_WEBHOOK_SECRET: {
        meaning:
          'The secret with which the sandbox signs webhooks. Set it for the receiver and the sandbox if they run in separate processes and `DATABASE_URL` is set. Only a ledger of `merchant_local` accepts it.',
        otherwise: 'generated in `DATA_DIR`',
      },
    },
  },
  {
    title: 'Authorizations',
    settings: {
      AUTHORIZATION_THRESHOLD_HOURS: {
        meaning:
          'Hours before an authorization expires at which to send a reminder, comma-separated.',
      },
      AUTHORIZATION_POLICY: {
        meaning:
          'What to do with an authorization that nobody captured: `none`, `capture:HOURS` or `cancel:HOURS`, where HOURS is one of the thresholds. Retried until the deadline where a retry cannot capture twice.',
        otherwise: '`none`',
        example: 'none',
      },
    },
  },
  {
    title: 'Alerts',
    introduction:
      'Each channel is enabled by its settings; the log is always a channel. A channel receives alerts of at least its severity: `info`, `warning` or `critical`. URLs must use https, except on this machine.',
    settings: {
      ALERT_WEBHOOK_URL: {
        meaning: 'URL that receives alerts as signed POST requests.',
        otherwise: 'none',
      },
      ALERT_WEBHOOK_SECRET: {
        meaning:
          'Signing secret, `whsec_…`; during a rotation several, comma-separated, newest first. Each signs. `echo whsec_$(openssl rand -base64 32)` generates one.',
        otherwise: 'required with `ALERT_WEBHOOK_URL`',
      },
      ALERT_WEBHOOK_SEVERITY: { meaning: 'Lowest severity that the webhook receives.' },
      ALERT_SLACK_URL: {
        meaning:
          'Incoming webhook of Slack, Mattermost or Rocket.Chat. Anyone who has the URL can post: keep it secret.',
        otherwise: 'none',
      },
      ALERT_SLACK_SEVERITY: { meaning: 'Lowest severity that the chat receives.' },
      ALERT_MAIL_TO: {
        meaning: 'Recipients of alert mails, comma-separated.',
        otherwise: 'none',
        example: 'ops@shop.example,owner@shop.example',
      },
      ALERT_MAIL_FROM: {
        meaning: 'Sender of alert mails.',
        otherwise: 'required with `ALERT_MAIL_TO`',
        example: 'tallyhook@shop.example',
      },
      SMTP_URL: {
        meaning:
          'Mail server: `smtp://user:password@host:587`, which must offer TLS, or `smtps://…`.',
        otherwise: 'required with `ALERT_MAIL_TO`',
        example: 'smtp://user:password@mail.shop.example:587',
      },
      ALERT_MAIL_SEVERITY: { meaning: 'Lowest severity that is mailed.' },
      ALERT_SUMMARY_AT: {
        meaning:
          "Hour in UTC, 0 to 23, at which every channel receives yesterday's summary, or `off`.",
      },
    },
  },
  {
    title: 'Order webhooks',
    settings: {
      ORDER_WEBHOOK_URL: { meaning: 'URL that receives order webhooks.', otherwise: 'none' },
      ORDER_WEBHOOK_SECRET: {
        meaning: 'Signing secret, in the form of `ALERT_WEBHOOK_SECRET`.',
        otherwise: 'required with `ORDER_WEBHOOK_URL`',
      },
    },
  },
  {
    title: 'Archive',
    introduction:
      'What retention removes is written to the archive first, if there is one: [Archive](../guides/archive.md).',
    settings: {
      ARCHIVE_URL: {
        meaning:
          'Where the archive is: `file://` and the absolute path of a folder, or `s3://bucket/prefix`.',
        otherwise: 'nothing is archived',
        example: 's3://tallyhook-archive/shop',
      },
      ARCHIVE_S3_ENDPOINT: {
        meaning:
          'URL of an S3-compatible store. Buckets are part of the path, not of the host name.',
        otherwise: 'AWS',
        example: 'https://s3.example.com',
      },
      ARCHIVE_S3_REGION: { meaning: 'Region of the bucket.' },
      ARCHIVE_S3_ACCESS_KEY_ID: {
        meaning: 'Access key for the bucket. It needs to list, read and write objects.',
        otherwise: 'found as the tools of AWS do, for example by the role of the instance',
        example: 'AKIAIOSFODNN7EXAMPLE',
      },
      ARCHIVE_S3_SECRET_ACCESS_KEY: {
        meaning: 'The secret of the access key.',
        otherwise: 'required with `ARCHIVE_S3_ACCESS_KEY_ID`',
      },
    },
  },
  {
    title: 'Retention',
    introduction:
      'Days after which data is removed, or `never`. What is pending, dead, open or disputed stays, regardless of its age. Snapshots, the journal and the audit log always stay. `tallyhook retention show` shows what the next run removes.',
    settings: {
      RETENTION_BODIES_DAYS: {
        meaning:
          'Bodies of events, by whole days; at least 2. Without its body an event cannot be replayed, and `verify --rebuild` uses its snapshots. Bodies of events that are pending, dead, under an open finding or part of an undecided dispute stay.',
      },
      RETENTION_EVENTS_DAYS: {
        meaning:
          'Rows of the inbox, counted from their receipt, once their bodies are removed; at least 400. They distinguish a repeated event from a new one. A digest of each event id stays.',
      },
      RETENTION_MESSAGES_DAYS: {
        meaning: 'Delivered and failed messages, counted from their last attempt; at least 4.',
      },
      RETENTION_CHANGES_DAYS: {
        meaning:
          'The change feed; at least 7. A reader that is further behind gets an error. The newest change stays, and so does what order webhooks have not processed.',
      },
      RETENTION_ALERTS_DAYS: { meaning: 'Resolved alerts, counted from when they were resolved.' },
      RETENTION_FINDINGS_DAYS: {
        meaning:
          'Closed findings, counted from when they were closed. A finding about an event stays as long as the row of the event.',
      },
      RETENTION_RUNS_DAYS: {
        meaning:
          'Reconcile runs that ended; at least 7. The newest run of each list stays, and so does a run that was the last to compare some of its span.',
      },
      RETENTION_SESSIONS_DAYS: {
        meaning:
          'Sessions of the console, counted from their end. The audit log keeps who signed in, and when.',
      },
    },
  },
  {
    title: 'Log',
    settings: {
      LOG_LEVEL: {
        meaning:
          '`trace`, `debug`, `info`, `warn`, `error` or `silent`. At `warn` the log shows alerts of severity warning and critical, at `error` and `silent` none.',
      },
    },
  },
];
