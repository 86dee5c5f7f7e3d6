/** What a program that is compared with Tallyhook must bring. */
import type { Change } from '../changes.ts';
import type { BenchDatabase } from '../database.ts';
import type { EventFormat } from '../events.ts';

/** Rows by what they are counted by, for example `refunds`. */
export type Rows = Readonly<Record<string, number>>;

export interface Peer {
  /** As npm names it. */
  readonly name: string;
  /** Exact, as what it is installed with: figures of two runs are about the same code. */
  readonly version: string;
  /** Other packages that it is installed with, `name@version`. */
  readonly besides: readonly string[];
  /** Its service's own events, about the same payments. */
  readonly format: EventFormat;
  /**
   * The module of its server, which sends `{ port }` once it listens. It finds the installed package from
   * PEER_FOLDER, and its settings in DATABASE_URL and WEBHOOK_SECRET.
   */
  readonly serverFile: string;
  /** Makes its tables in an empty database. */
  migrate(folder: string, databaseUrl: string): Promise<void>;
  /** What `countRows` finds once `count` changes arrived, if none was lost. */
  expectRows(nextChange: () => Change, count: number): Rows;
  countRows(db: BenchDatabase): Promise<Rows>;
}
