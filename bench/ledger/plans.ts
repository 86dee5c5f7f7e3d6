/**
 * Which statements read more than their result needs: every statement is also run under `explain`,
 * and the blocks that it touched are compared with the rows that it returned.
 */
import type { Database, Queryable } from '../../src/platform/db/database.ts';

export interface Plan {
  readonly statement: string;
  readonly blocks: number;
  readonly rows: number;
  readonly text: string;
}

/** Blocks of 8 kB that a row may cost by way of an index and its table, and what a statement costs at all. */
const BLOCKS_PER_ROW = 20;
const BLOCKS_PER_STATEMENT = 60;

export interface Explained {
  readonly db: Database;
  /** Plans that touched more blocks than a few for each row. */
  readonly greedy: readonly Plan[];
  readonly statements: () => number;
}

/** @param allowedBlocks how many blocks a statement may touch in any case */
export function explaining(
  db: Database,
  allowedBlocks: () => number = () => BLOCKS_PER_STATEMENT,
): Explained {
  const greedy: Plan[] = [];
  let statements = 0;
  const wrap = (queryable: Queryable): Queryable => ({
    query: async (text, values) => {
      const rows = await queryable.query(text, values);
      if (!/^\s*(select|with)/i.test(text)) return rows as never;
      statements += 1;
      const lines = await queryable.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, buffers, timing off) ${text}`,
        values,
      );
      const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
      const blocks = blocksOf(plan);
      if (blocks > allowedBlocks() + BLOCKS_PER_ROW * rows.length) {
        greedy.push({ statement: text, blocks, rows: rows.length, text: plan });
      }
      return rows as never;
    },
  });
  return {
    db: {
      ...db,
      ...wrap(db),
      transaction: (work) => db.transaction((tx) => work(wrap(tx))),
    },
    greedy,
    statements: () => statements,
  };
}

/** The root of a plan counts what its children touched, and its line of buffers is the first. */
export function blocksOf(plan: string): number {
  const [line = ''] = /Buffers: shared.*/.exec(plan) ?? [];
  return [...line.matchAll(/(?:hit|read)=(\d+)/g)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}
