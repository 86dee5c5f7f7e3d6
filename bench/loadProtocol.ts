/** Messages between the bench and its load process. */

export interface RunRequest {
  readonly port: number;
  readonly seconds: number;
  /** Sent before the counted time and not counted. */
  readonly warmUpSeconds: number;
  /** Events a second at a steady rate; undefined sends as many as the server accepts. */
  readonly ratePerSecond: number | undefined;
  /** Most connections that are open. With a rate, they are opened as they are needed. */
  readonly connections: number;
  /** Sends the prepared events over and over and keeps them as unsent; for a server that stores nothing. */
  readonly repeat: boolean;
  /** Reports every nth reply of the counted time; 0 for none. */
  readonly sampleEvery: number;
}

export interface RunResult {
  /** Requests sent, warm-up included. */
  readonly sent: number;
  /** Replies of 200, warm-up included. */
  readonly acknowledged: number;
  /** Replies of 200 within the counted time. */
  readonly counted: number;
  /** Length of the counted time, up to the last reply. */
  readonly countedSeconds: number;
  /** Other replies, by status. */
  readonly refused: Readonly<Record<string, number>>;
  /** Connections that broke with a request in flight. */
  readonly broken: number;
  /** All prepared events were sent before the time was over. */
  readonly ranOut: boolean;
  readonly replyMicros: Latency;
  /** Of the other replies, within the counted time. */
  readonly refusalMicros: Latency;
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export type ToLoad =
  | {
      readonly type: 'stream';
      readonly seed: number;
      readonly secret: string;
      /** The name of the peer that receives the events; undefined for Tallyhook and the bare route. */
      readonly peer: string | undefined;
      readonly isOneOrder: boolean;
    }
  | { readonly type: 'prepare'; readonly count: number }
  /** Prepares the same event ids with other bodies. */
  | { readonly type: 'vary' }
  | { readonly type: 'run'; readonly request: RunRequest };

export type FromLoad =
  | { readonly type: 'done' }
  /** The counted time begins. */
  | { readonly type: 'counting' }
  /** `eventId` was acknowledged at `atMs`, a time of the wall clock. */
  | { readonly type: 'sample'; readonly eventId: string; readonly atMs: number }
  | { readonly type: 'result'; readonly result: RunResult };

/** The wall clock in milliseconds with a fraction, comparable between processes of one machine. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
