/** Records that bodies of events are forwarded, which takes personal data out of Tallyhook. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAttempt } from '../audit/recordAudit.ts';
import type { FollowQuery } from '../ledger/read/followInbox.ts';
import type { Queryable } from '../platform/db/database.ts';

export interface ForwardParts {
  readonly db: Queryable;
  /** Forwards until it is stopped. @returns the number of events */
  readonly forward: () => Promise<number>;
}

export interface ForwardInput {
  /** Where to, without its query: it may hold a secret. */
  readonly url: string;
  readonly query: FollowQuery;
  /** The inbox number after which it begins; undefined for new events alone. */
  readonly after: number | undefined;
}

/** The entry `requested` is committed before the first body leaves, the number of events when it ends. */
export function forwardEventsAs(
  { db, forward }: ForwardParts,
  actor: Actor,
  { url, query: { type, order }, after }: ForwardInput,
): Promise<void> {
  const intent = {
    actor,
    action: 'event.forward',
    subject: { kind: 'inbox', id: url },
    detail: {
      after: after ?? null,
      ...(type === undefined ? {} : { type }),
      ...(order === undefined ? {} : { order }),
    },
  } as const;
  const work = async () => {
    const events = await forward();
    return { value: undefined, result: 'done', detail: { events } } as const;
  };
  return recordAttempt(db, intent, work, 'failed');
}
