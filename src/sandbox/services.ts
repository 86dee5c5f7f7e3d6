/** What routes depend on. */
import type { Clock } from '../platform/clock.ts';
import type { SandboxClock } from './clock.ts';
import type { Engine } from './engine.ts';
import type { ActiveFaults } from './faults/activeFaults.ts';
import type { IgnoredFields } from './http/ignoredFields.ts';
import type { RateLimit } from './http/rateLimit.ts';
import type { ResourceWriter } from './resourceWriter.ts';
import type { Store } from './store/store.ts';
import type { WebhookTarget } from './webhooks/emit.ts';

/** The one account that a sandbox serves. */
export interface Account {
  readonly merchantId: string;
  readonly profileId: string;
}

export interface Services {
  readonly store: Store;
  readonly resources: ResourceWriter;
  /** The sandbox's own clock, which decides when things are due. */
  readonly clock: SandboxClock;
  /** The clock that the service shows, which a fault may set wrong. */
  readonly shownClock: Clock;
  readonly engine: Engine;
  readonly faults: ActiveFaults;
  readonly rateLimit: RateLimit;
  readonly ignoredFields: IgnoredFields;
  readonly account: Account;
  readonly webhook: {
    readonly target: () => WebhookTarget;
    set(target: WebhookTarget): void;
  };
  /** For example `http://127.0.0.1:8082`; available once the server listens. */
  readonly baseUrl: () => string;
}
