/**
 * What statements wait for while bodies are moved: PostgreSQL's own account of its processes, sampled, and
 * two witnesses beside it. A file of its own that is written through to the disk shows what the disk does
 * to everybody; the delay of the event loop shows what this process does to its own figures.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Database } from '../../src/platform/db/database.ts';
import { sleep } from '../../src/platform/sleep.ts';
import { SECOND_MS } from '../../src/platform/time.ts';

const SAMPLE_EVERY_MS = 100;
const BLOCK_BYTES = 8_192;
const NANOSECONDS_PER_MS = 1_000_000;
const MOST_EVENTS = 6;

export const SENDER = 'bench-sender';

/** One process that was seen at work. */
interface Sample {
  readonly atMs: number;
  readonly who: string;
  readonly waitsFor: string;
}

/** When something was due, and when it was done. */
export interface Span {
  readonly fromMs: number;
  readonly throughMs: number;
}

export interface Watched {
  readonly samples: readonly Sample[];
  /** Each write of the witness's own file. */
  readonly writes: readonly Span[];
  readonly longestLoopDelayMs: number;
  readonly checkpoints: Checkpoints;
}

interface Checkpoints {
  readonly count: number;
  readonly syncMs: number;
}

/** Samples until `isDone`. */
export async function watchWaits(
  db: Database,
  folder: string,
  isDone: () => boolean,
): Promise<Watched> {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const before = await readCheckpoints(db);
  const [samples, writes] = await Promise.all([sample(db, isDone), writeThrough(folder, isDone)]);
  const after = await readCheckpoints(db);
  delay.disable();
  return {
    samples,
    writes,
    longestLoopDelayMs: delay.max / NANOSECONDS_PER_MS,
    checkpoints: { count: after.count - before.count, syncMs: after.syncMs - before.syncMs },
  };
}

/** Each process that works, and what it waits for; "CPU" is none of PostgreSQL's waits. */
async function sample(db: Database, isDone: () => boolean): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  while (!isDone()) {
    const fromMs = performance.now();
    const rows = await db.query<Omit<Sample, 'atMs'>>(
      `select case when backend_type = 'client backend' then application_name else backend_type end as who,
              coalesce(wait_event_type || ':' || wait_event, 'CPU') as "waitsFor"
         from pg_stat_activity
        where pid <> pg_backend_pid()
          and (state = 'active'
               or backend_type <> 'client backend' and wait_event_type is distinct from 'Activity')
        limit 100`,
    );
    samples.push(...rows.map((row) => ({ ...row, atMs: fromMs })));
    await sleep(Math.max(0, SAMPLE_EVERY_MS - (performance.now() - fromMs)), forever);
  }
  return samples;
}

async function writeThrough(folder: string, isDone: () => boolean): Promise<readonly Span[]> {
  const writes: Span[] = [];
  const file = await open(join(folder, 'witness'), 'w');
  try {
    while (!isDone()) {
      const fromMs = performance.now();
      await file.write(Buffer.alloc(BLOCK_BYTES), 0, BLOCK_BYTES, 0);
      await file.datasync();
      writes.push({ fromMs, throughMs: performance.now() });
      await sleep(Math.max(0, SAMPLE_EVERY_MS - (performance.now() - fromMs)), forever);
    }
  } finally {
    await file.close();
  }
  return writes;
}

/** PostgreSQL 17 moved these columns to a view of their own. */
async function readCheckpoints(db: Database): Promise<Checkpoints> {
  const [version] = await db.query<{ number: number }>(
    `select current_setting('server_version_num')::integer as number`,
  );
  const [row] = await db.query<Checkpoints>(
    (version?.number ?? 0) >= 170_000
      ? `select num_timed + num_requested as count, sync_time as "syncMs" from pg_stat_checkpointer`
      : `select checkpoints_timed + checkpoints_req as count, checkpoint_sync_time as "syncMs"
           from pg_stat_bgwriter`,
  );
  return row ?? { count: 0, syncMs: 0 };
}

/** What the sender waited for in all, and what everybody did in the slowest batches. */
export function describeWaits(watched: Watched, slow: readonly Span[]): readonly string[] {
  const { samples, writes, longestLoopDelayMs, checkpoints } = watched;
  const longestWrite = Math.max(0, ...writes.map(({ fromMs, throughMs }) => throughMs - fromMs));
  return [
    `sender waits for: ${rank(samples.filter(({ who }) => who === SENDER))}`,
    `longest write of another file ${longestWrite.toFixed(0)} ms, longest delay of the event loop ` +
      `${longestLoopDelayMs.toFixed(0)} ms, checkpoints ${checkpoints.count} ` +
      `(${(checkpoints.syncMs / SECOND_MS).toFixed(1)} s of sync)`,
    ...slow.map((span) => describeSlow(watched, span)),
  ];
}

function describeSlow({ samples, writes }: Watched, { fromMs, throughMs }: Span): string {
  const inside = samples.filter(({ atMs }) => atMs >= fromMs && atMs <= throughMs);
  const beside = writes
    .filter((write) => write.throughMs >= fromMs && write.fromMs <= throughMs)
    .map((write) => write.throughMs - write.fromMs);
  return (
    `a batch of ${(throughMs - fromMs).toFixed(0)} ms: ` +
    `${rank(inside.map((one) => ({ ...one, waitsFor: `${one.who} ${one.waitsFor}` })))}; ` +
    `longest write of another file ${Math.max(0, ...beside).toFixed(0)} ms`
  );
}

function rank(samples: readonly Sample[]): string {
  const counts = new Map<string, number>();
  for (const { waitsFor } of samples) counts.set(waitsFor, (counts.get(waitsFor) ?? 0) + 1);
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MOST_EVENTS)
    .map(([name, count]) => `${name} ${((100 * count) / samples.length).toFixed(0)} %`)
    .join(', ');
}

const forever = new AbortController().signal;
