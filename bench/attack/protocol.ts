/** Messages between the bench and its attacker process. */

export type Attack =
  /** Connections that send nothing. */
  | 'silent'
  /** Connections that send one cheap request and stay open. */
  | 'cheap'
  /** Connections that send one MiB of a body that never ends. */
  | 'endless'
  /** Forged deliveries, each connection waits for its response. */
  | 'forged'
  /** Forged deliveries, each on a new connection that does not wait long. */
  | 'forged_reconnecting';

export interface AttackRequest {
  readonly attack: Attack;
  readonly port: number;
  readonly connections: number;
  /** Opens a connection that was closed again after a second. */
  readonly isReopening: boolean;
  /** Forged deliveries in all; the other attacks ignore it. */
  readonly requests: number;
  readonly seconds: number;
}

export interface AttackResult {
  readonly opened: number;
  readonly sent: number;
  readonly responses: number;
}
