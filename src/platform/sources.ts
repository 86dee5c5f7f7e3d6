/**
 * Gauges whose values stand in a store (the database, the queue) and are read when Prometheus asks.
 *
 * 1. A scrape never fails because a store is away, and waits for none longer than `patienceMs`. The
 *    gauges of what could not be read are left out, so that nobody takes an old value for a new one;
 *    `tallyhook_source_up` says which.
 * 2. What was read serves all who ask within `freshForMs`, and a reading under way serves all who come
 *    meanwhile: many scrapers cost one, and a store that hangs has one reading of each source waiting.
 */
import { Gauge, type Registry } from 'prom-client';
import { startStopwatch } from './clock.ts';
import { pause } from './pause.ts';

/** Gauges that are read together. */
export interface Source {
  /** Value of the label `source`. */
  readonly name: string;
  /** What can be measured, by the names of the metrics. */
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

export interface SourceTimes {
  readonly freshForMs: number;
  readonly patienceMs: number;
}

/** Prometheus gives a scrape ten seconds by default, and asks every 15 to 60. */
const TIMES: SourceTimes = { freshForMs: 2_000, patienceMs: 2_000 };

export interface Sources {
  add(source: Source): void;
  /** Brings all gauges up to date. Never rejects. */
  read(): Promise<void>;
}

export function createSources(registry: Registry, times: SourceTimes = TIMES): Sources {
  const registers = [registry];
  const readers: (() => Promise<void>)[] = [];
  const isUp = new Gauge({
    name: 'tallyhook_source_up',
    help: 'Whether what stands in a store could be read for this scrape, by source',
    labelNames: ['source'],
    registers,
  });
  const tookSeconds = new Gauge({
    name: 'tallyhook_source_read_seconds',
    help: 'How long the last reading of a source took',
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

/** Reads at most once at a time and not while the last reading is fresh (rule 2), and not for ever. */
function createReader(
  read: () => Promise<void>,
  giveUp: () => void,
  { freshForMs, patienceMs }: SourceTimes,
): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  let ageSeconds = () => Number.POSITIVE_INFINITY;
  return async () => {
    if (underWay === undefined && ageSeconds() * 1000 < freshForMs) return;
    underWay ??= read().finally(() => {
      underWay = undefined;
      ageSeconds = startStopwatch();
    });
    const done = new AbortController();
    await Promise.race([
      underWay.finally(() => done.abort()),
      pause(patienceMs, done.signal).then(() => {
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

/** Without labels a gauge that is reset stands at 0, which would be a value that nobody measured. */
function clear(gauge: Gauge): void {
  gauge.reset();
  gauge.remove({});
}
