/** Endpoints that pause and resume background requests to the payment service. */
import { z } from 'zod';
import {
  pauseReconciliationAs,
  resumeReconciliationAs,
} from '../../actions/pauseReconciliation.ts';
import { defineEndpoint } from '../endpoint.ts';
import { reasonGiven } from '../schemas.ts';

const state = z
  .strictObject({ paused: z.boolean(), by: z.string(), reason: z.string().nullable() })
  .meta({ id: 'PauseState' });

export const pause = defineEndpoint({
  id: 'pauseReconciliation',
  method: 'post',
  path: '/api/v1/pause',
  permission: 'operate',
  summary: 'Pause background requests to the payment service',
  description: 'Webhooks are received and applied, and requests of people are sent.',
  params: z.strictObject({}),
  query: z.strictObject({}),
  body: z.strictObject({ reason: reasonGiven.describe('Why; `doctor` and alerts show it.') }),
  response: state,
  statuses: [409],
  handle: async ({ db }, { body: { reason }, actor }) => {
    const paused = await pauseReconciliationAs({ db }, actor, { reason });
    switch (paused.outcome) {
      case 'paused':
        return { outcome: 'ok', body: { paused: true, by: actor.name, reason } };
      case 'already': {
        const by = paused.pause ? ` by ${paused.pause.pausedBy}: ${paused.pause.reason}` : '';
        return { outcome: 'conflict', message: `Reconciliation is already paused${by}.` };
      }
    }
  },
});

export const resume = defineEndpoint({
  id: 'resumeReconciliation',
  method: 'post',
  path: '/api/v1/resume',
  permission: 'operate',
  summary: 'End the pause of background requests',
  params: z.strictObject({}),
  query: z.strictObject({}),
  response: state,
  statuses: [409],
  handle: async ({ db }, { actor }) => {
    const { outcome } = await resumeReconciliationAs({ db }, actor);
    switch (outcome) {
      case 'resumed':
        return { outcome: 'ok', body: { paused: false, by: actor.name, reason: null } };
      case 'not_paused':
        return { outcome: 'conflict', message: 'Reconciliation is not paused.' };
    }
  },
});
