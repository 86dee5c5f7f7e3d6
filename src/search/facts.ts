/** What a program and a page show of a match. */
import { ruleTitle } from '../alerts/domain/ruleTitles.ts';
import type { ResourceKind } from '../contract/resources/index.ts';
import type { NewestScan } from '../ledger/bodies/scanBodies.ts';
import { orderIdOf } from '../ledger/domain/orderKey.ts';
import { AMOUNT_SEARCHED, type Hit } from './search.ts';

export const HIT_KINDS = [
  'order',
  'payment',
  'refund',
  'dispute',
  'payout',
  'event',
  'alert',
  'finding',
  'message',
  'run',
] as const satisfies readonly (ResourceKind | Hit['kind'])[];
export type HitKind = (typeof HIT_KINDS)[number];

export interface HitFacts {
  readonly kind: HitKind;
  /** The id, or the number as text. */
  readonly id: string;
  readonly state: string;
  /** Of an order: what was captured, by currency. */
  readonly amounts: readonly { readonly amountMinor: number; readonly currency: string }[];
  /** The order that it belongs to; undefined for an order itself. */
  readonly orderKey: string | undefined;
  /** What else names it: a rule, a class, an event type. */
  readonly about: string | undefined;
  readonly at: Date | undefined;
}

const NOTHING = { amounts: [], orderKey: undefined, about: undefined, at: undefined };

export function factsOf(hit: Hit): HitFacts {
  switch (hit.kind) {
    case 'order': {
      const { orderId, orderKey, status, firstSeenMicros } = hit.order;
      const amounts = hit.totals.map(({ capturedMinor, currency }) => ({
        amountMinor: capturedMinor,
        currency,
      }));
      const at = new Date(firstSeenMicros / 1_000);
      return { ...NOTHING, kind: 'order', id: orderId, state: status, amounts, orderKey, at };
    }
    case 'resource':
      return resourceFacts(hit.resource);
    case 'event': {
      const { id, eventId, eventType, state, receivedAt } = hit.event;
      const about = [eventType ?? 'no type', eventId].filter(Boolean).join(', ');
      return { ...NOTHING, kind: 'event', id: String(id), state, about, at: receivedAt };
    }
    case 'alert': {
      const { id, rule, subject, state, openedAt } = hit.alert;
      const about = `${ruleTitle(rule)}, ${subject}`;
      return { ...NOTHING, kind: 'alert', id: String(id), state, about, at: openedAt };
    }
    case 'finding': {
      const { id, class: name, subject, state, openedAt } = hit.finding;
      const about = `${name}, ${subject}`;
      return { ...NOTHING, kind: 'finding', id: String(id), state, about, at: openedAt };
    }
    case 'message': {
      const { number, kind, channel, state, createdAt } = hit.message;
      const about = `${kind} to ${channel}`;
      return { ...NOTHING, kind: 'message', id: String(number), state, about, at: createdAt };
    }
    case 'run': {
      const { id, stream, mode, state, startedAt } = hit.run;
      const about = `${stream}, ${mode}`;
      return { ...NOTHING, kind: 'run', id: String(id), state, about, at: startedAt };
    }
  }
}

function resourceFacts(resource: (Hit & { readonly kind: 'resource' })['resource']): HitFacts {
  const { kind, id, status, stage, amountMinor, currency, orderKey, reference } = resource;
  const amounts = amountMinor === null || currency === null ? [] : [{ amountMinor, currency }];
  const state = [status ?? 'not seen yet', stage].filter(Boolean).join(' at ');
  const about =
    kind === 'payout' && reference !== null
      ? `for ${reference}`
      : orderKey === null
        ? undefined
        : `order ${orderIdOf(orderKey)}`;
  return { kind, id, state, amounts, orderKey: orderKey ?? undefined, about, at: resource.seenAt };
}

/** What a search that is not complete left out. */
export const AMOUNT_LIMITS = `There may be more: amounts are searched among the newest ${AMOUNT_SEARCHED} resources of each kind, and 20 matches of each kind are shown.`;

/** Which bodies were searched. */
export function describeScan({ isComplete, throughDay }: NewestScan): string {
  if (isComplete) return 'Every stored body was searched.';
  const since =
    throughDay === null
      ? 'A part of the newest bodies was searched'
      : `The bodies from ${throughDay} on were searched, and a part of the day before`;
  return `${since}: a search ends after three seconds or 20 bodies.`;
}
