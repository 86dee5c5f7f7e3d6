/** The way of a webhook from the service to a receiver, and of its reply back. */
import type { Intake } from '../../src/receiver/intake.ts';
import { integer, pick, type Random } from './random.ts';
import type { Actor, Scheduler } from './scheduler.ts';
import type { ServiceEvent } from './service.ts';

export interface RunningReceiver {
  readonly actor: Actor;
  readonly intake: Intake;
}

export interface NetworkParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly receivers: () => readonly RunningReceiver[];
  readonly trace: (line: () => string) => void;
}

export interface Network {
  send(event: ServiceEvent): void;
  /** Ids of the events that a receiver acknowledged, whether or not the reply arrived. */
  readonly acknowledged: ReadonlySet<string>;
  /** What the events that were never sent were about. */
  readonly lost: ReadonlyMap<string, ServiceEvent['ref']>;
  /** Events that the service still sends. */
  undelivered(): number;
  readonly faults: NetworkFaults;
}

export const NETWORK_FAULTS = [
  'webhooks lost',
  'webhooks twice',
  'webhooks late',
  'replies to webhooks lost',
] as const;

/** Until when each fault lasts. */
export type NetworkFaults = Record<(typeof NETWORK_FAULTS)[number], number>;

const TIMEOUT_MS = 10_000;
const WAITS_MS = [500, 2_000, 5_000, 15_000, 30_000];
const MAX_ATTEMPTS = 40;

export function createNetwork({ scheduler, random, receivers, trace }: NetworkParts): Network {
  const acknowledged = new Set<string>();
  const lost = new Map<string, ServiceEvent['ref']>();
  const faults = Object.fromEntries(NETWORK_FAULTS.map((name) => [name, 0])) as NetworkFaults;
  let undelivered = 0;

  const isNow = (fault: keyof NetworkFaults): boolean => scheduler.nowMs() < faults[fault];
  const onTheWayMs = (): number => {
    if (isNow('webhooks late') && random() < 0.5) return integer(random, 100, 20_000);
    return integer(random, 1, 40);
  };
  /** One request; `report` is called once, unless nothing comes back. */
  const request = (event: ServiceEvent, report: (isAcknowledged: boolean) => void): void => {
    scheduler.inModel(onTheWayMs(), () => {
      const alive = receivers().filter(({ actor }) => actor.isAlive);
      if (alive.length === 0) return report(false);
      const { actor, intake } = pick(random, alive);
      scheduler.inActor(actor, 0, () => {
        void intake.accept(event.body, 1).then(({ outcome }) => {
          const isAcknowledged = outcome !== 'unavailable' && outcome !== 'overloaded';
          trace(() => `${actor.name} replies ${isAcknowledged ? 200 : 503} to ${event.id}`);
          if (isAcknowledged) acknowledged.add(event.id);
          if (isNow('replies to webhooks lost') && random() < 0.7) return;
          scheduler.inModel(onTheWayMs(), () => report(isAcknowledged));
        });
      });
    });
  };
  const attempt = (event: ServiceEvent, number: number): void => {
    let isOver = false;
    const end = (isAcknowledged: boolean): void => {
      if (isOver) return;
      isOver = true;
      if (isAcknowledged || number >= MAX_ATTEMPTS) {
        undelivered -= 1;
        return;
      }
      const waitMs = WAITS_MS[Math.min(number, WAITS_MS.length) - 1] ?? 0;
      scheduler.inModel(waitMs * (0.5 + random()), () => attempt(event, number + 1));
    };
    request(event, end);
    if (isNow('webhooks twice')) request(event, () => undefined);
    scheduler.inModel(TIMEOUT_MS, () => end(false));
  };
  return {
    acknowledged,
    lost,
    faults,
    undelivered: () => undelivered,
    send: (event) => {
      if (isNow('webhooks lost') && random() < 0.5) {
        lost.set(`${event.ref.kind} ${event.ref.id}`, event.ref);
        trace(() => `the service loses ${event.id} (${event.about})`);
        return;
      }
      trace(() => `the service sends ${event.id} (${event.about})`);
      undelivered += 1;
      attempt(event, 1);
    },
  };
}
