/** Statements on snapshots and epochs. Both are append-only. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Epoch } from '../domain/epochs.ts';
import type { ResourceRef, Snapshot, SnapshotContent, SnapshotSource } from '../domain/snapshot.ts';

interface SnapshotRow extends ResourceRef {
  readonly epoch: number;
  readonly contentHash: string;
  readonly content: SnapshotContent;
  readonly source: SnapshotSource;
  readonly observedMicros: number;
}

/**
 * Every snapshot of the named resources. The caller holds their rows. `offset 0` makes PostgreSQL look
 * up each resource separately: in a join it misjudges the rows per resource, and may read the whole
 * table.
 */
export async function readSnapshots(
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<readonly Snapshot[]> {
  const rows = await tx.query<SnapshotRow>(
    `select s.kind, s.resource_id as id, s.epoch, encode(s.content_hash, 'hex') as "contentHash",
            s.content, s.source, s.observed_micros as "observedMicros"
       from (select unnest($1::text[]) as kind, unnest($2::text[]) as id) wanted
      cross join lateral (select s.kind, s.resource_id, s.epoch, s.content_hash, s.content, s.source,
                                 s.observed_micros
                            from snapshots s
                           where s.kind = wanted.kind and s.resource_id = wanted.id offset 0) s`,
    [refs.map(({ kind }) => kind), refs.map(({ id }) => id)],
  );
  return rows.map(({ kind, id, epoch, contentHash, content, source, observedMicros }) => ({
    ref: { kind, id },
    content,
    contentHash,
    source,
    observedMicros,
    epoch,
  }));
}

export interface NewSnapshot extends Snapshot {
  readonly webhookEventId: number | undefined;
}

/** Inserts new snapshots. The caller holds the rows of their resources. */
export async function insertSnapshots(
  tx: Queryable,
  snapshots: readonly NewSnapshot[],
): Promise<void> {
  await tx.query(
    `insert into snapshots (kind, resource_id, epoch, content_hash, content, source,
                            observed_micros, webhook_event_id)
     select kind, id, epoch, decode(hash, 'hex'), content, source, observed, event
       from (select unnest($1::text[]) as kind, unnest($2::text[]) as id,
                    unnest($3::int[]) as epoch, unnest($4::text[]) as hash,
                    unnest($5::json[]) as content, unnest($6::text[]) as source,
                    unnest($7::bigint[]) as observed, unnest($8::bigint[]) as event) u`,
    [
      snapshots.map(({ ref }) => ref.kind),
      snapshots.map(({ ref }) => ref.id),
      snapshots.map(({ epoch }) => epoch),
      snapshots.map(({ contentHash }) => contentHash),
      snapshots.map(({ content }) => JSON.stringify(content)),
      snapshots.map(({ source }) => source),
      snapshots.map(({ observedMicros }) => observedMicros),
      snapshots.map(({ webhookEventId }) => webhookEventId ?? null),
    ],
  );
}

export interface ResourceEpoch extends Epoch {
  readonly ref: ResourceRef;
}

/** The epochs of the named resources; most have none. Looked up like their snapshots. */
export async function readEpochs(
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<readonly ResourceEpoch[]> {
  const rows = await tx.query<ResourceRef & Epoch>(
    `select e.kind, e.resource_id as id, e.epoch, e.floor_micros as "floorMicros"
       from (select unnest($1::text[]) as kind, unnest($2::text[]) as id) wanted
      cross join lateral (select e.kind, e.resource_id, e.epoch, e.floor_micros
                            from resource_epochs e
                           where e.kind = wanted.kind and e.resource_id = wanted.id offset 0) e`,
    [refs.map(({ kind }) => kind), refs.map(({ id }) => id)],
  );
  return rows.map(({ kind, id, epoch, floorMicros }) => ({
    ref: { kind, id },
    epoch,
    floorMicros,
  }));
}

/** Inserts an epoch of a resource. */
export async function insertEpoch(
  tx: Queryable,
  { ref, epoch, floorMicros }: ResourceEpoch,
): Promise<void> {
  await tx.query(
    `insert into resource_epochs (kind, resource_id, epoch, floor_micros) values ($1, $2, $3, $4)`,
    [ref.kind, ref.id, epoch, floorMicros],
  );
}
