/** Metrics in the form that Prometheus reads. Features name theirs; the registry is made once. */
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export interface Metrics {
  /** A counter with at most one label. */
  counter(name: string, help: string, label?: string): (labelValue?: string, by?: number) => void;
  histogram(name: string, help: string, buckets: readonly number[]): (value: number) => void;
  /** Everything counted so far, in the text format of Prometheus. */
  render(): Promise<string>;
  readonly contentType: string;
}

/** Creates an empty registry with the process's own figures. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    counter: (name, help, label) => {
      const labelNames = label === undefined ? [] : [label];
      const counter = new Counter({ name, help, labelNames, registers: [registry] });
      return (labelValue, by = 1) => {
        if (label === undefined || labelValue === undefined) counter.inc(by);
        else counter.inc({ [label]: labelValue }, by);
      };
    },
    histogram: (name, help, buckets) => {
      const histogram = new Histogram({ name, help, buckets: [...buckets], registers: [registry] });
      return (value) => histogram.observe(value);
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
