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
  /** Requests that failed, or were refused. */
  readonly failed: number;
}

export type ToViewers =
  | { readonly type: 'watch'; readonly watch: Watch }
  | { readonly type: 'end' };
export type FromViewers =
  | { readonly type: 'started' | 'watching' }
  | { readonly type: 'ended'; readonly seen: Seen };
