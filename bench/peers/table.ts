/** The table of a comparison: medians over the rounds, with the lowest and the highest. */

/** Rates of one round, a second. */
export interface Round {
  readonly barePerSecond: number;
  readonly own: Rates;
  /** By the name of the peer. */
  readonly peers: Readonly<Record<string, Rates>>;
}

export interface Rates {
  readonly acceptedPerSecond: number;
  /** What is accepted and visible in the tables that are read, while the load lasts. */
  readonly appliedPerSecond: number;
}

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface TableRow {
  readonly name: string;
  readonly accepted: Spread;
  /** Undefined for the bare route, which applies nothing. */
  readonly applied: Spread | undefined;
  /** What is accepted, by the bare route of the same round. */
  readonly ofBare: Spread | undefined;
}

export interface Table {
  readonly rows: readonly TableRow[];
  /** Tallyhook by each peer, within each round. */
  readonly ratios: readonly (Pick<TableRow, 'name' | 'accepted'> & { readonly applied: Spread })[];
}

/** @param rounds at least one, all with the same peers */
export function tableOf(rounds: readonly Round[], ownName: string): Table {
  const names = Object.keys(rounds[0]?.peers ?? {});
  const row = (name: string, read: (round: Round) => Rates): TableRow => ({
    name,
    accepted: spreadOf(rounds.map((round) => read(round).acceptedPerSecond)),
    applied: spreadOf(rounds.map((round) => read(round).appliedPerSecond)),
    ofBare: spreadOf(rounds.map((round) => read(round).acceptedPerSecond / round.barePerSecond)),
  });
  const bare: TableRow = {
    name: 'bare route',
    accepted: spreadOf(rounds.map(({ barePerSecond }) => barePerSecond)),
    applied: undefined,
    ofBare: undefined,
  };
  const ratio = (name: string, read: (rates: Rates) => number): Spread =>
    spreadOf(rounds.map((round) => read(round.own) / read(ratesOf(round, name))));
  return {
    rows: [
      bare,
      ...names.map((name) => row(name, (round) => ratesOf(round, name))),
      row(ownName, ({ own }) => own),
    ],
    ratios: names.map((name) => ({
      name: `${ownName} / ${name}`,
      accepted: ratio(name, ({ acceptedPerSecond }) => acceptedPerSecond),
      applied: ratio(name, ({ appliedPerSecond }) => appliedPerSecond),
    })),
  };
}

function ratesOf({ peers }: Round, name: string): Rates {
  const rates = peers[name];
  if (!rates) throw new Error(`a round lacks ${name}`);
  return rates;
}

function spreadOf(values: readonly number[]): Spread {
  const ascending = values.toSorted((a, b) => a - b);
  const middle = Math.floor(ascending.length / 2);
  const upper = ascending[middle] ?? 0;
  return {
    median: ascending.length % 2 === 1 ? upper : ((ascending[middle - 1] ?? upper) + upper) / 2,
    least: ascending[0] ?? 0,
    most: ascending.at(-1) ?? 0,
  };
}

const HEADINGS = ['accepted/s', 'applied/s', 'accepted / bare'];
const NAME_WIDTH = 42;
const CELL_WIDTH = 23;

/** @returns the lines of the table */
export function linesOf({ rows, ratios }: Table): readonly string[] {
  const line = (name: string, cells: readonly string[]): string =>
    [name.padEnd(NAME_WIDTH), ...cells.map((cell) => cell.padStart(CELL_WIDTH))].join('').trimEnd();
  return [
    line('', HEADINGS),
    ...rows.map(({ name, accepted, applied, ofBare }) =>
      line(name, [
        textOf(accepted, whole),
        applied ? textOf(applied, whole) : '',
        ofBare ? textOf(ofBare, ratio) : '',
      ]),
    ),
    ...ratios.map(({ name, accepted, applied }) =>
      line(name, [textOf(accepted, ratio), textOf(applied, ratio)]),
    ),
  ];
}

function textOf({ median, least, most }: Spread, format: (value: number) => string): string {
  return `${format(median)} (${format(least)}-${format(most)})`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function ratio(value: number): string {
  return value.toFixed(2);
}
