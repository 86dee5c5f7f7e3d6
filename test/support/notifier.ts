/**
 * Dispatches notifications and delivers messages to real receivers when a test calls it, without a
 * queue. It uses the system's clock, which a test can replace (`vi.useFakeTimers({ toFake: ['Date'] })`).
 */
import { loadConfig } from '../../src/config/config.ts';
import { createChannels, subscriptionsOf } from '../../src/notify/channels/index.ts';
import { createDeliverer } from '../../src/notify/deliver.ts';
import { dispatchAlerts } from '../../src/notify/dispatch.ts';
import { CHANNELS, type ChannelName } from '../../src/notify/domain/message.ts';
import { readDueChannels } from '../../src/notify/store/messages.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/db/database.ts';
import type { Log } from '../../src/platform/log.ts';
import { silentLog } from './database.ts';
import { unique } from './events.ts';

export interface TestNotifierOptions {
  readonly db: Database;
  readonly env: Readonly<Record<string, string>>;
  readonly log?: Log;
  readonly timeoutMs?: number;
}

export interface TestNotifier {
  /** Turns the notifications in the outbox into messages. */
  dispatch(): Promise<ReadonlySet<ChannelName>>;
  /** Delivers the messages that are due now, on all channels. */
  deliver(): Promise<void>;
  /** From now until a message is due and its channel is tried, in milliseconds: the next one. */
  waitMs(): Promise<number>;
}

export function createTestNotifier(options: TestNotifierOptions): TestNotifier {
  const { db, log = silentLog, timeoutMs = 2_000 } = options;
  const clock = systemClock;
  const { channels: settings, installation } = loadConfig(options.env);
  const deliverer = createDeliverer(
    {
      db,
      clock,
      log,
      channels: createChannels(settings, { installation, clock, log, timeoutMs }),
      random: () => 0.5,
    },
    new AbortController().signal,
  );
  const subscriptions = subscriptionsOf(settings);
  const newMessageId = () => `msg_${unique('test')}`;
  return {
    dispatch: () => dispatchAlerts({ db, clock, subscriptions, newMessageId }),
    deliver: async () => {
      const due = await readDueChannels(db, new Date(clock.nowMs()));
      await Promise.all(
        CHANNELS.filter((name) => due.includes(name)).map((name) => deliverer.run(name)),
      );
    },
    waitMs: () => readWaitMs(db, clock.nowMs()),
  };
}

async function readWaitMs(db: Database, nowMs: number): Promise<number> {
  const [row] = await db.query<{ at: Date }>(
    `select min(greatest(m.next_attempt_at, h.retry_at)) as at
       from messages m
       left join channel_health h on h.channel = m.channel
      where m.state = 'due'`,
  );
  if (!row) throw new Error('no message is due');
  return row.at.getTime() - nowMs;
}

export interface StoredMessage {
  readonly id: string;
  readonly channel: ChannelName;
  readonly kind: string;
  readonly state: string;
  readonly attempts: number;
  readonly lastError: string | null;
}

export function readMessages(db: Database, channel?: ChannelName): Promise<StoredMessage[]> {
  return db.query(
    `select id, channel, kind, state, attempts, last_error as "lastError"
       from messages where $1::text is null or channel = $1 order by number`,
    [channel ?? null],
  );
}
