/** What the steps of a run share. Its state is apart (runState.ts): it is passed on and returned. */
import type { Lane, PaymentServiceClient } from '../client/index.ts';
import type { Account } from '../ledger/domain/account.ts';
import type { History } from '../ledger/domain/importedHistory.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import type { Span } from './domain/windows.ts';
import { RunPaused } from './interruptions.ts';
import type { ListReader } from './listReader.ts';
import type { ReconcileMetrics } from './metrics.ts';
import type { Requester } from './requester.ts';
import type { Retrieve } from './retrieve.ts';
import type { RunState } from './runState.ts';
import { isPaused } from './store/pauses.ts';
import type { Mode, RunCounts, RunRow } from './store/runs.ts';
import type { Stream } from './streams.ts';

/** What a run is to compare. */
export interface RunRequest {
  readonly stream: Stream;
  readonly mode: Mode;
  /** The span of creation times, in milliseconds since 1970. By default it starts at the watermark. */
  readonly fromMs?: number | undefined;
  /** By default, and at most, shortly before the service's time, so that its lists are complete. */
  readonly toMs?: number | undefined;
  /** A schedule's name, or `operator`. A run resumes only one of the same cause. */
  readonly cause: string;
  readonly isDryRun: boolean;
  readonly lane: Lane;
}

export interface RunProgress extends RunCounts {
  readonly span: Span;
  readonly checkpointMs: number;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: RunProgress) => void;
  /** As in RequesterParts. */
  readonly onRateLimited?: () => void;
}

export interface ReconcileParts {
  readonly db: Database;
  readonly client: PaymentServiceClient;
  readonly retrieve: Retrieve;
  readonly account: Account;
  readonly clock: Clock;
  readonly metrics: ReconcileMetrics;
  readonly log: Log;
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

export interface RunContext {
  readonly parts: ReconcileParts;
  /** As it was when the run was opened or resumed. */
  readonly row: RunRow;
  /** The latest that this process read or wrote: the one thing here that moves on. */
  readonly checkpoint: { readonly id: number; windows: number };
  readonly stream: Stream;
  readonly requester: Requester;
  readonly reader: ListReader;
  /** The page limit that was known when the run was opened. */
  readonly knownPageLimit: number;
  /** A person started it, in a process that no Prometheus scrapes. */
  readonly isManual: boolean;
  /** The service's clock less ours when the run before this one was opened; undefined if there is none. */
  readonly earlierSkewMs: number | undefined;
  /** As in applySnapshots. */
  readonly history: History;
  /** The list was not imported when the run began: no webhook was expected for what it finds. */
  readonly isFirstImport: boolean;
  readonly options: RunOptions;
}

/** Lists a span window by window, and compares, repairs and records each in its turn (run.ts). */
export type ReconcileSpan = (run: RunContext, state: RunState, span: Span) => Promise<RunState>;

/** Pausing stops scheduled runs, not those of people. @throws RunPaused */
export async function throwIfPaused({ parts, isManual }: RunContext): Promise<void> {
  if (!isManual && (await isPaused(parts.db))) throw new RunPaused();
}
