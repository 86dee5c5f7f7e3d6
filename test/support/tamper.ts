/** What the owner of a database can do to rows that nobody is to change. */
import type { Database } from '../../src/platform/db/database.ts';

/** Runs a statement that no trigger sees. */
export function tamperWith(db: Database, statement: string): Promise<void> {
  return db.transaction(async (tx) => {
    await tx.query(`set local session_replication_role = replica`);
    await tx.query(statement);
  });
}

export interface Column {
  readonly name: string;
  readonly type: string;
}

/** An expression that changes one byte of the column, wherever it is not null. */
export function changed({ name, type }: Column, random: () => number): string {
  const bit = 1 << Math.floor(random() * 6);
  switch (type) {
    case 'bigint':
    case 'integer':
      // A changed id must not meet another one.
      return name === 'id' ? `-${name}` : `${name} # ${bit}`;
    case 'numeric':
      return `${name} + ${bit}`;
    case 'date':
      return `${name} + ${bit}`;
    case 'jsonb':
      return `${name} || '[{"kind": "uncertain", "count": 1, "examples": []}]'`;
    case 'text':
      return `overlay(${name} placing chr(ascii(substr(${name}, 2, 1)) # ${1 + Math.floor(random() * 3)}) from 2 for 1)`;
    case 'bytea':
      return `set_byte(${name}, 3, get_byte(${name}, 3) # ${bit})`;
    case 'timestamp with time zone':
      return `${name} + ${bit} * interval '1 microsecond'`;
    case '"char"':
      return `chr(ascii(${name}::text) # ${1 + Math.floor(random() * 3)})::"char"`;
    default:
      throw new Error(`the test cannot change a column of type ${type}`);
  }
}

export function columnsOf(db: Database, table: string): Promise<readonly Column[]> {
  return db.query<Column>(
    `select column_name as name, data_type as type from information_schema.columns
      where table_name = $1 and table_schema = 'public' order by ordinal_position`,
    [table],
  );
}

/** Removes the checks of a table, so that any value can be written. */
export async function dropChecksOf(db: Database, table: string): Promise<void> {
  const checks = await db.query<{ conname: string }>(
    `select conname from pg_constraint where conrelid = $1::regclass and contype = 'c'`,
    [table],
  );
  for (const { conname } of checks) {
    await db.query(`alter table ${table} drop constraint ${conname}`);
  }
}
