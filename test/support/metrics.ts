/** Reads the text format of Prometheus. */

export interface Sample {
  /** Of the series; a histogram has three. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scrape {
  /** Names of metrics with their types. */
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The one value of the series with exactly these labels; undefined when there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

const SAMPLE = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;

/** @throws when a line is neither a comment nor a sample */
export function parseMetrics(page: string): Scrape {
  const lines = page.split('\n').filter((line) => line !== '');
  const types = new Map(
    lines.flatMap((line) => {
      const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
      return name !== undefined && type !== undefined ? [[name, type] as const] : [];
    }),
  );
  const samples = lines
    .filter((line) => !line.startsWith('#'))
    .map((line): Sample => {
      const groups = SAMPLE.exec(line)?.groups;
      if (!groups) throw new Error(`not a line of Prometheus: ${line}`);
      const pairs = (groups.labels ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
      const labels = Object.fromEntries(
        [...pairs].map(([, name = '', value = '']) => [name, value]),
      );
      return { name: groups.name ?? '', labels, value: Number(groups.value) };
    });
  return {
    types,
    samples,
    value: (name, labels = {}) =>
      samples.find((one) => one.name === name && isSame(one.labels, labels))?.value,
  };
}

function isSame(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
  );
}
