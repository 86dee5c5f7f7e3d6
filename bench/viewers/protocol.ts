/** Messages between the bench and its viewers. */

export interface Watch {
  readonly port: number;
  readonly token: string;
  /** A page for each viewer. */
  readonly paths: readonly string[];
}

export interface Seen {
  /** Pages that a viewer fetched again. */
  readonly fetched: number;
  /** Why requests failed or were refused, each once. */
  readonly failures: readonly string[];
}

export type ToViewers =
  | { readonly type: 'open'; readonly watch: Watch }
  /** Follow what is open, until the rest. */
  | { readonly type: 'follow' | 'rest' };
export type FromViewers =
  | { readonly type: 'started' | 'opened' | 'following' }
  | { readonly type: 'resting'; readonly seen: Seen };
