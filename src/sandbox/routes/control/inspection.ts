/** Control routes that show webhooks with their deliveries, and resources as they are stored. */
import type { Router } from 'express';
import { z } from 'zod';
import { RESOURCE_KINDS } from '../../../contract/index.ts';
import { groupBy } from '../../../platform/collections.ts';
import { accept, rejectUnknown } from '../../domain/decision.ts';
import { idOf, show } from '../../domain/resource.ts';
import { isoTime } from '../../domain/time.ts';
import type { Services } from '../../services.ts';
import { addControlRoute } from './route.ts';

const limit = z.coerce.number().int().min(1).max(1_000).default(100);

export function addInspectionRoutes(router: Router, services: Services): void {
  addWebhookRoutes(router, services);
  addResourceRoutes(router, services);
  addControlRoute(router, {
    method: 'get',
    path: '/ignored_fields',
    input: z.strictObject({}),
    handle: () => Promise.resolve(accept({ data: services.ignoredFields.all() })),
  });
}

function addWebhookRoutes(router: Router, { clock, store, engine }: Services): void {
  addControlRoute(router, {
    method: 'get',
    path: '/webhooks',
    input: z.strictObject({
      object_id: z.string().optional(),
      event_type: z.string().optional(),
      after: z.coerce.number().int().min(0).default(0),
      limit,
    }),
    handle: async (input) => {
      const events = await store.listEvents({
        objectId: input.object_id,
        eventType: input.event_type,
        after: input.after,
        limit: input.limit,
      });
      return accept({ data: events, next_after: events.at(-1)?.seq ?? null });
    },
  });
  addControlRoute(router, {
    method: 'get',
    path: '/webhooks/:event_id',
    input: z.strictObject({ event_id: z.string() }),
    handle: async ({ event_id: id }) => {
      const event = await store.readEvent(id);
      if (event === undefined) return rejectUnknown(`No event has the id ${id}`);
      return accept({ ...event, deliveries: await store.readDeliveries(event.seq) });
    },
  });
  addControlRoute(router, {
    method: 'post',
    path: '/webhooks/:event_id/send',
    input: z.strictObject({ event_id: z.string() }),
    handle: async ({ event_id: id }) => {
      const event = await store.readEvent(id);
      if (event === undefined) return rejectUnknown(`No event has the id ${id}`);
      const dueAt = isoTime(clock.nowMs());
      await store.insertDeliveries([{ eventSeq: event.seq, reason: 'manual', dueAt }]);
      await engine.settle();
      return accept({ deliveries: await store.readDeliveries(event.seq) });
    },
  });
  addControlRoute(router, {
    method: 'post',
    path: '/settle',
    input: z.strictObject({}),
    handle: async () => {
      await engine.settle();
      return accept({ now: isoTime(clock.nowMs()) });
    },
  });
}

function addResourceRoutes(router: Router, { store }: Services): void {
  addControlRoute(router, {
    method: 'get',
    path: '/recent',
    input: z.strictObject({
      order_id: z.string().optional(),
      limit: z.coerce.number().int().min(1).max(100).default(10),
    }),
    handle: async (input) => {
      const found = await store.listRecent({ orderId: input.order_id, limit: input.limit });
      const events = await store.readEventsOf(found.map(idOf));
      const ofObject = groupBy(events, (event) => event.object_id);
      const data = found.map((resource) => {
        const id = idOf(resource);
        const { kind, orderId: order_id } = resource;
        return { kind, id, order_id, resource: show(resource), events: ofObject.get(id) ?? [] };
      });
      return accept({ data });
    },
  });
  addControlRoute(router, {
    method: 'get',
    path: '/resources/sums',
    input: z.strictObject({}),
    handle: async () => accept({ data: await store.sumAllResources() }),
  });
  addControlRoute(router, {
    method: 'get',
    path: '/resources/:kind',
    input: z.strictObject({
      kind: z.enum(RESOURCE_KINDS),
      after: z.string().default(''),
      limit,
    }),
    handle: async (page) => {
      const found = await store.listAllResources(page);
      const last = found.at(-1);
      return accept({ data: found.map(show), next_after: last ? idOf(last) : null });
    },
  });
}
