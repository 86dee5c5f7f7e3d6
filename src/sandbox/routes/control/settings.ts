/** Control routes for settings: clock, faults, rate limit, keys and webhook URL. */
import type { Router } from 'express';
import { z } from 'zod';
import { API_KEY_PREFIXES } from '../../../contract/index.ts';
import { accept, rejectState, rejectUnknown } from '../../domain/decision.ts';
import { isoTime } from '../../domain/time.ts';
import { NO_FAULTS, readFaults } from '../../faults/settings.ts';
import { hashKey } from '../../http/authenticate.ts';
import { randomId } from '../../ids.ts';
import type { Services } from '../../services.ts';
import { addControlRoute } from './route.ts';

const none = z.strictObject({});
/** Ten years: longer than any deadline, and years still have four digits. */
const MAX_ADVANCE_MS = 10 * 365 * 24 * 60 * 60 * 1000;
const MIN_SECRET_LENGTH = 16;
const HOLDS_DATA =
  'The clock can be set only while the sandbox is empty: new payments would have older times than ' +
  'the stored ones. Advance the clock instead, or start with an empty database.';

const KEY_LENGTH = 64;

const KEY_PREFIXES = {
  secret: API_KEY_PREFIXES.sandboxSecret,
  publishable: API_KEY_PREFIXES.sandboxPublishable,
  admin: API_KEY_PREFIXES.admin,
} as const;

export function addSettingsRoutes(router: Router, services: Services): void {
  addClockRoutes(router, services);
  addFaultRoutes(router, services);
  addKeyRoutes(router, services);
  addControlRoute(router, {
    method: 'put',
    path: '/webhook',
    input: z.strictObject({
      url: z.url({ protocol: /^https?$/ }).nullable(),
      secret: z.string().min(MIN_SECRET_LENGTH).optional(),
    }),
    handle: ({ url, secret }) => {
      const { webhook } = services;
      webhook.set({ url: url ?? undefined, secret: secret ?? webhook.target().secret });
      return Promise.resolve(accept({ url }));
    },
  });
}

function addClockRoutes(router: Router, { clock, engine }: Services): void {
  const now = () => accept({ now: isoTime(clock.nowMs()), advanced_ms: clock.advanceMs() });
  addControlRoute(router, {
    method: 'get',
    path: '/clock',
    input: none,
    handle: () => Promise.resolve(now()),
  });
  addControlRoute(router, {
    method: 'put',
    path: '/clock',
    input: z.strictObject({ now: z.iso.datetime({ offset: true }) }),
    handle: async ({ now: instant }) => {
      const isSet = await engine.startAt(Date.parse(instant));
      return isSet ? now() : rejectState(409, 'IR_16', HOLDS_DATA);
    },
  });
  addControlRoute(router, {
    method: 'post',
    path: '/clock/advance',
    input: z.strictObject({ ms: z.int().min(0).max(MAX_ADVANCE_MS) }),
    handle: async ({ ms }) => {
      await engine.advanceBy(ms);
      return now();
    },
  });
}

function addFaultRoutes(router: Router, { faults, rateLimit }: Services): void {
  addControlRoute(router, {
    method: 'get',
    path: '/faults',
    input: none,
    handle: () => Promise.resolve(accept(faults.current())),
  });
  addControlRoute(router, {
    method: 'put',
    path: '/faults',
    input: z.looseObject({}),
    handle: (wanted) => {
      const read = readFaults(wanted);
      if (read.rejection) return Promise.resolve(read);
      faults.set(read.value);
      return Promise.resolve(accept(faults.current()));
    },
  });
  addControlRoute(router, {
    method: 'delete',
    path: '/faults',
    input: none,
    handle: () => {
      faults.set(NO_FAULTS);
      return Promise.resolve(accept(faults.current()));
    },
  });
  addControlRoute(router, {
    method: 'put',
    path: '/rate_limit',
    input: z.strictObject({ per_minute: z.int().min(1) }),
    handle: ({ per_minute: perMinute }) => {
      rateLimit.setPerMinute(perMinute);
      return Promise.resolve(accept({ per_minute: perMinute }));
    },
  });
}

/** Creates keys of every kind, including the first admin key; the service's own API creates secret keys only. */
function addKeyRoutes(router: Router, { clock, store }: Services): void {
  addControlRoute(router, {
    method: 'post',
    path: '/api_keys',
    input: z.strictObject({ kind: z.enum(['secret', 'publishable', 'admin']) }),
    handle: async ({ kind }) => {
      const apiKey = randomId(KEY_PREFIXES[kind], KEY_LENGTH);
      await store.upsertKey({ sha256: hashKey(apiKey), kind });
      return accept({ api_key: apiKey });
    },
  });
  addControlRoute(router, {
    method: 'post',
    path: '/api_keys/revoke',
    input: z.strictObject({ api_key: z.string() }),
    handle: async ({ api_key: apiKey }) => {
      const at = isoTime(clock.nowMs());
      const isKnown = await store.revokeKey({ sha256: hashKey(apiKey), at });
      return isKnown ? accept({ revoked: true }) : rejectUnknown('No API key has this value');
    },
  });
}
