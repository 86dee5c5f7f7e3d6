/** Two snapshots of a payment, refund, dispute or payout side by side, with the bodies that brought them. */
import { z } from 'zod';
import { id } from '../../console/schemas.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import type { EventBody } from '../../ledger/read/eventBodies.ts';
import {
  type ListedSnapshot,
  readResourceSnapshots,
  readSnapshotBodies,
} from '../../ledger/read/resourceSnapshots.ts';
import { Comparison, sideOf } from '../bodies/Comparison.tsx';
import { FilterForm, Select } from '../components/forms.tsx';
import { resourceBodiesHref, resourceHref, resourcesHref } from '../links.ts';
import { definePage } from '../page.ts';
import { RESOURCE_NAMES } from './names.ts';

/** Of a snapshot, as its page writes it. */
const snapshotId = z
  .string()
  .regex(/^\d{1,9}-[0-9a-f]{16}$/)
  .optional();

function resourceBodiesPage(kind: ResourceKind) {
  const [one, many] = RESOURCE_NAMES[kind];
  return definePage({
    path: `/${kind}s/{id}/bodies`,
    permission: 'read',
    params: z.strictObject({ id }),
    query: z.strictObject({ left: snapshotId, right: snapshotId }),
    load: async ({ db }, { params, query }) => {
      const read = await readResourceSnapshots(db, { kind, id: params.id });
      const [newest, before] = read?.snapshots ?? [];
      if (!read || !newest) {
        const message = `No snapshot of a ${kind} has the id ${JSON.stringify(params.id)}. If it was just created, its event may not have arrived yet.`;
        return { outcome: 'not_found', message };
      }
      const left = chosen(read.snapshots, query.left, before ?? newest);
      const right = chosen(read.snapshots, query.right, newest);
      if (!left || !right) {
        const message = `The address names a snapshot that is not one of this ${kind}. Choose two of its page.`;
        return { outcome: 'not_found', message };
      }
      const bodies = await readSnapshotBodies(db, [left, right]);
      return { outcome: 'ok', data: { ...read, left, right, bodies, resourceId: params.id } };
    },
    view: ({ snapshots, areSnapshotsComplete, left, right, bodies, resourceId }) => {
      const options = snapshots.map((snapshot) => ({
        value: snapshot.snapshotId,
        label: labelOf(snapshot),
      }));
      return {
        title: `Bodies of ${kind} ${resourceId}`,
        crumbs: [
          { label: many, href: resourcesHref(kind) },
          { label: `${one} ${resourceId}`, href: resourceHref(kind, resourceId) },
        ],
        body: (
          <>
            <FilterForm action={resourceBodiesHref(kind, resourceId)}>
              <Select name="left" label="Left" value={left.snapshotId} options={options} />
              <Select name="right" label="Right" value={right.snapshotId} options={options} />
            </FilterForm>
            {areSnapshotsComplete ? null : <p>Only the newest 500 snapshots can be chosen.</p>}
            <Comparison left={toSide(left, bodies)} right={toSide(right, bodies)} />
          </>
        ),
      };
    },
  });
}

export const paymentBodiesPage = resourceBodiesPage('payment');
export const refundBodiesPage = resourceBodiesPage('refund');
export const disputeBodiesPage = resourceBodiesPage('dispute');
export const payoutBodiesPage = resourceBodiesPage('payout');

/** @returns undefined if the address names none of them */
function chosen(
  snapshots: readonly ListedSnapshot[],
  wanted: string | undefined,
  otherwise: ListedSnapshot,
): ListedSnapshot | undefined {
  return wanted === undefined
    ? otherwise
    : snapshots.find((snapshot) => snapshot.snapshotId === wanted);
}

function toSide(snapshot: ListedSnapshot, bodies: ReadonlyMap<number, EventBody>) {
  const { inboxId } = snapshot;
  const none = { body: undefined, absence: undefined };
  const body = inboxId === undefined ? none : (bodies.get(inboxId) ?? none);
  return sideOf(inboxId, body, [snapshot]);
}

function labelOf({ recordedMicros, content, isCurrent, ...snapshot }: ListedSnapshot): string {
  const words = [content.status ?? 'no status', ...(isCurrent ? ['current'] : [])];
  return `${formatInstant(recordedMicros).slice(0, 19)} UTC: ${sourceOf(snapshot)}, ${words.join(', ')}`;
}

function sourceOf({
  source,
  inboxId,
  eventType,
}: Pick<ListedSnapshot, 'source' | 'inboxId' | 'eventType'>): string {
  switch (source) {
    case 'webhook':
      return `event ${inboxId ?? '(removed)'}, ${eventType ?? 'no type'}`;
    case 'retrieve':
      return 'retrieved';
    case 'list':
      return 'read from a list';
  }
}
