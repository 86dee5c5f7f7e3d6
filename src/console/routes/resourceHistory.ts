/** Endpoints of how one resource came to be: its timeline and its snapshots. They return no bodies, because they hold personal data. */
import { z } from 'zod';
import { timeBasis } from '../../ledger/domain/effectiveTimes.ts';
import { readResourceSnapshots } from '../../ledger/read/resourceSnapshots.ts';
import { readResourceTimeline } from '../../ledger/read/timeline.ts';
import { snapshotJson } from '../../representation/snapshot.ts';
import { timelineJson } from '../../representation/timeline.ts';
import { defineEndpoint } from '../endpoint.ts';
import { id, resourceKind, time } from '../schemas.ts';
import { byRecordedTime, observationSource, timelineFields } from '../timeline.ts';

const params = z.strictObject({ kind: resourceKind, resource_id: id });

export const getTimeline = defineEndpoint({
  id: 'getResourceTimeline',
  method: 'get',
  path: '/api/v1/resources/{kind}/{resource_id}/timeline',
  permission: 'read',
  summary: 'Get the timeline of a payment, refund, dispute or payout',
  description:
    'The same entries as in the timeline of its order, limited to this resource: its snapshots, transfers, ' +
    'findings, alerts and actions. A payout has no order, and its timeline is only here.',
  params,
  query: z.strictObject({ recorded: byRecordedTime }),
  response: z.strictObject(timelineFields).meta({ id: 'ResourceTimeline' }),
  statuses: [404],
  handle: async ({ db }, { params: { kind, resource_id: resourceId }, query }) => {
    const found = await readResourceTimeline(db, { kind, id: resourceId });
    if (!found) return unknown(kind, resourceId);
    const basis = timeBasis({ isRecorded: query.recorded !== undefined });
    return { outcome: 'ok', body: timelineJson(found, basis) };
  },
});

const snapshot = z
  .strictObject({
    snapshot_id: z.string().describe('Names it among the snapshots of its resource.'),
    source: observationSource,
    event_number: z.int().nullable().describe('Inbox number of the event that brought it.'),
    event_id: z.string().nullable(),
    event_type: z.string().nullable(),
    is_current: z.boolean().describe('Whether the state of the resource comes from it now.'),
    recorded_at: time,
    content: z
      .record(z.string(), z.union([z.string(), z.int()]))
      .describe(
        'What the ledger read, without personal data. Amounts are minor units, names that end in `_micros` microseconds since 1970.',
      ),
  })
  .meta({ id: 'Snapshot' });

export const listSnapshots = defineEndpoint({
  id: 'listResourceSnapshots',
  method: 'get',
  path: '/api/v1/resources/{kind}/{resource_id}/snapshots',
  permission: 'read',
  summary: 'List the snapshots of a payment, refund, dispute or payout, newest first',
  params,
  query: z.strictObject({}),
  response: z
    .strictObject({
      snapshots: z.array(snapshot),
      snapshots_complete: z.boolean().describe('False if only the newest 500 are listed.'),
    })
    .meta({ id: 'ResourceSnapshots' }),
  statuses: [404],
  handle: async ({ db }, { params: { kind, resource_id: resourceId } }) => {
    const found = await readResourceSnapshots(db, { kind, id: resourceId });
    if (!found) return unknown(kind, resourceId);
    return {
      outcome: 'ok',
      body: {
        snapshots: found.snapshots.map(snapshotJson),
        snapshots_complete: found.areSnapshotsComplete,
      },
    };
  },
});

function unknown(kind: string, resourceId: string) {
  const message = `No ${kind} is known as ${JSON.stringify(resourceId)}. If it was just created, its event may not have arrived yet.`;
  return { outcome: 'not_found', message } as const;
}
