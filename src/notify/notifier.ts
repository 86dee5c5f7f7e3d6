/**
 * What a worker of role `alerts` does all the time: turns what waits into messages and announces the
 * channels that have some. Delivering them is the queue's work (deliver.ts).
 *
 * While the queue is away the worker delivers by itself: that a queue is away may be what there is
 * to say.
 */
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { pause } from '../platform/pause.ts';
import type { Deliverer } from './deliver.ts';
import type { ChannelName } from './domain/message.ts';
import { readDueChannels } from './store/messages.ts';

export interface SpeakerParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Each turns something into messages and says which channels have new ones. */
  readonly sources: Readonly<Record<string, () => Promise<ReadonlySet<ChannelName>>>>;
  /** Throws when the queue is away, also where there is nothing to announce. */
  readonly announce: (channels: readonly ChannelName[]) => Promise<void>;
  readonly deliverer: Pick<Deliverer, 'run'>;
}

const LOOK_EVERY_MS = 1_000;

/** Runs until it is told to stop; then what is under way is finished. */
export async function speak(parts: SpeakerParts, closing: AbortSignal): Promise<void> {
  const delivering = new Set<Promise<void>>();
  const deliverHere = async (): Promise<void> => {
    for (const channel of await dueChannels(parts)) {
      const done: Promise<void> = parts.deliverer
        .run(channel)
        .finally(() => delivering.delete(done));
      delivering.add(done);
    }
  };
  const complain = createComplaints(parts.log);
  let isQueueAway = false;
  while (!closing.aborted) {
    const channels = await gatherMessages(parts, complain);
    if (channels.size > 0 || isQueueAway) {
      isQueueAway = !(await complain('announce', () => parts.announce([...channels])));
      if (isQueueAway) await complain('deliver', deliverHere);
    }
    await pause(LOOK_EVERY_MS, closing);
  }
  await Promise.all(delivering);
}

/** One source that fails must not silence the others. */
async function gatherMessages(
  { sources }: SpeakerParts,
  complain: Complain,
): Promise<ReadonlySet<ChannelName>> {
  const channels = new Set<ChannelName>();
  for (const [name, source] of Object.entries(sources)) {
    await complain(name, async () => {
      for (const channel of await source()) channels.add(channel);
    });
  }
  return channels;
}

function dueChannels({ db, clock }: SpeakerParts): Promise<readonly ChannelName[]> {
  return readDueChannels(db, new Date(clock.nowMs()));
}

/** Does something and returns whether it went well; a failure is logged once until that changes. */
type Complain = (what: string, work: () => Promise<void>) => Promise<boolean>;

function createComplaints(log: Log): Complain {
  const said = new Map<string, string>();
  return async (what, work) => {
    try {
      await work();
      said.delete(what);
      return true;
    } catch (thrown) {
      const error = toError(thrown);
      if (said.get(what) !== error.message) log.warn({ error, what }, 'alerts.speaking_failed');
      said.set(what, error.message);
      return false;
    }
  };
}
