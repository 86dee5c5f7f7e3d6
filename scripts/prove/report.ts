/**
 * docs/figures.json: the last result of each part, with everything that its figures must be read beside.
 *
 * 1. A part that runs again replaces its own result and no other.
 * 2. A part that failed is kept as such: it does not show the figures of an earlier run.
 */
import { z } from 'zod';
import { brokenPromises, figureRecord } from './records.ts';

const machine = z.strictObject({
  cpu: z.string(),
  cores: z.int(),
  memoryGib: z.number(),
  system: z.string(),
  node: z.string(),
  postgres: z.string(),
  redis: z.string(),
});

const result = z.strictObject({
  part: z.string(),
  /** Null if the part has none: its load is always the same. */
  seed: z.int().nullable(),
  /** Kills, orders, payments, pairs or seconds, as the part counts. */
  count: z.int(),
  /** The last commit that changed the program. */
  commit: z.string(),
  /** Whether the program had changes that were in no commit. */
  isModified: z.boolean(),
  machine,
  startedAt: z.iso.datetime(),
  seconds: z.number(),
  exitCode: z.int(),
  records: z.array(figureRecord),
});

const report = z.strictObject({ results: z.array(result) });

export type Machine = z.infer<typeof machine>;
export type PartResult = z.infer<typeof result>;
export type Report = z.infer<typeof report>;

export const EMPTY: Report = { results: [] };

/** @throws if the file is no report */
export function parseReport(text: string): Report {
  return report.parse(JSON.parse(text));
}

export function formatReport(one: Report): string {
  return `${JSON.stringify(one, undefined, 2)}\n`;
}

/** The report with this result instead of an earlier one of its part (rule 1), in the order of `parts`. */
export function withResult(
  { results }: Report,
  added: PartResult,
  parts: readonly string[],
): Report {
  const others = results.filter(({ part }) => part !== added.part);
  const position = ({ part }: PartResult) => parts.indexOf(part);
  return { results: [...others, added].toSorted((a, b) => position(a) - position(b)) };
}

export type Outcome =
  | { readonly outcome: 'held' }
  | { readonly outcome: 'broken'; readonly promises: readonly string[] }
  /** It ended early, or recorded nothing: it shows neither. */
  | { readonly outcome: 'failed' };

export function outcomeOf({ records, exitCode }: PartResult): Outcome {
  const promises = records.flatMap(brokenPromises);
  if (promises.length > 0) return { outcome: 'broken', promises };
  return exitCode === 0 && records.length > 0 ? { outcome: 'held' } : { outcome: 'failed' };
}

/** Whether a run that was interrupted need not run this part again. */
export function isDone(
  { results }: Report,
  wanted: Pick<PartResult, 'part' | 'seed' | 'count' | 'commit' | 'isModified'>,
): boolean {
  return results.some(
    (done) =>
      done.part === wanted.part &&
      done.seed === wanted.seed &&
      done.count === wanted.count &&
      done.commit === wanted.commit &&
      !done.isModified &&
      !wanted.isModified &&
      outcomeOf(done).outcome === 'held',
  );
}
