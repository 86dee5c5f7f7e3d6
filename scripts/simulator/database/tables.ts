/**
 * The tables of the model: those columns that its statements read or write, by their names in the schema. Times
 * are milliseconds since 1970 where their columns do not state microseconds.
 */
import { createTable, insertFirst } from './rows.ts';

export type Json = Readonly<Record<string, unknown>>;
type TimeMs = number | null;

export interface EventRow {
  readonly id: number;
  readonly event_id: string | null;
  readonly merchant_id: string | null;
  readonly event_type: string | null;
  readonly body_day: string;
  readonly body_bytes: number;
  readonly body_sha256: string;
  readonly received_at: number;
  readonly secret_fingerprint: number;
}

export interface PendingRow {
  readonly webhook_event_id: number;
  readonly attempts: number;
  readonly enqueue_at: number;
  readonly lane: number;
}

export interface ResourceState {
  readonly kind: string;
  readonly id: string;
  readonly payment_id: string | null;
  readonly order_key: string | null;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amount_minor: number | null;
  readonly net_amount_minor: number | null;
  readonly authorized_minor: number;
  readonly captured_minor: number;
  readonly capture_method: string | null;
  readonly reference: string | null;
  readonly created_at: TimeMs;
  readonly deadline_at: TimeMs;
  readonly term_since: TimeMs;
  readonly epoch: number;
  readonly version_micros: number | null;
  readonly head_hash: string | null;
  readonly posts: boolean;
  readonly uncertainties: readonly string[];
  readonly contradiction: Json | null;
  readonly open_findings: readonly string[];
  readonly is_check_wanted: boolean;
  readonly posted: Json;
}

export interface ResourceRow extends ResourceState {
  readonly next_check_at: TimeMs;
  readonly webhook_applied_at: TimeMs;
  readonly retrieved_at: TimeMs;
  readonly behind_since: TimeMs;
  readonly behind_micros: number | null;
  readonly first_seen_at: number;
}

export interface OrderRow {
  readonly order_key: string;
  readonly order_id: string;
  readonly status: string;
  readonly moved_to: readonly string[];
  readonly open_findings: readonly string[];
}

export interface TotalRow {
  readonly order_key: string;
  readonly currency: string;
  readonly status: string;
  readonly authorized_minor: number;
  readonly captured_minor: number;
  readonly refunded_minor: number;
  readonly refund_pending_minor: number;
  readonly disputed_minor: number;
  readonly charged_back_minor: number;
}

export interface SnapshotRow {
  readonly kind: string;
  readonly resource_id: string;
  readonly epoch: number;
  readonly content_hash: string;
  readonly content: Json;
  readonly source: string;
  readonly observed_micros: number;
  readonly webhook_event_id: number | null;
}

export interface EpochRow {
  readonly kind: string;
  readonly resource_id: string;
  readonly epoch: number;
  readonly floor_micros: number;
}

export interface TransferRow {
  readonly id: number;
  readonly kind: string;
  readonly resource_id: string;
  readonly leg: string;
  readonly currency: string;
  readonly leg_seq: number;
  readonly debit: string;
  readonly credit: string;
  readonly amount_minor: number;
  readonly previous_minor: number;
  readonly cumulative_minor: number;
  readonly head_hash: string;
  readonly webhook_event_id: number | null;
  readonly effective_micros: number;
  readonly effective_source: string;
}

export interface FindingRow {
  readonly id: number;
  readonly class: string;
  readonly subject: string;
  readonly state: 'open' | 'closed';
  readonly detail: Json;
  readonly opened_at: number;
  readonly updated_at: number;
  readonly closed_at: TimeMs;
  readonly opened_by_event: number | null;
  readonly closed_by_event: number | null;
}

export interface AlertState {
  readonly rule: string;
  readonly subject: string;
  readonly variant: string;
  readonly severity: string;
  readonly sentence: string;
  readonly next_step: string;
  readonly detail: Json;
  readonly order_id: string | null;
  readonly payment_id: string | null;
  readonly deadline_at: TimeMs;
}

export interface AlertRow extends AlertState {
  readonly id: number;
  readonly state: 'open' | 'resolved';
  readonly opened_at: number;
  readonly resolved_at: TimeMs;
  readonly opened_by_event: number | null;
  readonly resolved_by_event: number | null;
}

export interface OutboxRow {
  readonly id: number;
  readonly alert_id: number;
  readonly type: string;
  readonly created_at: number;
}

export interface ChangeState {
  readonly kind: string;
  readonly change: string;
  readonly status: string | null;
  readonly previous_status: string | null;
  readonly webhook_event_id: number | null;
  readonly changed_at: number;
  readonly is_history: boolean;
}

export interface LoggedChangeRow extends ChangeState {
  readonly id: number;
  readonly subject: string;
}

export interface ChangeRow extends ChangeState {
  readonly number: number;
  readonly id: string;
  readonly order_key: string | null;
}

export interface MessageRow {
  readonly id: string;
  readonly number: number;
  readonly channel: string;
  readonly kind: string;
  readonly content: Json;
  readonly stream: string | null;
  readonly state: 'due' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly next_attempt_at: number;
  readonly created_at: number;
  readonly settled_at: TimeMs;
  readonly last_error: string | null;
  readonly attempt_log: readonly Json[];
}

export interface HealthRow {
  readonly channel: string;
  readonly failures: number;
  readonly failing_since: number;
  readonly retry_at: TimeMs;
  readonly waiting_since: TimeMs;
  readonly last_error: string;
}

export interface WatchRow {
  readonly payment_id: string;
  readonly start_at: number;
  readonly deadline_at: number;
  readonly reminder_hours: number | null;
  readonly reminder_deadline_at: TimeMs;
  readonly next_check_at: number;
}

/** A reminder, or an attempt of a policy. */
export interface AttemptRow {
  readonly id: number;
  readonly payment_id: string;
  readonly deadline_at: number;
  readonly kind: 'threshold' | 'policy';
  readonly threshold_hours: number;
  readonly currency: string | null;
  readonly capturable_minor: number | null;
  readonly action: string | null;
  readonly outcome: string | null;
  readonly attempt: number | null;
  readonly recorded_at: number;
}

const joined = (...parts: readonly (string | number)[]): string => parts.join(' ');
const byNumber = ({ webhook_event_id }: { readonly webhook_event_id: number }) =>
  String(webhook_event_id);

/** The tables as the migrations leave them. */
export function createTables() {
  const tables = {
    webhook_events: createTable<EventRow>(
      'webhook_events',
      ({ id }) => String(id),
      (row) => (row.event_id === null ? `body ${row.body_sha256}` : `id ${row.event_id}`),
    ),
    webhook_bodies: createTable<{ webhook_event_id: number; day: string; body: Buffer }>(
      'webhook_bodies',
      byNumber,
    ),
    event_variants: createTable<{ webhook_event_id: number; body_sha256: string; body: Buffer }>(
      'event_variants',
      (row) => joined(row.webhook_event_id, row.body_sha256),
    ),
    pending: createTable<PendingRow>('pending', byNumber),
    dead_events: createTable<{ webhook_event_id: number; attempts: number; error: string }>(
      'dead_events',
      byNumber,
    ),
    resources: createTable<ResourceRow>('resources', ({ kind, id }) => joined(kind, id)),
    orders: createTable<OrderRow>('orders', ({ order_key }) => order_key),
    order_totals: createTable<TotalRow>('order_totals', (row) =>
      joined(row.order_key, row.currency),
    ),
    snapshots: createTable<SnapshotRow>('snapshots', (row) =>
      joined(row.kind, row.resource_id, row.epoch, row.content_hash),
    ),
    resource_epochs: createTable<EpochRow>('resource_epochs', (row) =>
      joined(row.kind, row.resource_id, row.epoch),
    ),
    transfers: createTable<TransferRow>(
      'transfers',
      ({ id }) => String(id),
      (row) => joined(row.kind, row.resource_id, row.leg, row.currency, row.leg_seq),
    ),
    findings: createTable<FindingRow>(
      'findings',
      ({ id }) => String(id),
      (row) => (row.state === 'open' ? joined(row.class, row.subject) : undefined),
    ),
    alerts: createTable<AlertRow>(
      'alerts',
      ({ id }) => String(id),
      (row) =>
        row.state === 'resolved' ? undefined : JSON.stringify([row.subject, row.rule, row.variant]),
    ),
    alert_outbox: createTable<OutboxRow>('alert_outbox', ({ id }) => String(id)),
    dispatch_state: createTable<{ next_dispatch_at: number }>('dispatch_state', () => 'one'),
    change_log: createTable<LoggedChangeRow>('change_log', ({ id }) => String(id)),
    changes: createTable<ChangeRow>('changes', ({ number }) => String(number)),
    messages: createTable<MessageRow>('messages', ({ id }) => id),
    channel_health: createTable<HealthRow>('channel_health', ({ channel }) => channel),
    authorization_watch: createTable<WatchRow>('authorization_watch', (row) => row.payment_id),
    authorization_log: createTable<AttemptRow>(
      'authorization_log',
      ({ id }) => String(id),
      (row) =>
        row.kind === 'policy'
          ? joined('policy', row.payment_id, row.attempt ?? 0)
          : joined('threshold', row.payment_id, row.deadline_at, row.threshold_hours),
    ),
  };
  insertFirst(tables.dispatch_state, { next_dispatch_at: 0 });
  return tables;
}

export type Tables = ReturnType<typeof createTables>;
