/** What a connection to the model of the server holds. */
import type { Actor } from '../scheduler.ts';
import type { Transaction } from './rows.ts';

export const BEGIN = 'begin';
export const COMMIT = 'commit';
export const ROLLBACK = 'rollback';

export type Result = readonly object[];

export interface Sent {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly resolve: (rows: Result) => void;
  readonly reject: (error: Error) => void;
}

export interface Connection {
  readonly actor: Actor;
  readonly sent: Sent[];
  isBusy: boolean;
  tx: Transaction | undefined;
  /** Of a statement that is a transaction of its own. */
  running: Transaction | undefined;
  /** The server has noticed that it was lost. */
  isGone: boolean;
  lost: Error | undefined;
  /** Replies arrive in order. */
  lastReplyMs: number;
}
