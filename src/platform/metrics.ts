/**
 * Metrics for Prometheus. Each feature defines its own; a process has one registry.
 *
 * 1. Labels are bounded: a counter lists every value of its labels when it is created. All of them
 *    are exported as 0 from the start, so that Prometheus sees the first count as an increase.
 * 2. Counts of a process end with it. Values in a store are read at scrape time (sources.ts), so that
 *    they are correct after any restart.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createSources, type Source, type SourceTimes } from './sources.ts';

/** Every value that each label can have. */
export type LabelValues = Readonly<Record<string, readonly string[]>>;

/** One value for each label. */
export type Labels<Values extends LabelValues> = {
  readonly [Name in keyof Values]: Values[Name][number];
};

export interface Metrics {
  /** A counter, with all values of its labels. */
  counter<const Values extends LabelValues>(
    name: string,
    help: string,
    values: Values,
  ): (labels: Labels<Values>) => void;
  histogram<const Values extends LabelValues>(
    options: HistogramOptions<Values>,
  ): (value: number, labels: Labels<Values>) => void;
  /** A gauge that is 1 for the given labels for the lifetime of the process. */
  fact(name: string, help: string, labels: Readonly<Record<string, string>>): void;
  /** Adds gauges that are read from a store at scrape time. */
  addSource(source: Source): void;
  /**
   * All metrics, in the text format of Prometheus. Never rejects because a store is unavailable, and
   * never waits for one longer than the timeout of sources.ts.
   */
  render(): Promise<string>;
  readonly contentType: string;
}

export interface HistogramOptions<Values extends LabelValues> {
  readonly name: string;
  readonly help: string;
  readonly buckets: readonly number[];
  readonly values: Values;
}

/**
 * The default metrics of the process: memory, garbage collection, event loop. There is one set for a
 * process, because each one watches the event loop by a timer of 10 ms that never ends.
 */
let defaults: Registry | undefined;

function defaultMetrics(): Registry {
  if (defaults === undefined) {
    defaults = new Registry();
    collectDefaultMetrics({ register: defaults });
  }
  return defaults;
}

/** Creates a registry, rendered with the default metrics of the process. */
export function createMetrics(times?: SourceTimes): Metrics {
  const registry = new Registry();
  const processRegistry = defaultMetrics();
  const registers = [registry];
  const sources = createSources(registry, times);
  const facts = new Map<string, Gauge>();
  return {
    counter: (name, help, values) => {
      const counter = new Counter({ name, help, labelNames: Object.keys(values), registers });
      for (const labels of combinations(values)) counter.inc(labels, 0);
      return (labels) => counter.inc(labels);
    },
    histogram: ({ name, help, buckets, values }) => {
      const labelNames = Object.keys(values);
      const histogram = new Histogram({ name, help, labelNames, buckets: [...buckets], registers });
      for (const labels of combinations(values)) histogram.zero(labels);
      return (value, labels) => histogram.observe(labels, value);
    },
    fact: (name, help, labels) => {
      const gauge =
        facts.get(name) ?? new Gauge({ name, help, labelNames: Object.keys(labels), registers });
      facts.set(name, gauge);
      gauge.set(labels, 1);
    },
    addSource: sources.add,
    render: async () => {
      await sources.read();
      return `${await processRegistry.metrics()}\n${await registry.metrics()}`;
    },
    contentType: registry.contentType,
  };
}

/** Every combination of one value for each label. */
function combinations(values: LabelValues): readonly Record<string, string>[] {
  return Object.entries(values).reduce<readonly Record<string, string>[]>(
    (chosen, [name, choices]) =>
      chosen.flatMap((labels) => choices.map((value) => ({ ...labels, [name]: value }))),
    [{}],
  );
}
