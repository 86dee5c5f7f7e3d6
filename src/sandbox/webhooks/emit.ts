/** Creates the event of a change and schedules its deliveries, in the transaction of the change. */
import { CONTENT_TYPES, type ResourceKind } from '../../contract/index.ts';
import { eventTypeOf, idOf, type Resource, type Shown } from '../domain/resource.ts';
import { isoTime } from '../domain/time.ts';
import type { ActiveFaults } from '../faults/activeFaults.ts';
import { type PlannedDelivery, planDeliveries } from '../faults/deliveries.ts';
import { webhookView } from '../faults/views.ts';
import { eventId } from '../ids.ts';
import type { Statements } from '../store/store.ts';
import type { NewDelivery } from '../store/webhooks.ts';
import { signWebhook } from './sign.ts';

/** Where webhooks are sent. Without a URL, events are stored and nothing is sent. */
export interface WebhookTarget {
  readonly url: string | undefined;
  readonly secret: string;
}

export interface EmitParts {
  readonly merchantId: string;
  readonly faults: ActiveFaults;
  readonly target: () => WebhookTarget;
}

/** The instant of a change. */
export interface EventTime {
  /** By the sandbox's own clock, for due times. */
  readonly ownMs: number;
  /** By the clock that the service shows, for the body. */
  readonly shownMs: number;
}

export async function emitEvent(
  tx: Statements,
  resource: Resource,
  { ownMs, shownMs }: EventTime,
  parts: EmitParts,
): Promise<void> {
  const eventType = eventTypeOf(resource);
  if (eventType === undefined) return;
  const { faults, target } = parts;
  const { url, secret } = target();
  const { webhooks } = faults.current();
  const random = faults.random();
  const objectId = idOf(resource);
  const once = `${resource.kind}/${objectId}/${eventType}`;
  const repeats = webhooks.one_event_per_type ? 0 : await tx.countEvents(objectId, eventType);
  const id = eventId(ownMs);
  const subject = `${stableNameOf(resource)}/${eventType}/${repeats}`;
  const body = bodyOf(webhookView(resource, faults.context(), subject), {
    kind: resource.kind,
    eventType: random('unknown_types', subject) < webhooks.unknown_types ? UNKNOWN_TYPE : eventType,
    eventId: id,
    merchantId: parts.merchantId,
    nowMs: shownMs,
  });
  const eventSeq = await tx.insertEvent({
    eventId: id,
    kind: resource.kind,
    objectId,
    eventType,
    onceKey: repeats === 0 ? once : `${once}/${repeats}`,
    body,
    signature: signWebhook(body, secret),
    createdAt: isoTime(ownMs),
  });
  // The fault `one_event_per_type`: this change causes no event.
  if (eventSeq === undefined || url === undefined) return;
  const plan = planDeliveries(webhooks, random, subject);
  if (plan.length === 0) return;
  await tx.insertDeliveries(
    plan.map((delivery) => newDelivery(delivery, { eventSeq, body, secret, nowMs: ownMs })),
  );
}

/** A type that the contract does not name. */
const UNKNOWN_TYPE = 'resource_updated';

interface Envelope {
  readonly kind: ResourceKind;
  readonly eventType: string;
  readonly eventId: string;
  readonly merchantId: string;
  readonly nowMs: number;
}

/** The envelope of an event. service-interface.md §6.1. */
function bodyOf(object: Shown, envelope: Envelope): string {
  return JSON.stringify({
    merchant_id: envelope.merchantId,
    event_id: envelope.eventId,
    event_type: envelope.eventType,
    content: { type: CONTENT_TYPE_OF[envelope.kind], object },
    timestamp: isoTime(envelope.nowMs),
  });
}

const CONTENT_TYPE_OF = Object.fromEntries(
  Object.entries(CONTENT_TYPES).map(([type, kind]) => [kind, type]),
) as Record<ResourceKind, string>;

/** The merchant's own id where there is one: the same in every run with one seed. */
function stableNameOf(resource: Resource): string {
  switch (resource.kind) {
    case 'dispute':
      return `dispute of ${resource.state.payment_id}`;
    case 'payout':
      return resource.state.merchant_order_reference_id ?? resource.state.payout_id;
    default:
      return idOf(resource);
  }
}

interface EventParts {
  readonly eventSeq: number;
  readonly body: string;
  readonly secret: string;
  readonly nowMs: number;
}

function newDelivery(delivery: PlannedDelivery, event: EventParts): NewDelivery {
  const { eventSeq, body, secret, nowMs } = event;
  const base = {
    eventSeq,
    reason: delivery.reason,
    attempt: delivery.reason === 'first' ? 0 : undefined,
    dueAt: isoTime(nowMs + delivery.delayMs),
  };
  switch (delivery.corrupts) {
    case undefined:
      return base;
    case 'signature':
      return { ...base, otherSignature: signWebhook(body, `${secret}, but another`) };
    case 'body': {
      const otherBody = otherContent(body);
      return { ...base, otherBody, otherSignature: signWebhook(otherBody, secret) };
    }
  }
}

/** A different body under the same event id: one minor unit more. */
function otherContent(body: string): string {
  const envelope = JSON.parse(body) as { content: { object: { amount: number | string } } };
  const { object } = envelope.content;
  const more = Number(object.amount) + 1;
  object.amount = typeof object.amount === 'string' ? String(more) : more;
  return JSON.stringify(envelope);
}
