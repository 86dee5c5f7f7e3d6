/**
 * Gauges that are read from a store (the database, the queue) when Prometheus scrapes.
 *
 * 1. A scrape never fails because a store is unavailable, and never waits for one longer than
 *    `timeoutMs`. Gauges that could not be read are omitted, so that no old value passes for a new
 *    one; `tallyhook_source_up` shows which sources failed.
 * 2. A reading serves all scrapes within `freshForMs`, and a reading in progress serves all scrapes
 *    that arrive meanwhile: many scrapers cost one reading, and a store that hangs has at most one
 *    pending reading per source.
 */
import { Gauge, type Registry } from 'prom-client';
import { startStopwatch } from './clock.ts';
import { sleep } from './sleep.ts';

/** Gauges that are read together. */
export interface Source {
  /** Value of the label `source`. */
  readonly name: string;
  /** The gauges, by the names of their metrics. */
  readonly gauges: Readonly<Record<string, GaugeText>>;
  /** Reads them all. May reject. */
  read(): Promise<readonly Measurement[]>;
}

export interface GaugeText {
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface Measurement {
  /** One of the source's gauges. */
  readonly gauge: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** One measurement of a known value, none of an unknown one. */
export function measurementOf(
  gauge: string,
  value: number | null,
  labels: Readonly<Record<string, string>> = {},
): readonly Measurement[] {
  return value === null ? [] : [{ gauge, labels, value }];
}

export interface SourceTimes {
  readonly freshForMs: number;
  readonly timeoutMs: number;
}

/** By default, Prometheus allows ten seconds for a scrape and scrapes every 15 to 60 seconds. */
const TIMES: SourceTimes = { freshForMs: 2_000, timeoutMs: 2_000 };

export interface Sources {
  add(source: Source): void;
  /** Updates all gauges. Never rejects. */
  read(): Promise<void>;
}

export function createSources(registry: Registry, times: SourceTimes = TIMES): Sources {
  const registers = [registry];
  const readers: (() => Promise<void>)[] = [];
  const isUp = new Gauge({
    name: 'tallyhook_source_up',
    help: 'Whether a source (the database, the queues) could be read for this scrape: 1 or 0',
    labelNames: ['source'],
    registers,
  });
  const tookSeconds = new Gauge({
    name: 'tallyhook_source_read_seconds',
    help: 'Duration of the last reading of a source',
    labelNames: ['source'],
    registers,
  });
  return {
    add: (source) => {
      const gauges = createGauges(source, registry);
      const show = (measured: readonly Measurement[] | undefined): void => {
        isUp.set({ source: source.name }, measured ? 1 : 0);
        for (const gauge of gauges.values()) clear(gauge);
        for (const { gauge, labels = {}, value } of measured ?? []) {
          gauges.get(gauge)?.set(labels, value);
        }
      };
      const read = async (): Promise<void> => {
        const elapsedSeconds = startStopwatch();
        const measured = await source.read().catch(() => undefined);
        tookSeconds.set({ source: source.name }, elapsedSeconds());
        show(measured);
      };
      readers.push(createReader(read, () => show(undefined), times));
    },
    read: async () => {
      await Promise.all(readers.map((reader) => reader()));
    },
  };
}

/** Has one reading in progress at most, reuses a fresh one (rule 2), and gives up after the timeout. */
function createReader(
  read: () => Promise<void>,
  giveUp: () => void,
  { freshForMs, timeoutMs }: SourceTimes,
): () => Promise<void> {
  let inProgress: Promise<void> | undefined;
  let ageSeconds = () => Number.POSITIVE_INFINITY;
  return async () => {
    if (inProgress === undefined && ageSeconds() * 1000 < freshForMs) return;
    inProgress ??= read().finally(() => {
      inProgress = undefined;
      ageSeconds = startStopwatch();
    });
    const done = new AbortController();
    await Promise.race([
      inProgress.finally(() => done.abort()),
      sleep(timeoutMs, done.signal).then(() => {
        if (!done.signal.aborted) giveUp();
      }),
    ]);
  };
}

function createGauges(source: Source, registry: Registry): ReadonlyMap<string, Gauge> {
  return new Map(
    Object.entries(source.gauges).map(([name, { help, labels = [] }]) => {
      const gauge = new Gauge({ name, help, labelNames: [...labels], registers: [registry] });
      clear(gauge);
      return [name, gauge];
    }),
  );
}

/** A reset alone leaves a gauge without labels at 0, which would be a value that was never measured. */
function clear(gauge: Gauge): void {
  gauge.reset();
  gauge.remove({});
}
