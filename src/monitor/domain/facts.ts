/** What the rules about the system judge. Times are milliseconds since 1970, counts are integers. */
import type { Rule } from '../../alerts/domain/alert.ts';

/** Changes that no webhook reported, and the webhooks of the same period. */
export interface Missed {
  readonly periodMs: number;
  readonly changes: number;
  /** Counted up to MAX_COUNTED. */
  readonly webhooks: number;
}

/** Requests that fail or are refused, or did within UNUSABLE_MS. */
export interface Unusable {
  /** A list, such as `disputes`; `refresh`, every retrieve; or `refresh:disputes`, those of one kind. */
  readonly source: string;
  readonly sinceMs: number;
  /** Whether they still are. */
  readonly isOpen: boolean;
  /** Whether somebody accepted the finding about it, which ends its alert. */
  readonly isAccepted: boolean;
}

/** A process on a machine with a wrong clock. */
export interface SkewedClock {
  readonly process: string;
  readonly roles: string;
  /** The machine's clock less the database's. */
  readonly skewMs: number;
}

/** A process for which the queue refuses work. */
export interface UnusableQueue {
  readonly process: string;
  readonly roles: string;
  readonly reason: string;
  readonly remedy: string;
  readonly sinceMs: number;
}

/** A role that no process has, though the last one that had it did not stop cleanly. */
export interface NotRunning {
  readonly role: string;
  /** The last process that had it. */
  readonly process: string;
  /** Its last report. */
  readonly seenMs: number;
}

/** Deliveries with a signature that matches no secret, of a day or since the last verified webhook. */
export interface Mismatched {
  /** Within SIGNATURE_WINDOW_MS. */
  readonly recent: number;
  /** Within a day. */
  readonly total: number;
  /** The minutes of the first and the last of them; 0 without any. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The input of all rules. Times are milliseconds since 1970, counts are integers. */
export interface SystemFacts {
  readonly nowMs: number;
  /** When this process began to watch (rule 2). */
  readonly watchingSinceMs: number;
  /** Rules with an open alert (rule 1). */
  readonly openRules: ReadonlySet<Rule>;
  /** Deliveries rejected within SIGNATURE_WINDOW_MS, by reason. */
  readonly rejected: { readonly mismatched: number; readonly unsigned: number };
  /** The minute of the last delivery with a signature that matches no secret; 0 without any within a day. */
  readonly lastMismatchedMs: number;
  readonly mismatchedSinceWebhook: Mismatched;
  /** Undefined if no webhook ever arrived. */
  readonly lastWebhookMs: number | undefined;
  /** The 99th percentile of the gaps between the newest webhooks; undefined if there are too few. */
  readonly usualGapMs: number | undefined;
  /** Whether a receiver runs, and since when without an absence; undefined before that is counted. */
  readonly receiver: { readonly isRunning: boolean; readonly sinceMs: number | undefined };
  /** Changes in the newest window of the lists since the last webhook and `receiver.sinceMs`, repaired or not. */
  readonly missedSinceLastWebhook: number;
  /** Likewise since `receiver.sinceMs`. */
  readonly missed: readonly Missed[];
  /** The receipt of the oldest pending event. */
  readonly oldestPendingMs: number | undefined;
  readonly deadEvents: number;
  /** Transfers that are not in the chain, and when a block was appended last; null before the first one. */
  readonly chain: {
    readonly unchained: number;
    /** False: there are this many or more. */
    readonly isCountComplete: boolean;
    readonly oldestAgeSeconds: number;
    readonly lastBlockAgeSeconds: number | null;
    /** Transfers of an earlier version wait for their effective times. */
    readonly isWaiting: boolean;
  };
  /** Undefined without an API key: nothing is reconciled. */
  readonly reconciliation:
    | {
        /** Those that are compared. */
        readonly lists: readonly string[];
        /** The watermarks of the lists that have one. */
        readonly watermarks: readonly { readonly stream: string; readonly atMs: number }[];
        /** The other ones, with when something was last read of them, or Tallyhook installed. */
        readonly unread: readonly { readonly stream: string; readonly sinceMs: number }[];
        readonly paused:
          | { readonly sinceMs: number; readonly by: string; readonly reason: string }
          | undefined;
        readonly unusable: readonly Unusable[];
      }
    | undefined;
  /** Minutes within RATE_WINDOW_MS in which the rate limit was exhausted. */
  readonly exhaustedMinutes: number;
  /** Processes with a clock that differs from the database's, the largest difference first. */
  readonly clocks: readonly SkewedClock[];
  /** Processes for which the queue refuses work, the longest first. */
  readonly queues: readonly UnusableQueue[];
  /** Roles that no process has, the longest first. */
  readonly missingRoles: readonly NotRunning[];
  /** Classes of data, and how long ago retention had nothing left to remove of each. */
  readonly retention: readonly { readonly name: string; readonly behindMs: number }[];
  /** For how many days after today bodies have a partition; -1 if today has none. */
  readonly bodyDaysAhead: number;
  /** Events with a body that stops the packing of its day, up to MAX_NAMED_BODIES, oldest first. */
  readonly damagedBodies: readonly { readonly eventId: number; readonly day: string }[];
  readonly proof: ProofFacts;
  /** Acknowledged events that the database lost, until the ledger was compared with the service. */
  readonly losses:
    | {
        /** Those that the receivers persisted again, and those that the database refuses. */
        readonly events: number;
        readonly refused: number;
        readonly firstReceivedMs: number;
        readonly lastReceivedMs: number;
      }
    | undefined;
  /** The oldest request for erasure that is not done. */
  readonly openErasure: { readonly id: number; readonly requestedMs: number } | undefined;
}

/** What `tallyhook verify` found. */
export interface ProofFacts {
  /** Resources, orders and events that failed a check and have not passed since. */
  readonly failures: number;
  /** Ranges that are checked again, or were never checked; 0 between two runs. */
  readonly due: number;
}
