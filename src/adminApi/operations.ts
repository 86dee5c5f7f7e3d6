/**
 * The endpoints of the admin API: their types, and the table that the client is built from. Written by
 * `npm run generate` from the table of endpoints; change that.
 */
import type { AdminApiCallOptions } from './options.ts';

/** An endpoint, as the client calls it. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** With its fields in braces. */
  readonly path: string;
  /** Fields of the query. */
  readonly query: readonly string[];
  /** Whether all other fields are the body. */
  readonly hasBody: boolean;
  /** Of a list. */
  readonly page?: Page;
}

/** How a list continues. */
export interface Page {
  /** The field of the response that has the rows. */
  readonly rows: string;
  /** The field of the request that has the position. */
  readonly send: string;
  /** The field of the response that has the next position. */
  readonly next: string;
}

/** The endpoints by the name of their call. */
export const OPERATIONS = {
  search: { method: 'GET', path: '/api/v1/search', query: ['q', 'in'], hasBody: false },
  listOrders: { method: 'GET', path: '/api/v1/orders', query: ['status', 'currency', 'min_amount', 'max_amount', 'from', 'to', 'open_finding', 'uncertain', 'totals', 'limit', 'cursor'], hasBody: false, page: { rows: 'orders', send: 'cursor', next: 'next_cursor' } },
  getOrder: { method: 'GET', path: '/api/v1/orders/{order_id}', query: ['by', 'recorded', 'refresh'], hasBody: false },
  putOrder: { method: 'PUT', path: '/api/v1/orders/{order_id}', query: ['by'], hasBody: true },
  listOrderParts: { method: 'GET', path: '/api/v1/orders/{order_id}/parts', query: ['by', 'limit', 'cursor'], hasBody: false, page: { rows: 'parts', send: 'cursor', next: 'next_cursor' } },
  listPayments: { method: 'GET', path: '/api/v1/payments', query: ['status', 'order_id', 'currency', 'min_amount', 'max_amount', 'from', 'to', 'open_finding', 'uncertain', 'totals', 'limit', 'cursor'], hasBody: false, page: { rows: 'payments', send: 'cursor', next: 'next_cursor' } },
  getPayment: { method: 'GET', path: '/api/v1/payments/{payment_id}', query: ['refresh'], hasBody: false },
  listRefunds: { method: 'GET', path: '/api/v1/refunds', query: ['status', 'order_id', 'currency', 'min_amount', 'max_amount', 'from', 'to', 'open_finding', 'uncertain', 'totals', 'limit', 'cursor'], hasBody: false, page: { rows: 'refunds', send: 'cursor', next: 'next_cursor' } },
  getRefund: { method: 'GET', path: '/api/v1/refunds/{refund_id}', query: [], hasBody: false },
  listDisputes: { method: 'GET', path: '/api/v1/disputes', query: ['status', 'order_id', 'currency', 'min_amount', 'max_amount', 'from', 'to', 'open_finding', 'uncertain', 'totals', 'limit', 'cursor'], hasBody: false, page: { rows: 'disputes', send: 'cursor', next: 'next_cursor' } },
  getDispute: { method: 'GET', path: '/api/v1/disputes/{dispute_id}', query: [], hasBody: false },
  listPayouts: { method: 'GET', path: '/api/v1/payouts', query: ['status', 'order_id', 'currency', 'min_amount', 'max_amount', 'from', 'to', 'open_finding', 'uncertain', 'totals', 'limit', 'cursor'], hasBody: false, page: { rows: 'payouts', send: 'cursor', next: 'next_cursor' } },
  getPayout: { method: 'GET', path: '/api/v1/payouts/{payout_id}', query: [], hasBody: false },
  getResourceTimeline: { method: 'GET', path: '/api/v1/resources/{kind}/{resource_id}/timeline', query: ['recorded'], hasBody: false },
  listResourceSnapshots: { method: 'GET', path: '/api/v1/resources/{kind}/{resource_id}/snapshots', query: [], hasBody: false },
  listChanges: { method: 'GET', path: '/api/v1/changes', query: ['after', 'limit'], hasBody: false, page: { rows: 'changes', send: 'after', next: 'next_after' } },
  listEvents: { method: 'GET', path: '/api/v1/events', query: ['state', 'type', 'order', 'from', 'to', 'replay', 'limit', 'cursor'], hasBody: false, page: { rows: 'events', send: 'cursor', next: 'next_cursor' } },
  getEvent: { method: 'GET', path: '/api/v1/events/{event}', query: [], hasBody: false },
  replayEvent: { method: 'POST', path: '/api/v1/events/{event}/replay', query: [], hasBody: false },
  discardEvent: { method: 'POST', path: '/api/v1/events/{event}/discard', query: [], hasBody: true },
  startReplay: { method: 'POST', path: '/api/v1/replays', query: [], hasBody: true },
  listReplays: { method: 'GET', path: '/api/v1/replays', query: ['limit', 'cursor'], hasBody: false, page: { rows: 'replays', send: 'cursor', next: 'next_cursor' } },
  getReplay: { method: 'GET', path: '/api/v1/replays/{number}', query: [], hasBody: false },
  stopReplay: { method: 'POST', path: '/api/v1/replays/{number}/stop', query: [], hasBody: false },
  listFindings: { method: 'GET', path: '/api/v1/findings', query: ['state', 'class', 'subject', 'limit', 'cursor'], hasBody: false, page: { rows: 'findings', send: 'cursor', next: 'next_cursor' } },
  acceptFinding: { method: 'POST', path: '/api/v1/findings/{number}/accept', query: [], hasBody: true },
  acceptFindings: { method: 'POST', path: '/api/v1/findings/accept', query: [], hasBody: true },
  listAlerts: { method: 'GET', path: '/api/v1/alerts', query: ['state', 'severity', 'rule', 'limit', 'cursor'], hasBody: false, page: { rows: 'alerts', send: 'cursor', next: 'next_cursor' } },
  getAlert: { method: 'GET', path: '/api/v1/alerts/{number}', query: [], hasBody: false },
  acknowledgeAlert: { method: 'POST', path: '/api/v1/alerts/{number}/acknowledge', query: [], hasBody: true },
  snoozeAlert: { method: 'POST', path: '/api/v1/alerts/{number}/snooze', query: [], hasBody: true },
  assignAlert: { method: 'POST', path: '/api/v1/alerts/{number}/assign', query: [], hasBody: true },
  listMessages: { method: 'GET', path: '/api/v1/messages', query: ['state', 'channel', 'kind', 'limit', 'cursor'], hasBody: false, page: { rows: 'messages', send: 'cursor', next: 'next_cursor' } },
  getMessage: { method: 'GET', path: '/api/v1/messages/{number}', query: [], hasBody: false },
  resendMessage: { method: 'POST', path: '/api/v1/messages/{number}/resend', query: [], hasBody: true },
  listChannels: { method: 'GET', path: '/api/v1/channels', query: [], hasBody: false },
  testChannel: { method: 'POST', path: '/api/v1/channels/{channel}/test', query: [], hasBody: false },
  listAuthorizations: { method: 'GET', path: '/api/v1/authorizations', query: ['limit', 'cursor'], hasBody: false, page: { rows: 'authorizations', send: 'cursor', next: 'next_cursor' } },
  captureAuthorization: { method: 'POST', path: '/api/v1/authorizations/{payment_id}/capture', query: [], hasBody: true },
  cancelAuthorization: { method: 'POST', path: '/api/v1/authorizations/{payment_id}/cancel', query: [], hasBody: true },
  refundPayment: { method: 'POST', path: '/api/v1/payments/{payment_id}/refund', query: [], hasBody: true },
  acceptDispute: { method: 'POST', path: '/api/v1/disputes/{dispute_id}/accept', query: [], hasBody: true },
  getEvidence: { method: 'GET', path: '/api/v1/disputes/{dispute_id}/evidence', query: [], hasBody: false },
  submitEvidence: { method: 'POST', path: '/api/v1/disputes/{dispute_id}/evidence', query: [], hasBody: true },
  uploadEvidence: { method: 'POST', path: '/api/v1/disputes/{dispute_id}/files', query: [], hasBody: true },
  retryPayout: { method: 'POST', path: '/api/v1/payouts/{payout_id}/retry', query: [], hasBody: true },
  cancelPayout: { method: 'POST', path: '/api/v1/payouts/{payout_id}/cancel', query: [], hasBody: true },
  fulfillPayout: { method: 'POST', path: '/api/v1/payouts/{payout_id}/fulfill', query: [], hasBody: true },
  listReconciliations: { method: 'GET', path: '/api/v1/reconciliations', query: ['stream', 'limit', 'cursor'], hasBody: false, page: { rows: 'reconciliations', send: 'cursor', next: 'next_cursor' } },
  startReconciliation: { method: 'POST', path: '/api/v1/reconciliations', query: [], hasBody: true },
  getReconciliation: { method: 'GET', path: '/api/v1/reconciliations/{number}', query: [], hasBody: false },
  stopReconciliation: { method: 'POST', path: '/api/v1/reconciliations/{number}/stop', query: [], hasBody: false },
  listMissedWebhooks: { method: 'GET', path: '/api/v1/missed-webhooks', query: ['days'], hasBody: false },
  getRateBudget: { method: 'GET', path: '/api/v1/rate-budget', query: [], hasBody: false },
  getBalances: { method: 'GET', path: '/api/v1/balances', query: ['order_id', 'by', 'as_of', 'known_at'], hasBody: false },
  getChain: { method: 'GET', path: '/api/v1/chain', query: [], hasBody: false },
  listTransfers: { method: 'GET', path: '/api/v1/transfers', query: ['account', 'order_id', 'resource_id', 'currency', 'min_amount', 'max_amount', 'from', 'to', 'recorded', 'totals', 'limit', 'cursor'], hasBody: false, page: { rows: 'transfers', send: 'cursor', next: 'next_cursor' } },
  getClearing: { method: 'GET', path: '/api/v1/clearing', query: ['as_of'], hasBody: false },
  listUnmatched: { method: 'GET', path: '/api/v1/clearing/unmatched', query: ['part', 'currency', 'limit', 'cursor'], hasBody: false, page: { rows: 'unmatched', send: 'cursor', next: 'next_cursor' } },
  getStatement: { method: 'GET', path: '/api/v1/statements/{month}', query: ['currency', 'time_zone'], hasBody: false },
  listClosings: { method: 'GET', path: '/api/v1/closings', query: [], hasBody: false },
  getClosableMonth: { method: 'GET', path: '/api/v1/closings/{month}', query: ['time_zone'], hasBody: false },
  closeMonth: { method: 'POST', path: '/api/v1/closings/{month}/close', query: [], hasBody: true },
  reopenMonth: { method: 'POST', path: '/api/v1/closings/{month}/reopen', query: [], hasBody: true },
  pauseReconciliation: { method: 'POST', path: '/api/v1/pause', query: [], hasBody: true },
  resumeReconciliation: { method: 'POST', path: '/api/v1/resume', query: [], hasBody: false },
  listProcesses: { method: 'GET', path: '/api/v1/processes', query: [], hasBody: false },
  listQueues: { method: 'GET', path: '/api/v1/queues', query: [], hasBody: false },
  listSchedules: { method: 'GET', path: '/api/v1/schedules', query: [], hasBody: false },
  runSchedule: { method: 'POST', path: '/api/v1/schedules/{name}/run', query: [], hasBody: true },
  listAudit: { method: 'GET', path: '/api/v1/audit', query: ['actor', 'action', 'subject', 'order_id', 'since', 'before', 'open', 'limit', 'cursor'], hasBody: false, page: { rows: 'entries', send: 'cursor', next: 'next_cursor' } },
  closeAttempt: { method: 'POST', path: '/api/v1/audit/{number}/close', query: [], hasBody: true },
  listSessions: { method: 'GET', path: '/api/v1/sessions', query: ['limit', 'cursor'], hasBody: false, page: { rows: 'sessions', send: 'cursor', next: 'next_cursor' } },
  endSession: { method: 'POST', path: '/api/v1/sessions/{number}/end', query: [], hasBody: true },
  listTokens: { method: 'GET', path: '/api/v1/tokens', query: ['all', 'limit', 'cursor'], hasBody: false, page: { rows: 'tokens', send: 'cursor', next: 'next_cursor' } },
  createToken: { method: 'POST', path: '/api/v1/tokens', query: [], hasBody: true },
  revokeToken: { method: 'POST', path: '/api/v1/tokens/{name}/revoke', query: [], hasBody: false },
  planErasure: { method: 'POST', path: '/api/v1/erasures/plan', query: [], hasBody: true },
  requestErasure: { method: 'POST', path: '/api/v1/erasures', query: [], hasBody: true },
  listErasures: { method: 'GET', path: '/api/v1/erasures', query: ['limit', 'cursor'], hasBody: false, page: { rows: 'erasures', send: 'cursor', next: 'next_cursor' } },
  getErasure: { method: 'GET', path: '/api/v1/erasures/{number}', query: [], hasBody: false },
} as const satisfies Readonly<Record<string, Operation>>;

/** The name of an endpoint: its method in the client, and its operation in the OpenAPI document. */
export type OperationName = keyof typeof OPERATIONS;

/** The calls of the client, one for each endpoint. */
export interface AdminApiCalls {
  /**
   * Find what an id, a number, a reference or an amount names.
   *
   * Finds orders, payments, refunds, disputes, payouts and events by id, payouts by reference, and events, alerts, findings, messages and runs by number, such as `alert 12`. An amount with its currency, such as `54.00 EUR`, is searched among the newest 10,000 resources of each kind. With `in=bodies` the stored bodies are searched instead, the newest first, for at most three seconds: for a name, a mail address or a customer.
   */
  search(input: SearchInput, options?: AdminApiCallOptions): Promise<SearchResult>;
  /**
   * List orders, newest first.
   *
   * Lists orders with at least one payment, refund or dispute. Orders that were only registered are listed with `status=registered`. `from` and `to` apply to the time at which the order was first seen, the amounts to what was captured or is held in one currency. With a filter by currency or amount, a page may have fewer rows than `limit`, or none, although there are more: continue until `next_cursor` is null.
   */
  listOrders(input?: ListOrdersInput, options?: AdminApiCallOptions): Promise<OrderPage>;
  /**
   * Get an order with its totals, parts and timeline.
   *
   * The id is that of the order or of one of its payments, refunds or disputes. With `refresh=1`, its payments are retrieved first. For an order without payments, Tallyhook retrieves the payment of the same id, and searches the newest payments for one that names the order or has the registered amount. A change of the order status appears in the timeline some seconds after its cause.
   */
  getOrder(input: GetOrderInput, options?: AdminApiCallOptions): Promise<OrderDetail>;
  /**
   * Register the expected amount of an order.
   *
   * The order exists from then on, even before a payment arrives, and shows whether it is underpaid or overpaid. The request is idempotent; another amount or currency replaces the registered one, and the timeline keeps both. The ledger does not change.
   */
  putOrder(input: PutOrderInput, options?: AdminApiCallOptions): Promise<Registration>;
  /**
   * List the parts of an order: payments, refunds, disputes, each by id.
   *
   * For orders with more parts than `GET /api/v1/orders/{order_id}` lists.
   */
  listOrderParts(input: ListOrderPartsInput, options?: AdminApiCallOptions): Promise<OrderPartPage>;
  /**
   * List payments, newest first.
   *
   * Ordered by the service's time of creation, or by the time at which Tallyhook first saw the row if the service sent none. A page may have fewer rows than `limit`, or none, although there are more: each request searches a bounded number of rows. Continue until `next_cursor` is null.
   */
  listPayments(input?: ListPaymentsInput, options?: AdminApiCallOptions): Promise<PaymentPage>;
  /** Get a payment, with advice if it failed. */
  getPayment(input: GetPaymentInput, options?: AdminApiCallOptions): Promise<Payment>;
  /**
   * List refunds, newest first.
   *
   * Ordered by the service's time of creation, or by the time at which Tallyhook first saw the row if the service sent none. A page may have fewer rows than `limit`, or none, although there are more: each request searches a bounded number of rows. Continue until `next_cursor` is null.
   */
  listRefunds(input?: ListRefundsInput, options?: AdminApiCallOptions): Promise<RefundPage>;
  /** Get a refund, with advice if it failed. */
  getRefund(input: GetRefundInput, options?: AdminApiCallOptions): Promise<Refund>;
  /**
   * List disputes, newest first.
   *
   * Ordered by the service's time of creation, or by the time at which Tallyhook first saw the row if the service sent none. A page may have fewer rows than `limit`, or none, although there are more: each request searches a bounded number of rows. Continue until `next_cursor` is null.
   */
  listDisputes(input?: ListDisputesInput, options?: AdminApiCallOptions): Promise<DisputePage>;
  /** Get a dispute, with advice. */
  getDispute(input: GetDisputeInput, options?: AdminApiCallOptions): Promise<Dispute>;
  /**
   * List payouts, newest first.
   *
   * Ordered by the service's time of creation, or by the time at which Tallyhook first saw the row if the service sent none. A page may have fewer rows than `limit`, or none, although there are more: each request searches a bounded number of rows. Continue until `next_cursor` is null.
   */
  listPayouts(input?: ListPayoutsInput, options?: AdminApiCallOptions): Promise<PayoutPage>;
  /** Get a payout, with advice if it failed. */
  getPayout(input: GetPayoutInput, options?: AdminApiCallOptions): Promise<Payout>;
  /**
   * Get the timeline of a payment, refund, dispute or payout.
   *
   * The same entries as in the timeline of its order, limited to this resource: its snapshots, transfers, findings, alerts and actions. A payout has no order, and its timeline is only here.
   */
  getResourceTimeline(input: GetResourceTimelineInput, options?: AdminApiCallOptions): Promise<ResourceTimeline>;
  /** List the snapshots of a payment, refund, dispute or payout, newest first. */
  listResourceSnapshots(input: ListResourceSnapshotsInput, options?: AdminApiCallOptions): Promise<ResourceSnapshots>;
  /**
   * Read the change feed.
   *
   * Start with `after=0`, store `next_after` once you have processed the page, and continue from there. A change gets its number after its commit, so no change appears below a number that you have read. A change only states that something changed; get the order for its current state. A failover of the database to a server that lacks the last changes undoes them: a position after such a change is refused with 409, and `continue_after` of the response is where to continue. Get the orders of the changes after it again. No number is assigned twice. Retention removes old changes: a position before the first one that is left is refused with 410, and the message names the position from which to continue.
   */
  listChanges(input?: ListChangesInput, options?: AdminApiCallOptions): Promise<ChangePage>;
  /**
   * List received events, newest first.
   *
   * A search by type, time or order reads 5,000 events at most: a page can be short, or empty, although `next_cursor` is set. Continue with it until it is null.
   */
  listEvents(input?: ListEventsInput, options?: AdminApiCallOptions): Promise<EventPage>;
  /**
   * Get an event, and what it changed.
   *
   * A change, a finding or an alert names the last event that contributed: events that are applied together can have one. Those of version 0.1 name none.
   */
  getEvent(input: GetEventInput, options?: AdminApiCallOptions): Promise<EventDetail>;
  /**
   * Apply an event again.
   *
   * Replaying is idempotent: an event that is applied already changes nothing in the ledger. The name of the token is recorded. A removed body cannot be replayed: 409.
   */
  replayEvent(input: ReplayEventInput, options?: AdminApiCallOptions): Promise<Replay>;
  /**
   * Discard a dead event.
   *
   * The event counts no more as dead, and its finding is accepted with the same reason. It keeps its body and can still be replayed. The name of the token is recorded.
   */
  discardEvent(input: DiscardEventInput, options?: AdminApiCallOptions): Promise<Event>;
  /**
   * Apply many events again.
   *
   * A process with the role `scheduler` replays the events that match and are in the inbox now, from the newest to the oldest. Events that are applied already change nothing in the ledger. Get the replay by its number until its state is `done`. The name of the token is recorded.
   */
  startReplay(input: StartReplayInput, options?: AdminApiCallOptions): Promise<ReplayOfEvents>;
  /** List replays of many events, newest first. */
  listReplays(input?: ListReplaysInput, options?: AdminApiCallOptions): Promise<ReplayPage>;
  /** Get a replay of many events, with its progress. */
  getReplay(input: GetReplayInput, options?: AdminApiCallOptions): Promise<ReplayOfEvents>;
  /**
   * Stop a replay of many events.
   *
   * Events that it replayed stay so. The name of the token is recorded.
   */
  stopReplay(input: StopReplayInput, options?: AdminApiCallOptions): Promise<ReplayOfEvents>;
  /**
   * List findings, newest first.
   *
   * A filter reads 10,000 rows at most: a page can be short, or empty, although `next_cursor` is set. Continue with it until it is null.
   */
  listFindings(input?: ListFindingsInput, options?: AdminApiCallOptions): Promise<FindingPage>;
  /**
   * Accept an open finding.
   *
   * It no longer counts as a difference. It closes by itself when its cause is gone, and counts again if its detail changes. The name of the token is recorded.
   */
  acceptFinding(input: AcceptFindingInput, options?: AdminApiCallOptions): Promise<Acceptance>;
  /**
   * Accept several open findings.
   *
   * Each as by the request for one, for the same reason. What is not open anymore is refused, and the others are accepted. The name of the token is recorded.
   */
  acceptFindings(input: AcceptFindingsInput, options?: AdminApiCallOptions): Promise<Acceptances>;
  /**
   * List alerts, newest first.
   *
   * A filter reads 10,000 rows at most: a page can be short, or empty, although `next_cursor` is set. Continue with it until it is null.
   */
  listAlerts(input?: ListAlertsInput, options?: AdminApiCallOptions): Promise<AlertPage>;
  /** Get an alert. */
  getAlert(input: GetAlertInput, options?: AdminApiCallOptions): Promise<Alert>;
  /**
   * Acknowledge an open alert.
   *
   * Stops notifications about the alert, unless it becomes more severe. The alert resolves by itself when its condition ends; one about something final, such as a lost dispute, is resolved by this request. The name of the token is recorded.
   */
  acknowledgeAlert(input: AcknowledgeAlertInput, options?: AdminApiCallOptions): Promise<Alert>;
  /**
   * Mute an alert until a time.
   *
   * If the alert is still unresolved then, one notification is sent. Another snooze replaces the first. The name of the token is recorded.
   */
  snoozeAlert(input: SnoozeAlertInput, options?: AdminApiCallOptions): Promise<Alert>;
  /**
   * Assign an alert to a person.
   *
   * Another assignment replaces the first. Notifications continue as before. The name of the token is recorded.
   */
  assignAlert(input: AssignAlertInput, options?: AdminApiCallOptions): Promise<Alert>;
  /**
   * List outgoing messages, newest first.
   *
   * A filter reads 10,000 rows at most: a page can be short, or empty, although `next_cursor` is set. Continue with it until it is null.
   */
  listMessages(input?: ListMessagesInput, options?: AdminApiCallOptions): Promise<MessagePage>;
  /** Get an outgoing message with its attempts. */
  getMessage(input: GetMessageInput, options?: AdminApiCallOptions): Promise<Message>;
  /**
   * Send a delivered or failed message again.
   *
   * With the same id and content, so that a receiver that has it recognizes it. The name of the token is recorded.
   */
  resendMessage(input: ResendMessageInput, options?: AdminApiCallOptions): Promise<Message>;
  /** List the configured channels, and how each does. */
  listChannels(input?: ListChannelsInput, options?: AdminApiCallOptions): Promise<Channels>;
  /**
   * Send a test message through a channel.
   *
   * One attempt, which is not retried. The name of the token is recorded.
   */
  testChannel(input: TestChannelInput, options?: AdminApiCallOptions): Promise<TestedChannel>;
  /**
   * List authorizations that can still be captured, nearest deadline first.
   *
   * The scheduler updates this list every minute while the service responds.
   */
  listAuthorizations(input?: ListAuthorizationsInput, options?: AdminApiCallOptions): Promise<AuthorizationPage>;
  /**
   * Capture an authorization, in full or in part.
   *
   * Tallyhook retrieves the payment first and afterwards. The request is refused with 409 unless exactly `expected_amount` can be captured, or while another attempt to capture or cancel has no result, so repeating it never moves money twice. The audit log has an entry before the request to the service and one after it. 503: nothing was done, and it is safe to try again. 504: the outcome is unknown; get the payment with `refresh=1` before you decide. For ten minutes after a capture of unknown outcome, the capture of a part is refused with 409 while as much can be captured as before.
   */
  captureAuthorization(input: CaptureAuthorizationInput, options?: AdminApiCallOptions): Promise<AuthorizationResult>;
  /**
   * Cancel an authorization, which releases the hold.
   *
   * Tallyhook retrieves the payment first and afterwards. The request is refused with 409 unless exactly `expected_amount` can be captured, or while another attempt to capture or cancel has no result, so repeating it never moves money twice. The audit log has an entry before the request to the service and one after it. 503: nothing was done, and it is safe to try again. 504: the outcome is unknown; get the payment with `refresh=1` before you decide. For ten minutes after a capture of unknown outcome, the capture of a part is refused with 409 while as much can be captured as before. The service receives the reason, too.
   */
  cancelAuthorization(input: CancelAuthorizationInput, options?: AdminApiCallOptions): Promise<AuthorizationResult>;
  /**
   * Refund a payment, in full or in part.
   *
   * Tallyhook retrieves the payment and its refunds first and afterwards. The request is refused with 409 unless exactly `expected_amount` can be refunded, or while another attempt has no result, so repeating it never moves money twice. What was captured can be refunded, without the refunds that did not fail and without disputed amounts. The audit log has an entry before the request to the service and one after it. The service receives the reason, too. 503: nothing was done, and it is safe to try again. 504: the outcome is unknown; the same request finds out, and sends nothing if the refund exists. For an hour, another amount is refused with 409, unless what can be refunded has changed.
   */
  refundPayment(input: RefundPaymentInput, options?: AdminApiCallOptions): Promise<RefundResult>;
  /**
   * Accept a dispute, which gives up its amount for good.
   *
   * Tallyhook retrieves the dispute first and afterwards. The request is refused with 409 unless amount, currency and stage are as stated and the dispute is undecided, or while another attempt has no result. The audit log has an entry before the request to the service and one after it. 503: nothing was done, and it is safe to try again. 504: the outcome is unknown; the same request finds out.
   */
  acceptDispute(input: AcceptDisputeInput, options?: AdminApiCallOptions): Promise<DisputeResult>;
  /** Get the evidence that the service has of a dispute. */
  getEvidence(input: GetEvidenceInput, options?: AdminApiCallOptions): Promise<DisputeEvidence>;
  /**
   * Submit evidence for a dispute; an empty value clears its field.
   *
   * Tallyhook retrieves the dispute first and afterwards. The request is refused with 409 unless amount, currency and stage are as stated and the dispute is undecided, or while another attempt has no result. The audit log has an entry before the request to the service and one after it. 503: nothing was done, and it is safe to try again. 504: the outcome is unknown; the same request finds out. Fields that the service has already are not sent again. Evidence can be changed until the deadline. The audit log has the names of the fields, not their values.
   */
  submitEvidence(input: SubmitEvidenceInput, options?: AdminApiCallOptions): Promise<DisputeResult>;
  /**
   * Upload a file for evidence: a PDF, JPEG or PNG of at most 4 MiB.
   *
   * Returns the id for a file field of the evidence; nothing is submitted yet. Repeating it uploads the file again, which is harmless.
   */
  uploadEvidence(input: UploadEvidenceInput, options?: AdminApiCallOptions): Promise<UploadedEvidence>;
  /**
   * Pay a failed payout again, by a new payout.
   *
   * The new payout has the reference again_ and the id of the first one, which makes it the only one: a payout is paid again once, and if the new one fails, that one is paid again. It goes to the stored account of the first payout, or to payout_method_data, which is sent to the service and stored nowhere in Tallyhook. Card numbers are not accepted. 409: nothing was sent. 503: nothing was sent, and it is safe to try again. 504: the outcome is unknown; the same request finds out, and for an hour it sends nothing.
   */
  retryPayout(input: RetryPayoutInput, options?: AdminApiCallOptions): Promise<RetriedPayout>;
  /**
   * Cancel a payout that has not arrived.
   *
   * Tallyhook retrieves the payout first and afterwards. The request is refused with 409 unless amount, currency and status are as stated and the status allows it, or while another attempt has no result. The audit log has an entry before the request to the service and one after it. 503: nothing was done, and it is safe to try again. 504: the outcome is unknown.
   */
  cancelPayout(input: CancelPayoutInput, options?: AdminApiCallOptions): Promise<PayoutResult>;
  /**
   * Send the money of a confirmed payout.
   *
   * Tallyhook retrieves the payout first and afterwards. The request is refused with 409 unless amount, currency and status are as stated and the status allows it, or while another attempt has no result. The audit log has an entry before the request to the service and one after it. 503: nothing was done, and it is safe to try again. 504: the outcome is unknown.
   */
  fulfillPayout(input: FulfillPayoutInput, options?: AdminApiCallOptions): Promise<PayoutResult>;
  /** List reconciliations, newest first. */
  listReconciliations(input?: ListReconciliationsInput, options?: AdminApiCallOptions): Promise<ReconciliationPage>;
  /**
   * Start reconciliations.
   *
   * Enqueues one run for each list. They run after those that wait already, even during a pause, and are then listed with the cause `operator`. Without `from`, a run starts half an hour before the end of the last one. The name of the token is recorded.
   */
  startReconciliation(input: StartReconciliationInput, options?: AdminApiCallOptions): Promise<StartedReconciliations>;
  /** Get a reconciliation, with its progress. */
  getReconciliation(input: GetReconciliationInput, options?: AdminApiCallOptions): Promise<Reconciliation>;
  /**
   * Stop a reconciliation.
   *
   * It ends before its next request to the service. What it compared and repaired stays so, and no later run resumes it. The name of the token is recorded.
   */
  stopReconciliation(input: StopReconciliationInput, options?: AdminApiCallOptions): Promise<Reconciliation>;
  /**
   * Count missed webhooks by day and list.
   *
   * Changes that scheduled runs found and no webhook reported in time, by the day in UTC on which the run started. Days and lists without any are left out.
   */
  listMissedWebhooks(input?: ListMissedWebhooksInput, options?: AdminApiCallOptions): Promise<MissedWebhooks>;
  /** Get the requests to the service in the current minute. */
  getRateBudget(input?: GetRateBudgetInput, options?: AdminApiCallOptions): Promise<RateBudget>;
  /**
   * Get the balance of every account and the totals of all orders.
   *
   * Sums the whole journal, or the transfers of one order. The balances of one currency sum to 0. Payouts move money between accounts but belong to no order. With `as_of`, the accounts have what the service moved before that time, and with `known_at` what Tallyhook had recorded by then; `orders` always has the totals of now.
   */
  getBalances(input?: GetBalancesInput, options?: AdminApiCallOptions): Promise<Balances>;
  /**
   * Get the head of the chain of the journal.
   *
   * The chain head fixes every transfer up to it. Keep it where nobody who can change the database can, and compare it later with `tallyhook verify --chain --head`.
   */
  getChain(input?: GetChainInput, options?: AdminApiCallOptions): Promise<Chain>;
  /**
   * List the journal, newest transfer first.
   *
   * Transfers are selected and ordered by effective time, when the service moved the money; with `recorded=1`, by the time at which Tallyhook recorded them. A page may have fewer rows than `limit`, or none, although there are more: each request searches a bounded number of transfers. Continue until `next_cursor` is null.
   */
  listTransfers(input?: ListTransfersInput, options?: AdminApiCallOptions): Promise<TransferPage>;
  /**
   * Explain the balance of psp.clearing.
   *
   * Divides it by what the service moved, what its settlement reports have, and what bank statements have. Without imported files, all of it is `not_reported`. It reads every transfer of psp.clearing, so it takes seconds on a large ledger.
   */
  getClearing(input?: GetClearingInput, options?: AdminApiCallOptions): Promise<ClearingParts>;
  /**
   * List what is in psp.clearing and unmatched on either side, oldest first.
   *
   * The items of the parts of `/api/v1/clearing`. It reads every transfer of psp.clearing, so it takes seconds on a large ledger.
   */
  listUnmatched(input?: ListUnmatchedInput, options?: AdminApiCallOptions): Promise<UnmatchedPage>;
  /**
   * Get the statement of a month.
   *
   * Opening balances, movements by day and account, closing balances and totals of each currency, by the time at which the service moved the money; what was under way and which findings were open at the end; and what was compared with the service. The sums do not depend on when webhooks arrived. Those of a closed month never change.
   */
  getStatement(input: GetStatementInput, options?: AdminApiCallOptions): Promise<Statement>;
  /** List the closings of months, also of those that were reopened. */
  listClosings(input?: ListClosingsInput, options?: AdminApiCallOptions): Promise<Closings>;
  /** Get the closings of a month, and what is unproven about it. */
  getClosableMonth(input: GetClosableMonthInput, options?: AdminApiCallOptions): Promise<ClosableMonth>;
  /**
   * Close a month.
   *
   * Its sums never change again: what arrives later is booked in the first open month, and statements of both list it. Months are closed in order, in one time zone; the first one closes everything before it. Refused with 409 while something is unproven, unless `with_exceptions` is true. The name of the token is recorded.
   */
  closeMonth(input: CloseMonthInput, options?: AdminApiCallOptions): Promise<Closing>;
  /**
   * Reopen the last closed month.
   *
   * What was booked late belongs to it again. The closing and its sums are kept, and closing the month again makes a new version. The name of the token is recorded.
   */
  reopenMonth(input: ReopenMonthInput, options?: AdminApiCallOptions): Promise<Closing>;
  /**
   * Pause background requests to the payment service.
   *
   * Webhooks are received and applied, and requests of people are sent.
   */
  pauseReconciliation(input: PauseReconciliationInput, options?: AdminApiCallOptions): Promise<PauseState>;
  /** End the pause of background requests. */
  resumeReconciliation(input?: ResumeReconciliationInput, options?: AdminApiCallOptions): Promise<PauseState>;
  /**
   * List the processes of the installation, with version and health, missing ones first.
   *
   * At most 200. A process that stops cleanly leaves the list; one that was killed stays for a day.
   */
  listProcesses(input?: ListProcessesInput, options?: AdminApiCallOptions): Promise<ProcessList>;
  /**
   * Show each queue beside what is due by the database.
   *
   * Adds a job to the queue `probe`, and finishes it.
   */
  listQueues(input?: ListQueuesInput, options?: AdminApiCallOptions): Promise<QueueReport>;
  /** List the schedules with their latest run and next slot. */
  listSchedules(input?: ListSchedulesInput, options?: AdminApiCallOptions): Promise<ScheduleList>;
  /**
   * Run a schedule at once.
   *
   * A process with the role `scheduler` starts the run within seconds, after one that is under way has ended. The list shows it.
   */
  runSchedule(input: RunScheduleInput, options?: AdminApiCallOptions): Promise<RequestedRun>;
  /**
   * List entries of the audit log, newest first.
   *
   * A filter reads 10,000 rows at most: a page can be short, or empty, although `next_cursor` is set. Continue with it until it is null.
   */
  listAudit(input?: ListAuditInput, options?: AdminApiCallOptions): Promise<AuditPage>;
  /**
   * Record what became of an attempt without a result.
   *
   * Retrieve the payment first, and compare. An entry is added to the attempt; nothing is changed, and nothing is sent to the service. The name of the token is recorded. 409: the attempt has a result, or it began less than five minutes ago and may still be running.
   */
  closeAttempt(input: CloseAttemptInput, options?: AdminApiCallOptions): Promise<ClosedAttempt>;
  /** List open sessions of the console, newest first. */
  listSessions(input?: ListSessionsInput, options?: AdminApiCallOptions): Promise<ConsoleSessionPage>;
  /**
   * End a session of the console, or all sessions of its person.
   *
   * Its pages stop working within five seconds.
   */
  endSession(input: EndSessionInput, options?: AdminApiCallOptions): Promise<EndedSessions>;
  /**
   * List valid tokens, newest first.
   *
   * The list does not contain ADMIN_TOKEN, nor the text of any token.
   */
  listTokens(input?: ListTokensInput, options?: AdminApiCallOptions): Promise<TokenPage>;
  /**
   * Create a token for one person or program.
   *
   * The response has the text of the token, which is not stored and not shown again. It works within a second.
   */
  createToken(input: CreateTokenInput, options?: AdminApiCallOptions): Promise<CreatedToken>;
  /**
   * Revoke a token.
   *
   * Requests and sessions with it are refused within five seconds.
   */
  revokeToken(input: RevokeTokenInput, options?: AdminApiCallOptions): Promise<Token>;
  /**
   * Show what an erasure would erase.
   *
   * Changes nothing. Reads every stored body, once for orders and payments and twice for customers, which takes minutes in a large installation.
   */
  planErasure(input: PlanErasureInput, options?: AdminApiCallOptions): Promise<ErasurePlan>;
  /**
   * Erase personal data, which cannot be undone.
   *
   * Plan it first. A process with the role `scheduler` begins within a minute, and another one continues if that ends. Get the erasure by its number until its state is `done`. While a request for the same subjects runs, this one returns it, with status 200. The name of the token is recorded.
   */
  requestErasure(input: RequestErasureInput, options?: AdminApiCallOptions): Promise<Erasure>;
  /** List requests for erasure, newest first. */
  listErasures(input?: ListErasuresInput, options?: AdminApiCallOptions): Promise<ErasurePage>;
  /** Get a request for erasure, with its proof. */
  getErasure(input: GetErasureInput, options?: AdminApiCallOptions): Promise<Erasure>;
}

/** The lists of the client, row by row. */
export interface AdminApiLists {
  /**
   * List orders, newest first.
   *
   * Lists orders with at least one payment, refund or dispute. Orders that were only registered are listed with `status=registered`. `from` and `to` apply to the time at which the order was first seen, the amounts to what was captured or is held in one currency. With a filter by currency or amount, a page may have fewer rows than `limit`, or none, although there are more: continue until `next_cursor` is null.
   */
  listOrders(input?: Omit<ListOrdersInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Order>;
  /**
   * List the parts of an order: payments, refunds, disputes, each by id.
   *
   * For orders with more parts than `GET /api/v1/orders/{order_id}` lists.
   */
  listOrderParts(input: Omit<ListOrderPartsInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<OrderPart>;
  /**
   * List payments, newest first.
   *
   * Ordered by the service's time of creation, or by the time at which Tallyhook first saw the row if the service sent none. A page may have fewer rows than `limit`, or none, although there are more: each request searches a bounded number of rows. Continue until `next_cursor` is null.
   */
  listPayments(input?: Omit<ListPaymentsInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<ListedPayment>;
  /**
   * List refunds, newest first.
   *
   * Ordered by the service's time of creation, or by the time at which Tallyhook first saw the row if the service sent none. A page may have fewer rows than `limit`, or none, although there are more: each request searches a bounded number of rows. Continue until `next_cursor` is null.
   */
  listRefunds(input?: Omit<ListRefundsInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Refund>;
  /**
   * List disputes, newest first.
   *
   * Ordered by the service's time of creation, or by the time at which Tallyhook first saw the row if the service sent none. A page may have fewer rows than `limit`, or none, although there are more: each request searches a bounded number of rows. Continue until `next_cursor` is null.
   */
  listDisputes(input?: Omit<ListDisputesInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Dispute>;
  /**
   * List payouts, newest first.
   *
   * Ordered by the service's time of creation, or by the time at which Tallyhook first saw the row if the service sent none. A page may have fewer rows than `limit`, or none, although there are more: each request searches a bounded number of rows. Continue until `next_cursor` is null.
   */
  listPayouts(input?: Omit<ListPayoutsInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Payout>;
  /**
   * Read the change feed.
   *
   * Start with `after=0`, store `next_after` once you have processed the page, and continue from there. A change gets its number after its commit, so no change appears below a number that you have read. A change only states that something changed; get the order for its current state. A failover of the database to a server that lacks the last changes undoes them: a position after such a change is refused with 409, and `continue_after` of the response is where to continue. Get the orders of the changes after it again. No number is assigned twice. Retention removes old changes: a position before the first one that is left is refused with 410, and the message names the position from which to continue.
   */
  listChanges(input?: ListChangesInput, options?: AdminApiCallOptions): AsyncIterable<Change>;
  /**
   * List received events, newest first.
   *
   * A search by type, time or order reads 5,000 events at most: a page can be short, or empty, although `next_cursor` is set. Continue with it until it is null.
   */
  listEvents(input?: Omit<ListEventsInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Event>;
  /** List replays of many events, newest first. */
  listReplays(input?: Omit<ListReplaysInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<ReplayOfEvents>;
  /**
   * List findings, newest first.
   *
   * A filter reads 10,000 rows at most: a page can be short, or empty, although `next_cursor` is set. Continue with it until it is null.
   */
  listFindings(input?: Omit<ListFindingsInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Finding>;
  /**
   * List alerts, newest first.
   *
   * A filter reads 10,000 rows at most: a page can be short, or empty, although `next_cursor` is set. Continue with it until it is null.
   */
  listAlerts(input?: Omit<ListAlertsInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Alert>;
  /**
   * List outgoing messages, newest first.
   *
   * A filter reads 10,000 rows at most: a page can be short, or empty, although `next_cursor` is set. Continue with it until it is null.
   */
  listMessages(input?: Omit<ListMessagesInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Message>;
  /**
   * List authorizations that can still be captured, nearest deadline first.
   *
   * The scheduler updates this list every minute while the service responds.
   */
  listAuthorizations(input?: Omit<ListAuthorizationsInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Authorization>;
  /** List reconciliations, newest first. */
  listReconciliations(input?: Omit<ListReconciliationsInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Reconciliation>;
  /**
   * List the journal, newest transfer first.
   *
   * Transfers are selected and ordered by effective time, when the service moved the money; with `recorded=1`, by the time at which Tallyhook recorded them. A page may have fewer rows than `limit`, or none, although there are more: each request searches a bounded number of transfers. Continue until `next_cursor` is null.
   */
  listTransfers(input?: Omit<ListTransfersInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Transfer>;
  /**
   * List what is in psp.clearing and unmatched on either side, oldest first.
   *
   * The items of the parts of `/api/v1/clearing`. It reads every transfer of psp.clearing, so it takes seconds on a large ledger.
   */
  listUnmatched(input?: Omit<ListUnmatchedInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<UnmatchedItem>;
  /**
   * List entries of the audit log, newest first.
   *
   * A filter reads 10,000 rows at most: a page can be short, or empty, although `next_cursor` is set. Continue with it until it is null.
   */
  listAudit(input?: Omit<ListAuditInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<AuditEntry>;
  /** List open sessions of the console, newest first. */
  listSessions(input?: Omit<ListSessionsInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<ConsoleSession>;
  /**
   * List valid tokens, newest first.
   *
   * The list does not contain ADMIN_TOKEN, nor the text of any token.
   */
  listTokens(input?: Omit<ListTokensInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Token>;
  /** List requests for erasure, newest first. */
  listErasures(input?: Omit<ListErasuresInput, 'cursor'>, options?: AdminApiCallOptions): AsyncIterable<Erasure>;
}

/** The fields of `search`. */
export type SearchInput = {
  readonly q: string;
  readonly in?: 'ids' | 'bodies' | undefined;
};

/** The fields of `listOrders`. */
export type ListOrdersInput = {
  /** The first status that applies, over all currencies. `registered`: the shop registered the order, and no payment has arrived; `moved`: its payments now belong to another order. */
  readonly status?: 'charged_back' | 'disputed' | 'refunded' | 'partially_refunded' | 'paid' | 'partially_captured' | 'authorized' | 'pending' | 'expired' | 'cancelled' | 'failed' | 'moved' | 'registered' | undefined;
  /** ISO 4217. */
  readonly currency?: string | undefined;
  /** Minor units, included. */
  readonly min_amount?: number | undefined;
  /** Minor units, included. */
  readonly max_amount?: number | undefined;
  /** Only rows of this time or later. UTC. */
  readonly from?: string | undefined;
  /** Only rows before this time. UTC. */
  readonly to?: string | undefined;
  /** Only rows with an open finding. */
  readonly open_finding?: boolean | undefined;
  /** Only rows with a state that needs a retrieve. */
  readonly uncertain?: boolean | undefined;
  /** Adds `totals`: the count and the sums of the filter. */
  readonly totals?: boolean | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `getOrder`. */
export type GetOrderInput = {
  readonly order_id: string;
  /** What the id is: the shop's order id, or the id of a payment. Without it, any order id or the id of a payment, refund or dispute is accepted, an order id first. */
  readonly by?: 'order' | 'payment' | undefined;
  /** Orders the timeline by `at`: each event is before what it caused. */
  readonly recorded?: boolean | undefined;
  /** Retrieves from the service first, for up to 3 seconds. If that fails, the response has what the ledger knows, and `refresh` states why; if it knows nothing, the response is 503. */
  readonly refresh?: boolean | undefined;
};

/** The fields of `putOrder`. */
export type PutOrderInput = {
  /** Minor units of the currency beside it. */
  readonly amount: number;
  /** ISO 4217. */
  readonly currency: string;
  readonly order_id: string;
  /** What the id is: the shop's order id, or the id of a payment. Without it, any order id or the id of a payment, refund or dispute is accepted, an order id first. */
  readonly by?: 'order' | 'payment' | undefined;
};

/** The fields of `listOrderParts`. */
export type ListOrderPartsInput = {
  readonly order_id: string;
  /** What the id is: the shop's order id, or the id of a payment. Without it, any order id or the id of a payment, refund or dispute is accepted, an order id first. */
  readonly by?: 'order' | 'payment' | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `listPayments`. */
export type ListPaymentsInput = {
  /** The service's own status. */
  readonly status?: string | undefined;
  /** Only rows of this order; payouts: with this reference of the merchant's. */
  readonly order_id?: string | undefined;
  /** ISO 4217. */
  readonly currency?: string | undefined;
  /** Minor units, included. */
  readonly min_amount?: number | undefined;
  /** Minor units, included. */
  readonly max_amount?: number | undefined;
  /** Only rows of this time or later. UTC. */
  readonly from?: string | undefined;
  /** Only rows before this time. UTC. */
  readonly to?: string | undefined;
  /** Only rows with an open finding. */
  readonly open_finding?: boolean | undefined;
  /** Only rows with a state that needs a retrieve. */
  readonly uncertain?: boolean | undefined;
  /** Adds `totals`: the count and the sums of the filter. */
  readonly totals?: boolean | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `getPayment`. */
export type GetPaymentInput = {
  readonly payment_id: string;
  /** Retrieves from the service first, for up to 3 seconds. If that fails, the response has what the ledger knows, and `refresh` states why; if it knows nothing, the response is 503. */
  readonly refresh?: boolean | undefined;
};

/** The fields of `listRefunds`. */
export type ListRefundsInput = {
  /** The service's own status. */
  readonly status?: string | undefined;
  /** Only rows of this order; payouts: with this reference of the merchant's. */
  readonly order_id?: string | undefined;
  /** ISO 4217. */
  readonly currency?: string | undefined;
  /** Minor units, included. */
  readonly min_amount?: number | undefined;
  /** Minor units, included. */
  readonly max_amount?: number | undefined;
  /** Only rows of this time or later. UTC. */
  readonly from?: string | undefined;
  /** Only rows before this time. UTC. */
  readonly to?: string | undefined;
  /** Only rows with an open finding. */
  readonly open_finding?: boolean | undefined;
  /** Only rows with a state that needs a retrieve. */
  readonly uncertain?: boolean | undefined;
  /** Adds `totals`: the count and the sums of the filter. */
  readonly totals?: boolean | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `getRefund`. */
export type GetRefundInput = {
  readonly refund_id: string;
};

/** The fields of `listDisputes`. */
export type ListDisputesInput = {
  /** The service's own status. */
  readonly status?: string | undefined;
  /** Only rows of this order; payouts: with this reference of the merchant's. */
  readonly order_id?: string | undefined;
  /** ISO 4217. */
  readonly currency?: string | undefined;
  /** Minor units, included. */
  readonly min_amount?: number | undefined;
  /** Minor units, included. */
  readonly max_amount?: number | undefined;
  /** Only rows of this time or later. UTC. */
  readonly from?: string | undefined;
  /** Only rows before this time. UTC. */
  readonly to?: string | undefined;
  /** Only rows with an open finding. */
  readonly open_finding?: boolean | undefined;
  /** Only rows with a state that needs a retrieve. */
  readonly uncertain?: boolean | undefined;
  /** Adds `totals`: the count and the sums of the filter. */
  readonly totals?: boolean | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `getDispute`. */
export type GetDisputeInput = {
  readonly dispute_id: string;
};

/** The fields of `listPayouts`. */
export type ListPayoutsInput = {
  /** The service's own status. */
  readonly status?: string | undefined;
  /** Only rows of this order; payouts: with this reference of the merchant's. */
  readonly order_id?: string | undefined;
  /** ISO 4217. */
  readonly currency?: string | undefined;
  /** Minor units, included. */
  readonly min_amount?: number | undefined;
  /** Minor units, included. */
  readonly max_amount?: number | undefined;
  /** Only rows of this time or later. UTC. */
  readonly from?: string | undefined;
  /** Only rows before this time. UTC. */
  readonly to?: string | undefined;
  /** Only rows with an open finding. */
  readonly open_finding?: boolean | undefined;
  /** Only rows with a state that needs a retrieve. */
  readonly uncertain?: boolean | undefined;
  /** Adds `totals`: the count and the sums of the filter. */
  readonly totals?: boolean | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `getPayout`. */
export type GetPayoutInput = {
  readonly payout_id: string;
};

/** The fields of `getResourceTimeline`. */
export type GetResourceTimelineInput = {
  readonly kind: 'payment' | 'refund' | 'dispute' | 'payout';
  readonly resource_id: string;
  /** Orders the timeline by `at`: each event is before what it caused. */
  readonly recorded?: boolean | undefined;
};

/** The fields of `listResourceSnapshots`. */
export type ListResourceSnapshotsInput = {
  readonly kind: 'payment' | 'refund' | 'dispute' | 'payout';
  readonly resource_id: string;
};

/** The fields of `listChanges`. */
export type ListChangesInput = {
  /** Number of the last change that you processed; 0 for the beginning. */
  readonly after?: number | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
};

/** The fields of `listEvents`. */
export type ListEventsInput = {
  readonly state?: 'pending' | 'applied' | 'not_applied' | 'dead' | 'discarded' | undefined;
  /** Only events of this type. */
  readonly type?: string | undefined;
  /** Only events that brought something new about this order. */
  readonly order?: string | undefined;
  /** Only events received at this time or later. UTC. */
  readonly from?: string | undefined;
  /** Only events received before this time. UTC. */
  readonly to?: string | undefined;
  /** Only events that this replay of many events has chosen. */
  readonly replay?: number | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `getEvent`. */
export type GetEventInput = {
  /** Event id or inbox number. */
  readonly event: string;
};

/** The fields of `replayEvent`. */
export type ReplayEventInput = {
  /** Event id or inbox number. */
  readonly event: string;
};

/** The fields of `discardEvent`. */
export type DiscardEventInput = {
  /** Why it is not to be applied. */
  readonly reason: string;
  /** Event id or inbox number. */
  readonly event: string;
};

/** The fields of `startReplay`. */
export type StartReplayInput = {
  readonly state?: 'pending' | 'applied' | 'not_applied' | 'dead' | 'discarded' | undefined;
  /** Only events of this type. */
  readonly type?: string | undefined;
  /** Only events that brought something new about this order. */
  readonly order?: string | undefined;
  /** Only events received at this time or later. UTC. */
  readonly from?: string | undefined;
  /** Only events received before this time. UTC. */
  readonly to?: string | undefined;
  /** Only events with these inbox numbers. */
  readonly numbers?: readonly number[] | undefined;
  /** Why they are replayed. */
  readonly reason: string;
};

/** The fields of `listReplays`. */
export type ListReplaysInput = {
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `getReplay`. */
export type GetReplayInput = {
  readonly number: number;
};

/** The fields of `stopReplay`. */
export type StopReplayInput = {
  readonly number: number;
};

/** The fields of `listFindings`. */
export type ListFindingsInput = {
  readonly state?: 'open' | 'accepted' | 'closed' | undefined;
  readonly class?: string | undefined;
  readonly subject?: string | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `acceptFinding`. */
export type AcceptFindingInput = {
  /** Why you accept it. */
  readonly reason: string;
  readonly number: number;
};

/** The fields of `acceptFindings`. */
export type AcceptFindingsInput = {
  readonly numbers: readonly number[];
  /** Why you accept them. */
  readonly reason: string;
};

/** The fields of `listAlerts`. */
export type ListAlertsInput = {
  readonly state?: 'open' | 'acknowledged' | 'resolved' | undefined;
  readonly severity?: 'info' | 'warning' | 'critical' | undefined;
  readonly rule?: 'dispute_opened' | 'dispute_changed' | 'dispute_deadline' | 'dispute_won' | 'dispute_lost' | 'dispute_cancelled' | 'payout_failed' | 'refund_failed' | 'authorization_expiring' | 'authorization_expired' | 'payment_stuck' | 'refund_stuck' | 'payout_stuck' | 'dispute_stuck' | 'double_paid' | 'double_loss' | 'dispute_and_refund' | 'over_refund' | 'over_capture' | 'capture_revoked' | 'currency' | 'amount' | 'status_conflict' | 'unknown_status' | 'missing_local' | 'stale_local' | 'missing_remote' | 'orphan' | 'totals' | 'list_unstable' | 'filter_ignored' | 'watermark_ahead' | 'event_dead' | 'unreadable_event' | 'payment_conflict' | 'label_conflict' | 'event_id_reused' | 'event_repeated' | 'foreign_merchant' | 'foreign_profile' | 'signature_failures' | 'webhooks_stopped' | 'missed_webhooks' | 'backlog' | 'dead_events' | 'reconciliation_lag' | 'reconciliation_paused' | 'rate_limit_exhausted' | 'service_unreachable' | 'clock_skew' | 'queue_unusable' | 'role_not_running' | 'retention_behind' | 'body_days_short' | 'body_damaged' | 'verify_failed' | 'acknowledged_lost' | 'chain_behind' | 'erasure_unfinished' | 'channel_down' | 'order_webhook_failed' | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `getAlert`. */
export type GetAlertInput = {
  readonly number: number;
};

/** The fields of `acknowledgeAlert`. */
export type AcknowledgeAlertInput = {
  /** What is being done about it. */
  readonly reason: string;
  readonly number: number;
};

/** The fields of `snoozeAlert`. */
export type SnoozeAlertInput = {
  /** In the future, 30 days ahead at most. UTC. */
  readonly until: string;
  /** Why it can wait. */
  readonly reason?: string | undefined;
  readonly number: number;
};

/** The fields of `assignAlert`. */
export type AssignAlertInput = {
  /** A name; null for nobody. */
  readonly to: string | null;
  /** Why this person. */
  readonly reason: string;
  readonly number: number;
};

/** The fields of `listMessages`. */
export type ListMessagesInput = {
  readonly state?: 'due' | 'delivered' | 'failed' | undefined;
  readonly channel?: 'log' | 'webhook' | 'slack' | 'mail' | 'shop' | undefined;
  readonly kind?: 'alert' | 'digest' | 'summary' | 'order' | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `getMessage`. */
export type GetMessageInput = {
  readonly number: number;
};

/** The fields of `resendMessage`. */
export type ResendMessageInput = {
  /** Why it is sent again. */
  readonly reason: string;
  readonly number: number;
};

/** The fields of `listChannels`. */
export type ListChannelsInput = Readonly<Record<string, never>>;

/** The fields of `testChannel`. */
export type TestChannelInput = {
  readonly channel: 'log' | 'webhook' | 'slack' | 'mail' | 'shop';
};

/** The fields of `listAuthorizations`. */
export type ListAuthorizationsInput = {
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `captureAuthorization`. */
export type CaptureAuthorizationInput = {
  /** What can be captured, as you saw it, in minor units. */
  readonly expected_amount: number;
  /** ISO 4217. */
  readonly currency: string;
  /** Why; recorded with the name of the token. */
  readonly reason: string;
  /** What to capture, at most `expected_amount`; all of it when left out. */
  readonly amount?: number | undefined;
  readonly payment_id: string;
};

/** The fields of `cancelAuthorization`. */
export type CancelAuthorizationInput = {
  /** What can be captured, as you saw it, in minor units. */
  readonly expected_amount: number;
  /** ISO 4217. */
  readonly currency: string;
  /** Why; recorded with the name of the token. */
  readonly reason: string;
  readonly payment_id: string;
};

/** The fields of `refundPayment`. */
export type RefundPaymentInput = {
  /** What can be refunded, as you saw it. */
  readonly expected_amount: number;
  /** ISO 4217. */
  readonly currency: string;
  /** What to refund, at most `expected_amount`; all of it when left out. */
  readonly amount?: number | undefined;
  /** Why; for the audit log and the service. */
  readonly reason: string;
  readonly payment_id: string;
};

/** The fields of `acceptDispute`. */
export type AcceptDisputeInput = {
  /** The disputed amount, as you saw it, in minor units. */
  readonly expected_amount: number;
  /** ISO 4217. */
  readonly currency: string;
  /** The stage, as you saw it. */
  readonly stage: string | null;
  /** Why; for the audit log. */
  readonly reason: string;
  readonly dispute_id: string;
};

/** The fields of `getEvidence`. */
export type GetEvidenceInput = {
  readonly dispute_id: string;
};

/** The fields of `submitEvidence`. */
export type SubmitEvidenceInput = {
  /** The disputed amount, as you saw it, in minor units. */
  readonly expected_amount: number;
  /** ISO 4217. */
  readonly currency: string;
  /** The stage, as you saw it. */
  readonly stage: string | null;
  /** Why; for the audit log. */
  readonly reason: string;
  readonly evidence: {
    readonly customer_name?: string | undefined;
    readonly customer_email_address?: '' | string | undefined;
    readonly customer_purchase_ip?: string | undefined;
    readonly customer_signature?: string | undefined;
    readonly customer_communication?: string | undefined;
    readonly billing_address?: string | undefined;
    readonly access_activity_log?: string | undefined;
    readonly product_description?: string | undefined;
    readonly service_date?: '' | string | undefined;
    readonly service_documentation?: string | undefined;
    readonly receipt?: string | undefined;
    readonly cancellation_policy?: string | undefined;
    readonly cancellation_policy_disclosure?: string | undefined;
    readonly cancellation_rebuttal?: string | undefined;
    readonly refund_policy?: string | undefined;
    readonly refund_policy_disclosure?: string | undefined;
    readonly refund_refusal_explanation?: string | undefined;
    readonly shipping_address?: string | undefined;
    readonly shipping_carrier?: string | undefined;
    readonly shipping_date?: string | undefined;
    readonly shipping_tracking_number?: string | undefined;
    readonly shipping_documentation?: string | undefined;
    readonly invoice_showing_distinct_transactions?: string | undefined;
    readonly recurring_transaction_agreement?: string | undefined;
    readonly uncategorized_file?: string | undefined;
    readonly uncategorized_text?: string | undefined;
  };
  /** The version of the evidence that you read. If somebody changed it since, the request is refused with 409 and both versions. Without it, the fields are set regardless of what they have. */
  readonly evidence_version?: string | undefined;
  readonly dispute_id: string;
};

/** The fields of `uploadEvidence`. */
export type UploadEvidenceInput = {
  /** Name of the file. */
  readonly name: string;
  /** The file, in base64. */
  readonly content: string;
  readonly dispute_id: string;
};

/** The fields of `retryPayout`. */
export type RetryPayoutInput = {
  /** The amount, as you saw it, in minor units. */
  readonly expected_amount: number;
  /** ISO 4217. */
  readonly currency: string;
  /** Why; for the audit log. */
  readonly reason: string;
  /** Details of the account. Absent: the stored account of the first payout. */
  readonly payout_method_data?: {
    readonly bank_transfer?: {
      readonly payout_method_type: 'ach';
      readonly bank_account_number: string;
      readonly bank_routing_number: string;
      readonly bank_name?: string | undefined;
      readonly bank_country_code?: string | undefined;
      readonly bank_city?: string | undefined;
      readonly account_holder_name?: string | undefined;
    } | {
      readonly payout_method_type: 'bacs';
      readonly bank_account_number: string;
      readonly bank_sort_code: string;
      readonly bank_name?: string | undefined;
      readonly bank_country_code?: string | undefined;
      readonly bank_city?: string | undefined;
      readonly account_holder_name?: string | undefined;
    } | {
      readonly payout_method_type: 'sepa';
      readonly iban: string;
      readonly bic: string;
      readonly bank_name?: string | undefined;
      readonly bank_country_code?: string | undefined;
      readonly bank_city?: string | undefined;
      readonly account_holder_name?: string | undefined;
    } | {
      readonly payout_method_type: 'pix';
      readonly bank_account_number: string;
      readonly bank_name?: string | undefined;
      readonly bank_branch?: string | undefined;
      readonly tax_id?: string | undefined;
      readonly ispb?: string | undefined;
    } | {
      readonly payout_method_type: 'pix_key';
      readonly pix_key: string;
    } | {
      readonly payout_method_type: 'pix_emv';
      readonly emv: string;
    } | {
      readonly payout_method_type: 'trustly';
      readonly iban: string;
      readonly bank_country_code: string;
      readonly bank_account_number: string;
      readonly bank_number: string;
    } | {
      readonly payout_method_type: 'open_banking';
      readonly account_holder_name: string;
      readonly iban: string;
    } | undefined;
    readonly wallet?: {
      readonly paypal?: {
        readonly email: string;
        readonly telephone_number: string;
        readonly paypal_id: string;
      } | undefined;
      readonly venmo?: {
        readonly telephone_number: string;
      } | undefined;
    } | undefined;
    readonly bank_redirect?: {
      readonly interac?: {
        readonly email: string;
      } | undefined;
      readonly open_banking_uk?: {
        readonly account_holder_name: string;
        readonly iban: string;
      } | undefined;
    } | undefined;
  } | undefined;
  readonly payout_id: string;
};

/** The fields of `cancelPayout`. */
export type CancelPayoutInput = {
  /** The amount, as you saw it, in minor units. */
  readonly expected_amount: number;
  /** ISO 4217. */
  readonly currency: string;
  /** Why; for the audit log. */
  readonly reason: string;
  /** The status, as you saw it. */
  readonly status: string;
  readonly payout_id: string;
};

/** The fields of `fulfillPayout`. */
export type FulfillPayoutInput = {
  /** The amount, as you saw it, in minor units. */
  readonly expected_amount: number;
  /** ISO 4217. */
  readonly currency: string;
  /** Why; for the audit log. */
  readonly reason: string;
  /** The status, as you saw it. */
  readonly status: string;
  readonly payout_id: string;
};

/** The fields of `listReconciliations`. */
export type ListReconciliationsInput = {
  readonly stream?: 'payments' | 'refunds' | 'disputes' | 'payouts' | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `startReconciliation`. */
export type StartReconciliationInput = {
  /** The list to compare. */
  readonly stream: 'payments' | 'refunds' | 'disputes' | 'payouts' | 'all';
  /** `full`: list every row; `totals`: list only where counts differ. */
  readonly mode: 'totals' | 'full';
  /** Only resources created at or after this time. UTC. */
  readonly from?: string | undefined;
  /** Only resources created at or before this time. UTC. */
  readonly to?: string | undefined;
  /** Report differences without changing anything. */
  readonly dry_run: boolean;
};

/** The fields of `getReconciliation`. */
export type GetReconciliationInput = {
  readonly number: number;
};

/** The fields of `stopReconciliation`. */
export type StopReconciliationInput = {
  readonly number: number;
};

/** The fields of `listMissedWebhooks`. */
export type ListMissedWebhooksInput = {
  /** Up to today. */
  readonly days?: number | undefined;
};

/** The fields of `getRateBudget`. */
export type GetRateBudgetInput = Readonly<Record<string, never>>;

/** The fields of `getBalances`. */
export type GetBalancesInput = {
  readonly order_id?: string | undefined;
  /** What the id is: the shop's order id, or the id of a payment. Without it, any order id or the id of a payment, refund or dispute is accepted, an order id first. */
  readonly by?: 'order' | 'payment' | undefined;
  /** Accounts: only what the service moved before this time. UTC without a zone. */
  readonly as_of?: string | undefined;
  /** Accounts: only what was recorded before this time. UTC without a zone. */
  readonly known_at?: string | undefined;
};

/** The fields of `getChain`. */
export type GetChainInput = Readonly<Record<string, never>>;

/** The fields of `listTransfers`. */
export type ListTransfersInput = {
  /** Only transfers to or from this account. */
  readonly account?: 'psp.clearing' | 'order.due' | 'order.refunds' | 'refund.in_flight' | 'memo.auth_open' | 'memo.auth_contra' | 'dispute.held' | 'loss.disputes' | 'payout.in_transit' | 'payout.paid' | 'fees.service' | 'service.adjustments' | 'bank.account' | undefined;
  /** Only transfers of the parts of this order. */
  readonly order_id?: string | undefined;
  /** Only transfers of this refund, dispute or payout, or of this payment with its refunds and disputes. */
  readonly resource_id?: string | undefined;
  /** ISO 4217. */
  readonly currency?: string | undefined;
  /** Minor units, included. */
  readonly min_amount?: number | undefined;
  /** Minor units, included. */
  readonly max_amount?: number | undefined;
  /** Only rows of this time or later. UTC. */
  readonly from?: string | undefined;
  /** Only rows before this time. UTC. */
  readonly to?: string | undefined;
  /** Selects and orders by `recorded_at` instead of `effective_at`. */
  readonly recorded?: boolean | undefined;
  /** Adds `totals`: the count and the sums of the filter. */
  readonly totals?: boolean | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `getClearing`. */
export type GetClearingInput = {
  /** Only what was moved before this time. UTC. */
  readonly as_of?: string | undefined;
};

/** The fields of `listUnmatched`. */
export type ListUnmatchedInput = {
  /** Only items of this part. */
  readonly part?: 'not_reported' | 'reported_differently' | 'unknown_lines' | 'not_arrived' | 'arrived_differently' | 'unknown_arrivals' | undefined;
  /** ISO 4217. */
  readonly currency?: string | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `getStatement`. */
export type GetStatementInput = {
  /** A month such as `2026-10`. */
  readonly month: string;
  /** ISO 4217. */
  readonly currency?: string | undefined;
  /** The name of a time zone such as `Europe/Berlin`, in which months and days begin. */
  readonly time_zone?: string | undefined;
};

/** The fields of `listClosings`. */
export type ListClosingsInput = Readonly<Record<string, never>>;

/** The fields of `getClosableMonth`. */
export type GetClosableMonthInput = {
  /** A month such as `2026-10`. */
  readonly month: string;
  /** The name of a time zone such as `Europe/Berlin`, in which months and days begin. */
  readonly time_zone?: string | undefined;
};

/** The fields of `closeMonth`. */
export type CloseMonthInput = {
  /** Without it, that of the closed months, or UTC. */
  readonly time_zone?: string | undefined;
  readonly with_exceptions: boolean;
  /** Why you close it in spite of its exceptions. */
  readonly reason?: string | undefined;
  /** A month such as `2026-10`. */
  readonly month: string;
};

/** The fields of `reopenMonth`. */
export type ReopenMonthInput = {
  /** Why you reopen it. */
  readonly reason: string;
  /** A month such as `2026-10`. */
  readonly month: string;
};

/** The fields of `pauseReconciliation`. */
export type PauseReconciliationInput = {
  /** Why; `doctor` and alerts show it. */
  readonly reason: string;
};

/** The fields of `resumeReconciliation`. */
export type ResumeReconciliationInput = Readonly<Record<string, never>>;

/** The fields of `listProcesses`. */
export type ListProcessesInput = Readonly<Record<string, never>>;

/** The fields of `listQueues`. */
export type ListQueuesInput = Readonly<Record<string, never>>;

/** The fields of `listSchedules`. */
export type ListSchedulesInput = Readonly<Record<string, never>>;

/** The fields of `runSchedule`. */
export type RunScheduleInput = {
  readonly reason: string;
  readonly name: string;
};

/** The fields of `listAudit`. */
export type ListAuditInput = {
  /** Name of a person, a token, or the user of a process. */
  readonly actor?: string | undefined;
  readonly action?: 'access.denied' | 'alert.acknowledge' | 'alert.assign' | 'alert.snooze' | 'alert.test' | 'archive.clear' | 'archive.restore' | 'attempt.close' | 'authorization.cancel' | 'authorization.capture' | 'dispute.accept' | 'dispute.evidence' | 'dispute.upload' | 'erasure.finish' | 'erasure.request' | 'event.discard' | 'event.forward' | 'event.replay' | 'finding.accept' | 'journal.export' | 'list.export' | 'message.resend' | 'order.register' | 'payment.refund' | 'payout.cancel' | 'payout.fulfill' | 'payout.retry' | 'period.close' | 'period.reopen' | 'reconciliation.pause' | 'reconciliation.resume' | 'reconciliation.start' | 'reconciliation.stop' | 'replay.start' | 'replay.stop' | 'resource.refresh' | 'retention.run' | 'sandbox.use' | 'schedule.run' | 'session.end' | 'session.refuse' | 'session.start' | 'settlement.import' | 'settlement.match' | 'settlement.unmatch' | 'system.start' | 'system.stop' | 'token.create' | 'token.revoke' | undefined;
  /** A kind and an id, such as `payment:pay_1` or `finding:12`. */
  readonly subject?: string | undefined;
  /** Only entries about this order and its parts. */
  readonly order_id?: string | undefined;
  /** Only entries recorded at or after this time. UTC. */
  readonly since?: string | undefined;
  /** Only entries recorded before this time. UTC. */
  readonly before?: string | undefined;
  /** Only attempts without a result: running, or with an unknown outcome. */
  readonly open?: boolean | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `closeAttempt`. */
export type CloseAttemptInput = {
  /** What became of it. */
  readonly outcome: 'done' | 'failed' | 'refused' | 'unknown';
  /** How you know; recorded with the name of the token. */
  readonly reason: string;
  readonly number: number;
};

/** The fields of `listSessions`. */
export type ListSessionsInput = {
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `endSession`. */
export type EndSessionInput = {
  readonly reason: string;
  /** End every session of the same person, also links that nobody used yet. */
  readonly everywhere: boolean;
  readonly number: number;
};

/** The fields of `listTokens`. */
export type ListTokensInput = {
  /** Also expired and revoked tokens. */
  readonly all?: boolean | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `createToken`. */
export type CreateTokenInput = {
  /** Name of the holder, recorded with what the holder does. */
  readonly name: string;
  /** What the holder may do. */
  readonly role: 'metrics' | 'viewer' | 'shop' | 'operator' | 'treasurer' | 'admin';
  /** After which time it expires. Absent: it does not expire. */
  readonly expires_in_hours?: number | undefined;
};

/** The fields of `revokeToken`. */
export type RevokeTokenInput = {
  readonly name: string;
};

/** The fields of `planErasure`. */
export type PlanErasureInput = {
  /** Whom or what to erase. */
  readonly subjects: readonly {
    /** `order`: with its payments, refunds and disputes; `payment`: with its refunds and disputes, or a payout; `customer`: every payment and payout. */
    readonly kind: 'order' | 'payment' | 'customer';
    readonly id: string;
  }[];
};

/** The fields of `requestErasure`. */
export type RequestErasureInput = {
  /** Whom or what to erase. */
  readonly subjects: readonly {
    /** `order`: with its payments, refunds and disputes; `payment`: with its refunds and disputes, or a payout; `customer`: every payment and payout. */
    readonly kind: 'order' | 'payment' | 'customer';
    readonly id: string;
  }[];
  /** Why you erase; recorded with the name of the token. */
  readonly reason: string;
  /** That you know what is erased, and that it cannot be undone. */
  readonly confirm: true;
};

/** The fields of `listErasures`. */
export type ListErasuresInput = {
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. Opaque: its format may change. */
  readonly cursor?: string | undefined;
};

/** The fields of `getErasure`. */
export type GetErasureInput = {
  readonly number: number;
};

/** `Acceptance` in the OpenAPI document. */
export type Acceptance = {
  readonly accepted: number;
  readonly by: string;
  readonly reason: string;
};

/** `Acceptances` in the OpenAPI document. */
export type Acceptances = {
  readonly accepted: readonly number[];
  readonly refused: readonly {
    readonly number: number;
    readonly reason: string;
  }[];
};

/** `Alert` in the OpenAPI document. */
export type Alert = {
  readonly number: number;
  /** The rule that raised it. More may be added: dispute_opened, dispute_changed, dispute_deadline, dispute_won, dispute_lost, dispute_cancelled, payout_failed, refund_failed, authorization_expiring, authorization_expired, payment_stuck, refund_stuck, payout_stuck, dispute_stuck, double_paid, double_loss, dispute_and_refund, over_refund, over_capture, capture_revoked, currency, amount, status_conflict, unknown_status, missing_local, stale_local, missing_remote, orphan, totals, list_unstable, filter_ignored, watermark_ahead, event_dead, unreadable_event, payment_conflict, label_conflict, event_id_reused, event_repeated, foreign_merchant, foreign_profile, signature_failures, webhooks_stopped, missed_webhooks, backlog, dead_events, reconciliation_lag, reconciliation_paused, rate_limit_exhausted, service_unreachable, clock_skew, queue_unusable, role_not_running, retention_behind, body_days_short, body_damaged, verify_failed, acknowledged_lost, chain_behind, erasure_unfinished, channel_down, order_webhook_failed. */
  readonly rule: string;
  /** What the alert is about: `dispute:dp_1`, `order:order:ord_1`, `system:webhooks`. */
  readonly subject: string;
  /** Distinguishes alerts of one rule about one subject; usually empty. */
  readonly variant: string;
  readonly severity: 'info' | 'warning' | 'critical';
  /** `acknowledged`: unresolved, and somebody handles it. */
  readonly state: 'open' | 'acknowledged' | 'resolved';
  /** The condition, for people. */
  readonly sentence: string;
  /** What to run or check first. */
  readonly next_step: string;
  /** The facts behind the sentence; fields depend on the rule. */
  readonly detail: Readonly<Record<string, unknown>>;
  readonly order_id: string | null;
  readonly payment_id: string | null;
  readonly deadline_at: string | null;
  /** UTC. */
  readonly opened_at: string;
  /** UTC. */
  readonly updated_at: string;
  /** When the condition ended, or an alert about something final was acknowledged. */
  readonly resolved_at: string | null;
  /** Who handles it, and how; null if not acknowledged. */
  readonly acknowledged: {
    /** UTC. */
    readonly at: string;
    readonly by: string;
    readonly reason: string;
  } | null;
  /** Until when notifications are muted, by whom and why. */
  readonly snoozed: {
    /** UTC. */
    readonly until: string;
    readonly by: string;
    readonly reason: string | null;
  } | null;
  /** Who is to handle it; null if nobody was named. */
  readonly assigned: {
    readonly to: string;
    /** UTC. */
    readonly at: string;
    readonly by: string;
    readonly reason: string;
  } | null;
};

/** `AlertPage` in the OpenAPI document. */
export type AlertPage = {
  readonly alerts: readonly Alert[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `AuditEntry` in the OpenAPI document. */
export type AuditEntry = {
  readonly number: number;
  /** By the database's clock. */
  readonly recorded_at: string;
  /** Who acted. */
  readonly actor: {
    /** `token`: the holder of a token; `person`: somebody who signed in at the identity provider; `cli`: a person at a shell; `process`; `unknown`: whoever failed to sign in. */
    readonly kind: 'token' | 'person' | 'cli' | 'process' | 'unknown';
    readonly name: string;
    /** The role at that time. */
    readonly role: string;
    /** Address of the client, or `user@host`. */
    readonly origin: string;
  };
  readonly action: 'access.denied' | 'alert.acknowledge' | 'alert.assign' | 'alert.snooze' | 'alert.test' | 'archive.clear' | 'archive.restore' | 'attempt.close' | 'authorization.cancel' | 'authorization.capture' | 'dispute.accept' | 'dispute.evidence' | 'dispute.upload' | 'erasure.finish' | 'erasure.request' | 'event.discard' | 'event.forward' | 'event.replay' | 'finding.accept' | 'journal.export' | 'list.export' | 'message.resend' | 'order.register' | 'payment.refund' | 'payout.cancel' | 'payout.fulfill' | 'payout.retry' | 'period.close' | 'period.reopen' | 'reconciliation.pause' | 'reconciliation.resume' | 'reconciliation.start' | 'reconciliation.stop' | 'replay.start' | 'replay.stop' | 'resource.refresh' | 'retention.run' | 'sandbox.use' | 'schedule.run' | 'session.end' | 'session.refuse' | 'session.start' | 'settlement.import' | 'settlement.match' | 'settlement.unmatch' | 'system.start' | 'system.stop' | 'token.create' | 'token.revoke';
  /** What it is about. */
  readonly subject: {
    readonly kind: string;
    readonly id: string;
  };
  /** The order that the subject belongs to. */
  readonly order_key: string | null;
  readonly reason: string | null;
  /** `requested`: about to call the payment service, a channel or a queue; another entry of the same attempt has the result. `unknown`: it may have happened. */
  readonly result: 'requested' | 'done' | 'failed' | 'refused' | 'unknown';
  /** Number of the entry `requested` of the attempt; null for an action without one. */
  readonly attempt: number | null;
  /** The entry in one sentence. */
  readonly text: string;
  /** The facts; fields depend on the action. */
  readonly detail: Readonly<Record<string, unknown>>;
};

/** `AuditPage` in the OpenAPI document. */
export type AuditPage = {
  readonly entries: readonly AuditEntry[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `Authorization` in the OpenAPI document. */
export type Authorization = {
  readonly payment_id: string;
  readonly order_id: string | null;
  readonly order_key: string | null;
  readonly named_by: 'order' | 'payment' | null;
  /** The service's own status. */
  readonly status: string;
  /** ISO 4217. */
  readonly currency: string;
  /** What remains of the hold. */
  readonly amount_capturable: number;
  /** When the hold began, as far as known. */
  readonly authorized_at: string;
  /** The earlier of the service's own deadline and seven days after the hold began. */
  readonly capture_before: string;
  /** Threshold of the last reminder, in hours before the deadline; 0 at the deadline; null before the first. */
  readonly last_reminder_hours: number | null;
};

/** `AuthorizationPage` in the OpenAPI document. */
export type AuthorizationPage = {
  readonly authorizations: readonly Authorization[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `AuthorizationResult` in the OpenAPI document. */
export type AuthorizationResult = {
  readonly payment_id: string;
  readonly action: 'capture' | 'cancel';
  /** What was captured or released. */
  readonly amount: number;
  /** ISO 4217. */
  readonly currency: string;
  /** Status at the service afterwards; null if it could not be retrieved. */
  readonly status: string | null;
  /** Number of the attempt in the audit log. */
  readonly attempt: number;
};

/** `Balance` in the OpenAPI document. */
export type Balance = {
  readonly account: string;
  /** asset, liability, income, expense, or memo, which moves no money. */
  readonly class: string;
  readonly meaning: string;
  /** ISO 4217. */
  readonly currency: string;
  /** Minor units of the currency beside it. */
  readonly amount_debited: number;
  /** Minor units of the currency beside it. */
  readonly amount_credited: number;
  /** Debited minus credited. */
  readonly balance: number;
};

/** `Balances` in the OpenAPI document. */
export type Balances = {
  readonly accounts: readonly Balance[];
  readonly orders: readonly CurrencyTotals[];
};

/** `Cause` in the OpenAPI document. */
export type Cause = {
  /** `webhook`: an event; `retrieve`, `list`: a request to the service. */
  readonly source: 'webhook' | 'retrieve' | 'list';
  /** Inbox number of the event. */
  readonly event_number: number | null;
  readonly event_id: string | null;
};

/** `Chain` in the OpenAPI document. */
export type Chain = {
  /** Null before the first block. */
  readonly chain_head: ChainHead | null;
  /** Transfers that are not chained yet; at most 10,000. */
  readonly unchained_transfers: number;
};

/** `ChainHead` in the OpenAPI document. */
export type ChainHead = {
  /** Number and digest of the block: enough to compare it later. */
  readonly head: string;
  readonly block: number;
  /** What the digest of a transfer covers. */
  readonly form: number;
  /** Digest of the block before it, in hexadecimal. */
  readonly previous_digest: string;
  /** The block has the transfers with a greater number, */
  readonly after_id: number;
  /** up to and including this one. */
  readonly through_id: number;
  readonly transfers: number;
  /** Of this block and all before it. */
  readonly total_transfers: number;
  /** SHA-256 of the numbers and digests of its transfers, in hexadecimal. */
  readonly entries_digest: string;
  /** The database server and its timeline. */
  readonly history: string;
  /** UTC. */
  readonly chained_at: string;
  /** SHA-256 of the block, in hexadecimal. */
  readonly digest: string;
  readonly public_key: string | null;
  readonly signature: string | null;
};

/** `Change` in the OpenAPI document. */
export type Change = {
  /** It only grows: by one, and far at once after a failover of the database. */
  readonly number: number;
  /** What changed. A resource appears only if it belongs to no order. */
  readonly kind: 'order' | 'payment' | 'refund' | 'dispute' | 'payout';
  /** Order id (see `named_by`) or resource id. */
  readonly id: string;
  readonly order_key: string | null;
  readonly named_by: 'order' | 'payment' | null;
  /** `status`: the status changed. `details`: something else changed. `registered`: the shop registered an expected amount. */
  readonly change: 'status' | 'details' | 'registered';
  /** The new status. Null for `registered`. */
  readonly status: string | null;
  /** Null if it was unknown before. */
  readonly previous_status: string | null;
  /** Inbox number of the last event that caused it. */
  readonly event_number: number | null;
  /** May be earlier than in a change with a smaller number. */
  readonly changed_at: string;
  /** Whether it is about the time before Tallyhook; nobody is notified of it. */
  readonly is_history: boolean;
};

/** `ChangePage` in the OpenAPI document. */
export type ChangePage = {
  readonly changes: readonly Change[];
  /** Send it as `after` in the next request. */
  readonly next_after: number;
  /** Whether more changes are ready. */
  readonly has_more: boolean;
};

/** `Channel` in the OpenAPI document. */
export type Channel = {
  readonly channel: 'log' | 'webhook' | 'slack' | 'mail' | 'shop';
  /** The receiving host; the rest of an address is masked. */
  readonly sends_to: string;
  /** The setting that holds its address. */
  readonly setting: string;
  /** Of the alerts that it gets; null for the shop, which gets none. */
  readonly least_severity: 'info' | 'warning' | 'critical' | null;
  /** Null if it has accepted its last message, or got none yet. */
  readonly failing: {
    /** UTC. */
    readonly since: string;
    readonly last_error: string;
    /** Null while it responds and refuses. */
    readonly retry_at: string | null;
  } | null;
  /** Messages that it has not accepted yet. */
  readonly messages_due: number;
  readonly oldest_due_seconds: number;
  /** The last attempt of each of its newest messages, newest first. */
  readonly last_attempts: readonly {
    readonly message: number;
    readonly attempt: number;
    /** UTC. */
    readonly at: string;
    readonly outcome: string;
    readonly response: string;
  }[];
};

/** `Channels` in the OpenAPI document. */
export type Channels = {
  readonly channels: readonly Channel[];
};

/** `Clearing` in the OpenAPI document. */
export type Clearing = {
  /** ISO 4217. */
  readonly currency: string;
  /** The balance of psp.clearing: the sum of its parts. */
  readonly balance: number;
  readonly parts: readonly {
    /** Why the money is in clearing. */
    readonly part: 'not_reported' | 'reported_differently' | 'unknown_lines' | 'not_arrived' | 'arrived_differently' | 'unknown_arrivals';
    readonly meaning: string;
    readonly items: number;
    /** Minor units of the currency beside it; may be negative. */
    readonly amount: number;
    /** The time of its oldest item. */
    readonly since: string;
  }[];
};

/** `ClearingParts` in the OpenAPI document. */
export type ClearingParts = {
  readonly currencies: readonly Clearing[];
};

/** `ClosableMonth` in the OpenAPI document. */
export type ClosableMonth = {
  /** A month such as `2026-10`. */
  readonly month: string;
  /** The name of a time zone such as `Europe/Berlin`, in which months and days begin. */
  readonly time_zone: string;
  /** Whether it may be closed now, perhaps with exceptions. */
  readonly may_close: boolean;
  /** Why it may not. */
  readonly refusal: string | null;
  /** What is unproven now. */
  readonly unproven: readonly {
    readonly kind: 'open_findings' | 'uncertain' | 'not_compared' | 'pending_events' | 'dead_events';
    readonly meaning: string;
    readonly count: number;
    /** Some of them, at most 20. */
    readonly examples: readonly string[];
  }[];
  /** Every closing of the month. */
  readonly closings: readonly Closing[];
};

/** `ClosedAttempt` in the OpenAPI document. */
export type ClosedAttempt = {
  /** Number of the attempt. */
  readonly closed: number;
  readonly outcome: 'done' | 'failed' | 'refused' | 'unknown';
  readonly by: string;
  readonly reason: string;
};

/** `Closing` in the OpenAPI document. */
export type Closing = {
  /** A month such as `2026-10`. */
  readonly month: string;
  /** 1 for the first closing of the month. */
  readonly version: number;
  /** The name of a time zone such as `Europe/Berlin`, in which months and days begin. */
  readonly time_zone: string;
  /** The first instant of the month. */
  readonly from: string;
  /** The first instant after it. */
  readonly to: string;
  /** The greatest number of a transfer that the closing can contain. */
  readonly last_transfer: number;
  /** UTC. */
  readonly closed_at: string;
  readonly closed_by: string;
  readonly reason: string | null;
  /** What was unproven. */
  readonly exceptions: readonly {
    readonly kind: 'open_findings' | 'uncertain' | 'not_compared' | 'pending_events' | 'dead_events';
    readonly meaning: string;
    readonly count: number;
    /** Some of them, at most 20. */
    readonly examples: readonly string[];
  }[];
  /** Null until the chain has its last transfer, some minutes at most. */
  readonly seal: {
    /** Number and digest of the block of the chain that has its last transfer. */
    readonly chain_head: string;
    /** SHA-256 of the closing, its sums and the block. */
    readonly digest: string;
    /** Of the digest, with the key of the block. */
    readonly signature: string | null;
    /** UTC. */
    readonly sealed_at: string;
  } | null;
  /** Null while the closing is in force. */
  readonly reopened: {
    /** UTC. */
    readonly at: string;
    readonly by: string;
    readonly reason: string;
  } | null;
};

/** `Closings` in the OpenAPI document. */
export type Closings = {
  readonly closings: readonly Closing[];
};

/** `ConsoleSession` in the OpenAPI document. */
export type ConsoleSession = {
  readonly number: number;
  /** Name of the token, or of the person at the identity provider. */
  readonly holder: string;
  /** `link`: the link that a start of Tallyhook prints; `provider`: the identity provider. */
  readonly sign_in: 'token' | 'link' | 'provider';
  /** Where the session started. */
  readonly address: string | null;
  readonly user_agent: string | null;
  /** UTC. */
  readonly started_at: string;
  /** The last page, to the minute. */
  readonly last_seen_at: string;
  /** UTC. */
  readonly expires_at: string;
};

/** `ConsoleSessionPage` in the OpenAPI document. */
export type ConsoleSessionPage = {
  readonly sessions: readonly ConsoleSession[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `CreatedToken` in the OpenAPI document. */
export type CreatedToken = {
  readonly name: string;
  readonly role: 'metrics' | 'viewer' | 'shop' | 'operator' | 'treasurer' | 'admin';
  readonly state: 'valid' | 'expired' | 'revoked';
  /** UTC. */
  readonly created_at: string;
  readonly created_by: string;
  /** To the minute. */
  readonly last_used_at: string | null;
  /** Null: it does not expire. */
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly revoked_by: string | null;
  /** The text of the token. */
  readonly token: string;
};

/** `CurrencyTotals` in the OpenAPI document. */
export type CurrencyTotals = {
  /** ISO 4217. */
  readonly currency: string;
  /** Number of orders with a part in this currency. */
  readonly orders: number;
  /** Minor units of the currency beside it. */
  readonly amount_authorized: number;
  /** Minor units of the currency beside it. */
  readonly amount_captured: number;
  /** Minor units of the currency beside it. */
  readonly amount_refunded: number;
  /** Minor units of the currency beside it. */
  readonly amount_refund_pending: number;
  /** Minor units of the currency beside it. */
  readonly amount_disputed: number;
  /** Minor units of the currency beside it. */
  readonly amount_charged_back: number;
};

/** `Decline` in the OpenAPI document. */
export type Decline = {
  /** Null if the service sent none. */
  readonly unified_code: string | null;
  /** May be shown to the customer. */
  readonly message: string | null;
  /** `never`: Do not retry. `with_backoff`: Retry, each time after a longer wait. `with_3ds`: Retry with 3-D Secure: the issuer requires authentication. `with_customer`: The customer can usually try again. A retry without the customer fails, because nobody is there to authenticate. `sometimes`: The code does not show whether another attempt helps: let the customer try once more or pay in another way, and never retry automatically. `check_earlier_payment`: The first payment may have succeeded: check it before you retry or refund. `fix_request`: Correct the request before you send it again. Null: unknown, because there is no code. */
  readonly retry: 'never' | 'with_backoff' | 'with_3ds' | 'with_customer' | 'sometimes' | 'check_earlier_payment' | 'fix_request' | null;
  /** Whether the same payment method may be retried. Null: unknown, because there is no code. */
  readonly may_retry: boolean | null;
  /** Whether the customer may pay with another method. Null: unknown, because there is no code. */
  readonly may_use_another_method: boolean | null;
  /** What it means and what to do, for operators. */
  readonly advice: string;
};

/** `Dispute` in the OpenAPI document. */
export type Dispute = {
  readonly dispute_id: string;
  readonly payment_id: string | null;
  readonly order_id: string | null;
  readonly order_key: string | null;
  readonly named_by: 'order' | 'payment' | null;
  readonly stage: string | null;
  /** The service's own status; null until the resource itself arrives. Payments: requires_payment_method, requires_confirmation, requires_action, requires_customer_action, requires_redirection, requires_merchant_action, processing, requires_capture, partially_authorized_and_requires_capture, partially_captured_and_processing, partially_captured_and_capturable, conflicted, review, failed, cancelled, expired, partially_captured, succeeded, cancelled_post_capture. Refunds: pending, review, succeeded, failed. Disputes: opened, challenged, expired, accepted, cancelled, lost, won. The service may add others. */
  readonly status: string | null;
  readonly currency: string | null;
  readonly amount: number | null;
  readonly evidence_due_by: string | null;
  /** Why it failed, was canceled or, for a dispute, was opened: the service's codes and texts in one line, without card numbers. Null if the state needs no reason or the service sent none. */
  readonly reason: string | null;
  readonly reason_detail: ReasonDetail;
  /** Why the state needs a retrieve before you rely on it. Usually empty. */
  readonly uncertainties: readonly string[];
  /** Classes of its open findings. */
  readonly open_findings: readonly string[];
  /** The service's own time. */
  readonly created_at: string | null;
  /** When Tallyhook first saw it. */
  readonly first_seen_at: string;
  /** When the ledger last recorded a change. */
  readonly updated_at: string;
};

/** `DisputeEvidence` in the OpenAPI document. */
export type DisputeEvidence = {
  readonly dispute_id: string;
  /** By field; file fields have ids. */
  readonly evidence: Readonly<Record<string, string>>;
  /** Changes with the evidence. Send it as `evidence_version`. */
  readonly version: string;
};

/** `DisputePage` in the OpenAPI document. */
export type DisputePage = {
  readonly disputes: readonly Dispute[];
  readonly totals: ListTotals;
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `DisputeResult` in the OpenAPI document. */
export type DisputeResult = {
  readonly dispute_id: string;
  /** Status at the service afterwards; null if it could not be retrieved. */
  readonly status: string | null;
  /** Number of the attempt in the audit log. */
  readonly attempt: number;
};

/** `EndedSessions` in the OpenAPI document. */
export type EndedSessions = {
  readonly holder: string;
  /** How many ended. */
  readonly sessions: number;
};

/** `Erasure` in the OpenAPI document. */
export type Erasure = {
  readonly number: number;
  /** Such as `order:ord_1`; when it is done, a customer as `customer:sha256:` and the digest of the id. */
  readonly subjects: readonly string[];
  readonly reason: string;
  readonly requested_by: string;
  /** UTC. */
  readonly requested_at: string;
  /** `running`: also while it waits for a process. */
  readonly state: 'running' | 'done';
  readonly finished_at: string | null;
  /** Bodies of events that are erased so far. */
  readonly bodies: number;
  /** Texts that are replaced so far. */
  readonly texts: number;
  /** Rows with values that are left; null until it is done. */
  readonly remaining: number | null;
  /** Null until it is done. */
  readonly proof: {
    /** Tables in which values are left. Empty: nothing was found. */
    readonly places: readonly {
      readonly table: string;
      readonly rows: number;
    }[];
    /** Inbox numbers of other events with the same values. */
    readonly events: readonly number[];
    /** Not searched, because the database role may not read them. */
    readonly unreadable_tables: readonly string[];
    /** Tables with earlier versions of rows until they are vacuumed. */
    readonly to_vacuum: readonly string[];
  } | null;
};

/** `ErasurePage` in the OpenAPI document. */
export type ErasurePage = {
  readonly erasures: readonly Erasure[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `ErasurePlan` in the OpenAPI document. */
export type ErasurePlan = {
  /** How many resources lose their texts, by kind. Amounts, statuses and ids stay. */
  readonly resources: Readonly<Record<string, number>>;
  /** Events that lose their bodies and can no longer be replayed. */
  readonly events: number;
  /** Values, such as names, that are searched for in every table. */
  readonly values: number;
  /** Events that are not applied yet; their bodies wait. */
  readonly pending_events: readonly number[];
  /** Events that could not be applied. Replay them first. */
  readonly dead_events: readonly number[];
  /** Subjects of which nothing is known. */
  readonly unknown_subjects: readonly string[];
  /** Number of a request for the same that is not done. */
  readonly running: number | null;
};

/** `Event` in the OpenAPI document. */
export type Event = {
  /** Inbox number. */
  readonly number: number;
  /** The service's event id; null if the body has none. */
  readonly event_id: string | null;
  readonly event_type: string | null;
  /** The merchant account of the event. */
  readonly merchant_id: string | null;
  /** `pending`: waits to be applied. `applied`. `not_applied`: stored, and nothing was posted. `dead`: every attempt failed; replay it once the cause is fixed. `discarded`: a person decided that this dead event will not be applied. */
  readonly state: 'pending' | 'applied' | 'not_applied' | 'dead' | 'discarded';
  readonly attempts: number;
  /** For dead events: why the last attempt failed. */
  readonly error: string | null;
  /** Who discarded a dead event, and why. */
  readonly discarded: {
    /** UTC. */
    readonly at: string;
    readonly by: string;
    readonly reason: string;
  } | null;
  /** UTC. */
  readonly received_at: string;
  /** Fingerprint of the secret that verified the first delivery, as `tallyhook doctor` shows it; null if an older version received the event. */
  readonly secret: string | null;
};

/** `EventChanges` in the OpenAPI document. */
export type EventChanges = {
  /** Resources of which it brought a snapshot. */
  readonly resources: readonly {
    readonly kind: 'payment' | 'refund' | 'dispute' | 'payout';
    readonly id: string;
    /** How many snapshots of it the event brought. */
    readonly snapshots: number;
    /** Null: it was not known before. */
    readonly previous_status: string | null;
    /** Of the resource, once the event was applied. */
    readonly status: string | null;
    /** A newer state was known. Null: it has too many snapshots to place this one. */
    readonly late: boolean | null;
  }[];
  /** Of the change feed. */
  readonly changes: readonly Change[];
  readonly transfers: readonly Transfer[];
  /** The order webhooks of its changes. */
  readonly order_webhooks: readonly {
    readonly number: number;
    readonly message_id: string;
    readonly type: string;
    readonly state: 'due' | 'delivered' | 'failed';
  }[];
  readonly findings_opened: readonly Finding[];
  readonly findings_closed: readonly Finding[];
  readonly alerts_opened: readonly Alert[];
  readonly alerts_resolved: readonly Alert[];
  /** False: of a kind there are more than 50. */
  readonly complete: boolean;
  /** Why the ledger is as it was before; null if it brought something. */
  readonly nothing: {
    /** `known`: another event or a read brought the same before. `known_before`: so it was, and nothing shows by what. */
    readonly why: 'pending' | 'dead' | 'discarded' | 'not_applied' | 'known' | 'known_before';
    readonly text: string;
  } | null;
};

/** `EventDetail` in the OpenAPI document. */
export type EventDetail = {
  /** Inbox number. */
  readonly number: number;
  /** The service's event id; null if the body has none. */
  readonly event_id: string | null;
  readonly event_type: string | null;
  /** The merchant account of the event. */
  readonly merchant_id: string | null;
  /** `pending`: waits to be applied. `applied`. `not_applied`: stored, and nothing was posted. `dead`: every attempt failed; replay it once the cause is fixed. `discarded`: a person decided that this dead event will not be applied. */
  readonly state: 'pending' | 'applied' | 'not_applied' | 'dead' | 'discarded';
  readonly attempts: number;
  /** For dead events: why the last attempt failed. */
  readonly error: string | null;
  /** Who discarded a dead event, and why. */
  readonly discarded: {
    /** UTC. */
    readonly at: string;
    readonly by: string;
    readonly reason: string;
  } | null;
  /** UTC. */
  readonly received_at: string;
  /** Fingerprint of the secret that verified the first delivery, as `tallyhook doctor` shows it; null if an older version received the event. */
  readonly secret: string | null;
  readonly changed: EventChanges;
};

/** `EventPage` in the OpenAPI document. */
export type EventPage = {
  readonly events: readonly Event[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `Expected` in the OpenAPI document. */
export type Expected = {
  /** ISO 4217. */
  readonly currency: string;
  /** Minor units of the currency beside it. */
  readonly amount: number;
  /** The captured amount in this currency, before refunds, against the expected one. `other_currency`: nothing was captured in this currency, and something in another. */
  readonly comparison: 'unpaid' | 'underpaid' | 'paid' | 'overpaid' | 'other_currency';
  /** Captured minus expected; negative if something is missing. */
  readonly difference: number;
  /** UTC. */
  readonly registered_at: string;
  /** Name of the caller's token. */
  readonly registered_by: string;
};

/** `Finding` in the OpenAPI document. */
export type Finding = {
  readonly number: number;
  /** Kind of discrepancy; more may be added. */
  readonly class: string;
  readonly meaning: string;
  /** What the finding is about: `payment:pay_1`, `event:12` (its number), `order:order:ord_1`. */
  readonly subject: string;
  /** `accepted`: still present, and no longer counted as a difference. */
  readonly state: 'open' | 'accepted' | 'closed';
  /** The facts; fields depend on the class. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** UTC. */
  readonly opened_at: string;
  /** UTC. */
  readonly updated_at: string;
  readonly closed_at: string | null;
  /** Who accepted it, and why; null if not accepted. */
  readonly accepted: {
    /** UTC. */
    readonly at: string;
    readonly by: string;
    readonly reason: string;
  } | null;
};

/** `FindingPage` in the OpenAPI document. */
export type FindingPage = {
  readonly findings: readonly Finding[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** Null without `totals=1`. */
export type ListTotals = {
  /** How many rows match; the number of those counted if `complete` is false. */
  readonly count: number;
  /** False if there are more rows than were counted: only the newest 5,000 resources or transfers, or 1,000 orders, are searched, and the sums are those of the counted ones. */
  readonly complete: boolean;
  readonly currencies: readonly {
    /** Null: the resources themselves have not arrived. */
    readonly currency: string | null;
    readonly count: number;
    /** Minor units of the currency beside it. */
    readonly amount: number;
    /** Payments only; else 0. */
    readonly amount_captured: number;
  }[];
} | null;

/** `ListedPayment` in the OpenAPI document. */
export type ListedPayment = {
  readonly payment_id: string;
  readonly order_id: string | null;
  readonly order_key: string | null;
  readonly named_by: 'order' | 'payment' | null;
  /** The service's own status; null until the resource itself arrives. Payments: requires_payment_method, requires_confirmation, requires_action, requires_customer_action, requires_redirection, requires_merchant_action, processing, requires_capture, partially_authorized_and_requires_capture, partially_captured_and_processing, partially_captured_and_capturable, conflicted, review, failed, cancelled, expired, partially_captured, succeeded, cancelled_post_capture. Refunds: pending, review, succeeded, failed. Disputes: opened, challenged, expired, accepted, cancelled, lost, won. The service may add others. */
  readonly status: string | null;
  readonly currency: string | null;
  readonly amount: number | null;
  /** With surcharge, tax and shipping. */
  readonly net_amount: number | null;
  /** The largest hold; 0 without a hold. */
  readonly amount_authorized: number;
  /** Minor units of the currency beside it. */
  readonly amount_captured: number;
  readonly capture_method: string | null;
  /** When the hold expires, if the service states it. */
  readonly capture_before: string | null;
  /** Why it failed, was canceled or, for a dispute, was opened: the service's codes and texts in one line, without card numbers. Null if the state needs no reason or the service sent none. */
  readonly reason: string | null;
  readonly reason_detail: ReasonDetail;
  /** Why the state needs a retrieve before you rely on it. Usually empty. */
  readonly uncertainties: readonly string[];
  /** Classes of its open findings. */
  readonly open_findings: readonly string[];
  /** The service's own time. */
  readonly created_at: string | null;
  /** When Tallyhook first saw it. */
  readonly first_seen_at: string;
  /** When the ledger last recorded a change. */
  readonly updated_at: string;
};

/** `Message` in the OpenAPI document. */
export type Message = {
  readonly number: number;
  /** Every attempt sends it, also after a resend. */
  readonly message_id: string;
  readonly channel: 'log' | 'webhook' | 'slack' | 'mail' | 'shop';
  /** `alert`, `digest` of several alerts, daily `summary`, or `order` webhook. */
  readonly kind: 'alert' | 'digest' | 'summary' | 'order';
  /** `due`: waits for its next attempt. `delivered`. `failed`: not accepted within three days. */
  readonly state: 'due' | 'delivered' | 'failed';
  readonly title: string;
  /** The text, as people receive it. */
  readonly lines: readonly string[];
  readonly attempts: number;
  /** The last attempts, oldest first. */
  readonly attempt_log: readonly {
    readonly attempt: number;
    /** UTC. */
    readonly at: string;
    /** `delivered`, `refused`, `gone` or `unavailable`. */
    readonly outcome: string;
    readonly response: string;
  }[];
  readonly last_error: string | null;
  /** UTC. */
  readonly created_at: string;
  readonly next_attempt_at: string | null;
  readonly settled_at: string | null;
  /** When a person last had it sent again. */
  readonly resent_at: string | null;
};

/** `MessagePage` in the OpenAPI document. */
export type MessagePage = {
  readonly messages: readonly Message[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `MissedWebhooks` in the OpenAPI document. */
export type MissedWebhooks = {
  readonly days: readonly {
    readonly day: string;
    readonly stream: 'payments' | 'refunds' | 'disputes' | 'payouts';
    readonly missed_webhooks: number;
  }[];
};

/** `Order` in the OpenAPI document. */
export type Order = {
  readonly order_id: string;
  /** Unlike the id, unique. */
  readonly order_key: string;
  /** `order`: the order has the shop's order id; `payment`: it has the id of its payment, which names no order. */
  readonly named_by: 'order' | 'payment';
  /** The first status that applies, over all currencies. `registered`: the shop registered the order, and no payment has arrived; `moved`: its payments now belong to another order. */
  readonly status: 'charged_back' | 'disputed' | 'refunded' | 'partially_refunded' | 'paid' | 'partially_captured' | 'authorized' | 'pending' | 'expired' | 'cancelled' | 'failed' | 'moved' | 'registered';
  /** Keys of the orders that its payments now belong to. */
  readonly moved_to: readonly string[];
  /** One entry per currency. */
  readonly totals: readonly OrderTotals[];
  /** What the shop registered, if anything. */
  readonly expected: Expected | null;
  /** UTC. */
  readonly first_seen_at: string;
  /** UTC. */
  readonly updated_at: string;
};

/** `OrderDetail` in the OpenAPI document. */
export type OrderDetail = {
  readonly order_id: string;
  /** Unlike the id, unique. */
  readonly order_key: string;
  /** `order`: the order has the shop's order id; `payment`: it has the id of its payment, which names no order. */
  readonly named_by: 'order' | 'payment';
  /** The first status that applies, over all currencies. `registered`: the shop registered the order, and no payment has arrived; `moved`: its payments now belong to another order. */
  readonly status: 'charged_back' | 'disputed' | 'refunded' | 'partially_refunded' | 'paid' | 'partially_captured' | 'authorized' | 'pending' | 'expired' | 'cancelled' | 'failed' | 'moved' | 'registered';
  /** Keys of the orders that its payments now belong to. */
  readonly moved_to: readonly string[];
  /** One entry per currency. */
  readonly totals: readonly OrderTotals[];
  /** What the shop registered, if anything. */
  readonly expected: Expected | null;
  /** UTC. */
  readonly first_seen_at: string;
  /** UTC. */
  readonly updated_at: string;
  /** Payments first. */
  readonly parts: readonly OrderPart[];
  /** False if only the first 1,000 parts are listed; `/parts` has all of them. */
  readonly parts_complete: boolean;
  /** Oldest first, by effective time: snapshots and transfers by `effective_at`, everything else by `at`. */
  readonly timeline: readonly TimelineEntry[];
  /** False if only the entries that were recorded last are listed. */
  readonly timeline_complete: boolean;
  /** Null without `refresh=1`. */
  readonly refresh: {
    /** `fresh`: the state at the service now. `partly`, `failed`: some or all payments could not be retrieved, or whether an unpaid order has another payment is unknown. `unknown`: the service knows no such payment. `off`: no API key of the service is set. */
    readonly outcome: 'fresh' | 'partly' | 'failed' | 'unknown' | 'off';
    /** Why it is not fresh. */
    readonly reason: string | null;
  } | null;
};

/** Null without `totals=1`. */
export type OrderListTotals = {
  /** How many rows match; the number of those counted if `complete` is false. */
  readonly count: number;
  /** False if there are more rows than were counted: only the newest 5,000 resources or transfers, or 1,000 orders, are searched, and the sums are those of the counted ones. */
  readonly complete: boolean;
  readonly currencies: readonly {
    /** ISO 4217. */
    readonly currency: string;
    /** Orders with money in this currency. */
    readonly count: number;
    /** Minor units of the currency beside it. */
    readonly amount_authorized: number;
    /** Minor units of the currency beside it. */
    readonly amount_captured: number;
    /** Minor units of the currency beside it. */
    readonly amount_refunded: number;
    /** Minor units of the currency beside it. */
    readonly amount_disputed: number;
    /** Minor units of the currency beside it. */
    readonly amount_charged_back: number;
  }[];
} | null;

/** `OrderPage` in the OpenAPI document. */
export type OrderPage = {
  readonly orders: readonly Order[];
  readonly totals: OrderListTotals;
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `OrderPart` in the OpenAPI document. */
export type OrderPart = {
  readonly kind: 'payment' | 'refund' | 'dispute' | 'payout';
  readonly id: string;
  /** The service's own status; null until the resource itself arrives. Payments: requires_payment_method, requires_confirmation, requires_action, requires_customer_action, requires_redirection, requires_merchant_action, processing, requires_capture, partially_authorized_and_requires_capture, partially_captured_and_processing, partially_captured_and_capturable, conflicted, review, failed, cancelled, expired, partially_captured, succeeded, cancelled_post_capture. Refunds: pending, review, succeeded, failed. Disputes: opened, challenged, expired, accepted, cancelled, lost, won. The service may add others. */
  readonly status: string | null;
  /** Disputes only. */
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amount: number | null;
  /** Payments only: the largest hold. */
  readonly amount_authorized: number | null;
  /** Payments only. */
  readonly amount_captured: number | null;
  /** Failed payments only. */
  readonly decline: Decline | null;
  /** Why it failed, was canceled or, for a dispute, was opened: the service's codes and texts in one line, without card numbers. Null if the state needs no reason or the service sent none. */
  readonly reason: string | null;
  /** Why the state needs a retrieve before you rely on it. Usually empty. */
  readonly uncertainties: readonly string[];
  /** Classes of its open findings. */
  readonly open_findings: readonly string[];
  /** The service's own time. */
  readonly created_at: string | null;
  /** Payments: when the hold expires. Disputes: when evidence is due. */
  readonly deadline_at: string | null;
};

/** `OrderPartPage` in the OpenAPI document. */
export type OrderPartPage = {
  readonly parts: readonly OrderPart[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `OrderTotals` in the OpenAPI document. */
export type OrderTotals = {
  /** ISO 4217. */
  readonly currency: string;
  /** The first that applies to the parts in this currency. */
  readonly status: 'charged_back' | 'disputed' | 'refunded' | 'partially_refunded' | 'paid' | 'partially_captured' | 'authorized' | 'pending' | 'expired' | 'cancelled' | 'failed' | 'moved' | 'registered';
  /** Held and still capturable. */
  readonly amount_authorized: number;
  /** Captured and not voided. */
  readonly amount_captured: number;
  /** Minor units of the currency beside it. */
  readonly amount_refunded: number;
  /** Minor units of the currency beside it. */
  readonly amount_refund_pending: number;
  /** In open disputes. */
  readonly amount_disputed: number;
  /** Lost to disputes. */
  readonly amount_charged_back: number;
};

/** `PauseState` in the OpenAPI document. */
export type PauseState = {
  readonly paused: boolean;
  readonly by: string;
  readonly reason: string | null;
};

/** `Payment` in the OpenAPI document. */
export type Payment = {
  readonly payment_id: string;
  readonly order_id: string | null;
  readonly order_key: string | null;
  readonly named_by: 'order' | 'payment' | null;
  /** The service's own status; null until the resource itself arrives. Payments: requires_payment_method, requires_confirmation, requires_action, requires_customer_action, requires_redirection, requires_merchant_action, processing, requires_capture, partially_authorized_and_requires_capture, partially_captured_and_processing, partially_captured_and_capturable, conflicted, review, failed, cancelled, expired, partially_captured, succeeded, cancelled_post_capture. Refunds: pending, review, succeeded, failed. Disputes: opened, challenged, expired, accepted, cancelled, lost, won. The service may add others. */
  readonly status: string | null;
  readonly currency: string | null;
  readonly amount: number | null;
  /** With surcharge, tax and shipping: the most that can be captured. Null if the service sends none. */
  readonly net_amount: number | null;
  /** The largest hold; 0 without a hold. */
  readonly amount_authorized: number;
  /** Minor units of the currency beside it. */
  readonly amount_captured: number;
  readonly capture_method: string | null;
  /** When the hold expires, if the service states it. */
  readonly capture_before: string | null;
  /** Null unless the payment failed. */
  readonly decline: Decline | null;
  /** The acquirer's own code; null unless the payment failed. */
  readonly error_code: string | null;
  /** The acquirer's own text; null unless the payment failed. */
  readonly error_message: string | null;
  /** Why it failed, was canceled or, for a dispute, was opened: the service's codes and texts in one line, without card numbers. Null if the state needs no reason or the service sent none. */
  readonly reason: string | null;
  /** Why the state needs a retrieve before you rely on it. Usually empty. */
  readonly uncertainties: readonly string[];
  /** Classes of its open findings. */
  readonly open_findings: readonly string[];
  /** The service's own time. */
  readonly created_at: string | null;
  /** When the ledger last recorded a change. */
  readonly updated_at: string;
  readonly refunds: readonly PaymentChild[];
  readonly disputes: readonly PaymentChild[];
  /** False if only the first 1,000 refunds and disputes are listed; `/api/v1/orders/{order_id}/parts` has all of them. */
  readonly children_complete: boolean;
  /** Null without `refresh=1`. */
  readonly refresh: {
    /** `fresh`: the state at the service now. `partly`, `failed`: some or all payments could not be retrieved, or whether an unpaid order has another payment is unknown. `unknown`: the service knows no such payment. `off`: no API key of the service is set. */
    readonly outcome: 'fresh' | 'partly' | 'failed' | 'unknown' | 'off';
    /** Why it is not fresh. */
    readonly reason: string | null;
  } | null;
};

/** `PaymentChild` in the OpenAPI document. */
export type PaymentChild = {
  readonly kind: 'refund' | 'dispute';
  readonly id: string;
  /** The service's own status; null until the resource itself arrives. Payments: requires_payment_method, requires_confirmation, requires_action, requires_customer_action, requires_redirection, requires_merchant_action, processing, requires_capture, partially_authorized_and_requires_capture, partially_captured_and_processing, partially_captured_and_capturable, conflicted, review, failed, cancelled, expired, partially_captured, succeeded, cancelled_post_capture. Refunds: pending, review, succeeded, failed. Disputes: opened, challenged, expired, accepted, cancelled, lost, won. The service may add others. */
  readonly status: string | null;
  /** Disputes only. */
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amount: number | null;
  /** Why it failed, was canceled or, for a dispute, was opened: the service's codes and texts in one line, without card numbers. Null if the state needs no reason or the service sent none. */
  readonly reason: string | null;
  /** Why the state needs a retrieve before you rely on it. Usually empty. */
  readonly uncertainties: readonly string[];
  /** Classes of its open findings. */
  readonly open_findings: readonly string[];
  /** The service's own time. */
  readonly created_at: string | null;
  /** Disputes only. */
  readonly evidence_due_by: string | null;
};

/** `PaymentPage` in the OpenAPI document. */
export type PaymentPage = {
  readonly payments: readonly ListedPayment[];
  readonly totals: ListTotals;
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `Payout` in the OpenAPI document. */
export type Payout = {
  readonly payout_id: string;
  /** The merchant's own reference. */
  readonly reference: string | null;
  /** The service's own status; null until the resource itself arrives. Payments: requires_payment_method, requires_confirmation, requires_action, requires_customer_action, requires_redirection, requires_merchant_action, processing, requires_capture, partially_authorized_and_requires_capture, partially_captured_and_processing, partially_captured_and_capturable, conflicted, review, failed, cancelled, expired, partially_captured, succeeded, cancelled_post_capture. Refunds: pending, review, succeeded, failed. Disputes: opened, challenged, expired, accepted, cancelled, lost, won. The service may add others. */
  readonly status: string | null;
  readonly currency: string | null;
  readonly amount: number | null;
  /** Why it failed, was canceled or, for a dispute, was opened: the service's codes and texts in one line, without card numbers. Null if the state needs no reason or the service sent none. */
  readonly reason: string | null;
  readonly reason_detail: ReasonDetail;
  /** Why the state needs a retrieve before you rely on it. Usually empty. */
  readonly uncertainties: readonly string[];
  /** Classes of its open findings. */
  readonly open_findings: readonly string[];
  /** The service's own time. */
  readonly created_at: string | null;
  /** When Tallyhook first saw it. */
  readonly first_seen_at: string;
  /** When the ledger last recorded a change. */
  readonly updated_at: string;
};

/** `PayoutPage` in the OpenAPI document. */
export type PayoutPage = {
  readonly payouts: readonly Payout[];
  readonly totals: ListTotals;
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `PayoutResult` in the OpenAPI document. */
export type PayoutResult = {
  readonly payout_id: string;
  /** Status at the service afterwards; null if it could not be retrieved. */
  readonly status: string | null;
  /** Number of the attempt in the audit log. */
  readonly attempt: number;
};

/** `Process` in the OpenAPI document. */
export type Process = {
  readonly host: string;
  /** Process id on its host. */
  readonly pid: number;
  readonly roles: readonly string[];
  readonly version: string;
  /** `not_ready`: a check failed that its roles need; `missing`: it has sent no report for 30 seconds and did not stop cleanly. */
  readonly state: 'ready' | 'not_ready' | 'missing';
  /** The checks that failed at its last report, with their reasons. */
  readonly failures: readonly string[];
  /** UTC. */
  readonly started_at: string;
  /** Its last report; a process reports every ten seconds. */
  readonly last_seen_at: string;
};

/** `ProcessList` in the OpenAPI document. */
export type ProcessList = {
  readonly processes: readonly Process[];
};

/** `Queue` in the OpenAPI document. */
export type Queue = {
  readonly name: 'events' | 'reconcile';
  readonly does: string;
  /** Null if the queue cannot be read. */
  readonly jobs: {
    readonly waiting: number;
    readonly active: number;
    readonly delayed: number;
    readonly failed: number;
  } | null;
  readonly oldest_waiting_seconds: number | null;
  /** Why the queue cannot be read. */
  readonly error: string | null;
  /** What is due by the database: pending events. It decides; lost jobs are enqueued again from it. */
  readonly in_database: {
    readonly due: number;
    readonly oldest_seconds: number;
  } | null;
  /** The newest ten. */
  readonly failed_jobs: readonly {
    readonly id: string;
    readonly name: string;
    readonly attempts: number;
    readonly error: string;
    readonly failed_at: string | null;
  }[];
};

/** `QueueReport` in the OpenAPI document. */
export type QueueReport = {
  readonly backend: 'redis' | 'postgres';
  /** Whether a job could be added, claimed and finished. */
  readonly usable: boolean;
  readonly problem: {
    readonly reason: string;
    readonly remedy: string;
  } | null;
  readonly events_received_last_minute: number;
  readonly queues: readonly Queue[];
};

/** `RateBudget` in the OpenAPI document. */
export type RateBudget = {
  /** Null before the service has sent its limit. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Requests of background work in its current minute. */
  readonly background: number;
};

/** Null unless it failed, was returned or, for a dispute, always. */
export type ReasonDetail = {
  /** The service's code; disputes: the card network's code. Null if none was sent. */
  readonly code: string | null;
  readonly message: string | null;
  /** The acquirer's own code. */
  readonly error_code: string | null;
  /** The acquirer's own text. */
  readonly error_message: string | null;
  /** What it means and what to do, for operators. */
  readonly advice: string;
} | null;

/** `Reconciliation` in the OpenAPI document. */
export type Reconciliation = {
  readonly number: number;
  readonly stream: 'payments' | 'refunds' | 'disputes' | 'payouts';
  /** `totals`: rows were listed only where counts differed. */
  readonly mode: 'totals' | 'full';
  /** The schedule that started it, or `operator`. */
  readonly cause: string;
  readonly is_dry_run: boolean;
  readonly state: 'running' | 'paused' | 'stopped' | 'done' | 'failed';
  /** `equal`: rows were compared, and no difference remains. `empty`: neither side has a row in the span. */
  readonly verdict: 'equal' | 'different' | 'empty' | 'failed' | 'stopped' | 'unfinished';
  /** Time of creation; both bounds are included. */
  readonly from: string;
  /** UTC. */
  readonly to: string;
  /** Everything before this time is compared. */
  readonly checkpoint: string;
  /** UTC. */
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly windows: number;
  /** Requests to the service. */
  readonly requests: number;
  /** Rows that were listed and compared. */
  readonly rows_compared: number;
  /** Rows covered by counts that agreed, with mode `totals`. */
  readonly rows_counted: number;
  readonly found: number;
  readonly repaired: number;
  /** Found and not repaired; accepted findings do not count. */
  readonly remaining: number;
  /** Changes without a webhook in time. */
  readonly missed_webhooks: number;
  readonly failure: string | null;
  /** Who stopped it; null unless it is stopped. */
  readonly stopped_by: string | null;
  /** The first 200. */
  readonly differences: readonly {
    readonly class: string;
    readonly subject: string;
    readonly outcome: string;
  }[];
  /** How the sums of the service's analytics compared; they are only a hint. */
  readonly sums: 'agreed' | 'differed' | 'disproved' | 'not_calibrated' | 'unavailable' | null;
};

/** `ReconciliationPage` in the OpenAPI document. */
export type ReconciliationPage = {
  readonly reconciliations: readonly Reconciliation[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `Refund` in the OpenAPI document. */
export type Refund = {
  readonly refund_id: string;
  readonly payment_id: string | null;
  readonly order_id: string | null;
  readonly order_key: string | null;
  readonly named_by: 'order' | 'payment' | null;
  /** The service's own status; null until the resource itself arrives. Payments: requires_payment_method, requires_confirmation, requires_action, requires_customer_action, requires_redirection, requires_merchant_action, processing, requires_capture, partially_authorized_and_requires_capture, partially_captured_and_processing, partially_captured_and_capturable, conflicted, review, failed, cancelled, expired, partially_captured, succeeded, cancelled_post_capture. Refunds: pending, review, succeeded, failed. Disputes: opened, challenged, expired, accepted, cancelled, lost, won. The service may add others. */
  readonly status: string | null;
  readonly currency: string | null;
  readonly amount: number | null;
  /** Why it was requested. */
  readonly requested_for: string | null;
  /** Why it failed, was canceled or, for a dispute, was opened: the service's codes and texts in one line, without card numbers. Null if the state needs no reason or the service sent none. */
  readonly reason: string | null;
  readonly reason_detail: ReasonDetail;
  /** Why the state needs a retrieve before you rely on it. Usually empty. */
  readonly uncertainties: readonly string[];
  /** Classes of its open findings. */
  readonly open_findings: readonly string[];
  /** The service's own time. */
  readonly created_at: string | null;
  /** When Tallyhook first saw it. */
  readonly first_seen_at: string;
  /** When the ledger last recorded a change. */
  readonly updated_at: string;
};

/** `RefundPage` in the OpenAPI document. */
export type RefundPage = {
  readonly refunds: readonly Refund[];
  readonly totals: ListTotals;
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `RefundResult` in the OpenAPI document. */
export type RefundResult = {
  readonly payment_id: string;
  readonly refund_id: string;
  /** What was refunded. */
  readonly amount: number;
  /** ISO 4217. */
  readonly currency: string;
  /** Status of the refund at the service; null if it could not be retrieved. */
  readonly status: string | null;
  /** Number of the attempt in the audit log. */
  readonly attempt: number;
};

/** `Registration` in the OpenAPI document. */
export type Registration = {
  readonly registration: 'registered' | 'unchanged' | 'replaced';
  readonly order: Order;
};

/** `Replay` in the OpenAPI document. */
export type Replay = {
  /** Inbox number. */
  readonly number: number;
  /** False if the queue is unavailable: the event is enqueued within two minutes. */
  readonly enqueued: boolean;
};

/** `ReplayOfEvents` in the OpenAPI document. */
export type ReplayOfEvents = {
  readonly number: number;
  /** Which events; an order is replaced by the inbox numbers of its events. */
  readonly filter: {
    readonly state?: 'pending' | 'applied' | 'not_applied' | 'dead' | 'discarded' | undefined;
    /** Only events of this type. */
    readonly type?: string | undefined;
    /** Only events received at this time or later. UTC. */
    readonly from?: string | undefined;
    /** Only events received before this time. UTC. */
    readonly to?: string | undefined;
    readonly numbers?: readonly number[] | undefined;
  };
  readonly reason: string;
  readonly requested_by: string;
  /** UTC. */
  readonly requested_at: string;
  /** How many events matched at the request. */
  readonly planned: number;
  /** False if there were more than were counted. */
  readonly is_planned_complete: boolean;
  readonly state: 'running' | 'stopped' | 'done';
  /** Events that are pending again, or were since. */
  readonly replayed: number;
  /** Events without a body. */
  readonly refused: number;
  /** The first of them. */
  readonly refusals: readonly {
    readonly number: number;
    readonly reason: string;
  }[];
  readonly stopped_by: string | null;
  readonly finished_at: string | null;
};

/** `ReplayPage` in the OpenAPI document. */
export type ReplayPage = {
  readonly replays: readonly ReplayOfEvents[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `RequestedRun` in the OpenAPI document. */
export type RequestedRun = {
  readonly name: string;
};

/** `ResourceSnapshots` in the OpenAPI document. */
export type ResourceSnapshots = {
  readonly snapshots: readonly Snapshot[];
  /** False if only the newest 500 are listed. */
  readonly snapshots_complete: boolean;
};

/** `ResourceTimeline` in the OpenAPI document. */
export type ResourceTimeline = {
  /** Oldest first, by effective time: snapshots and transfers by `effective_at`, everything else by `at`. */
  readonly timeline: readonly TimelineEntry[];
  /** False if only the entries that were recorded last are listed. */
  readonly timeline_complete: boolean;
};

/** `RetriedPayout` in the OpenAPI document. */
export type RetriedPayout = {
  /** The payout that failed. */
  readonly payout_id: string;
  readonly new_payout_id: string;
  /** Status at the service afterwards; null if it could not be retrieved. */
  readonly status: string | null;
  /** Number of the attempt in the audit log. */
  readonly attempt: number;
};

/** `Schedule` in the OpenAPI document. */
export type Schedule = {
  readonly name: string;
  readonly does: string;
  /** When it runs, in words. */
  readonly every: string;
  /** When it runs, as a cron expression in UTC. */
  readonly cron: string;
  /** `once`: one scheduler runs each slot; `everywhere`: each does, which is not recorded. */
  readonly runs: 'once' | 'everywhere';
  /** The slot of its latest run, or when it was requested. */
  readonly last_slot_at: string | null;
  /** `interrupted`: its process ended, and another one takes over; `never`: no run yet; `unrecorded`: it runs everywhere. */
  readonly result: 'running' | 'done' | 'failed' | 'interrupted' | 'never' | 'unrecorded';
  /** Why the latest run failed. */
  readonly error: string | null;
  /** Null until the run has ended. */
  readonly duration_seconds: number | null;
  readonly next_slot_at: string | null;
  /** A slot has been due for more than two minutes. */
  readonly overdue: boolean;
  /** A request to run it at once that was not served yet. */
  readonly request: ScheduleRequest | null;
};

/** `ScheduleList` in the OpenAPI document. */
export type ScheduleList = {
  readonly schedules: readonly Schedule[];
};

/** `ScheduleRequest` in the OpenAPI document. */
export type ScheduleRequest = {
  /** UTC. */
  readonly requested_at: string;
  readonly requested_by: string;
  readonly reason: string;
};

/** `SearchMatch` in the OpenAPI document. */
export type SearchMatch = {
  readonly kind: 'order' | 'payment' | 'refund' | 'dispute' | 'payout' | 'event' | 'alert' | 'finding' | 'message' | 'run';
  /** The id; of an event, alert, finding, message or run its number. */
  readonly id: string;
  readonly state: string;
  /** Of an order what was captured, of a resource its amount. */
  readonly amounts: readonly {
    /** Minor units of the currency beside it. */
    readonly amount: number;
    /** ISO 4217. */
    readonly currency: string;
  }[];
  /** The shop's order; null if none is known. */
  readonly order_id: string | null;
  readonly about: string | null;
  readonly at: string | null;
};

/** `SearchResult` in the OpenAPI document. */
export type SearchResult = {
  readonly matches: readonly SearchMatch[];
  /** False if not everything was searched or returned. */
  readonly complete: boolean;
  /** `in=bodies`: the oldest day of which every body was searched. */
  readonly searched_through: string | null;
};

/** `Snapshot` in the OpenAPI document. */
export type Snapshot = {
  /** Names it among the snapshots of its resource. */
  readonly snapshot_id: string;
  /** `webhook`: an event; `retrieve`, `list`: a request to the service. */
  readonly source: 'webhook' | 'retrieve' | 'list';
  /** Inbox number of the event that brought it. */
  readonly event_number: number | null;
  readonly event_id: string | null;
  readonly event_type: string | null;
  /** Whether the state of the resource comes from it now. */
  readonly is_current: boolean;
  /** UTC. */
  readonly recorded_at: string;
  /** What the ledger read, without personal data. Amounts are minor units, names that end in `_micros` microseconds since 1970. */
  readonly content: Readonly<Record<string, string | number>>;
};

/** `StartedReconciliations` in the OpenAPI document. */
export type StartedReconciliations = {
  readonly streams: readonly ('payments' | 'refunds' | 'disputes' | 'payouts')[];
  /** Number of the attempt in the audit log. */
  readonly attempt: number;
};

/** `Statement` in the OpenAPI document. */
export type Statement = {
  /** A month such as `2026-10`. */
  readonly month: string;
  /** The name of a time zone such as `Europe/Berlin`, in which months and days begin. */
  readonly time_zone: string;
  /** The first instant of the month. */
  readonly from: string;
  /** The first instant after it. */
  readonly to: string;
  /** When it was read; what is recorded later is not in it. */
  readonly known_at: string;
  /** The closing of the month, which froze its sums; null: it is not closed. */
  readonly closing: Closing | null;
  /** Every closing of the month, also those of before. */
  readonly closings: readonly Closing[];
  /** The time zone in which months are closed. In another one, closings and late postings are not considered. */
  readonly closed_in: string | null;
  /** What belongs to earlier months, which were closed, and is booked in this one: in its accounts, not in its days and totals. */
  readonly late_postings: {
    readonly totals: readonly {
      /** The month to which they belong. */
      readonly month: string;
      /** The month in which they are booked. */
      readonly booked_in: string;
      /** ISO 4217. */
      readonly currency: string;
      /** Totals by name. */
      readonly totals: readonly {
        readonly name: 'captured' | 'voided' | 'refunded' | 'disputed' | 'won' | 'lost' | 'paid_out' | 'payouts_reversed';
        /** How many movements; one that was taken back counts too. */
        readonly count: number;
        /** Less what was taken back. */
        readonly amount: number;
      }[];
      /** Captured, less voided, refunded and lost. */
      readonly net: number;
    }[];
    /** At most 50, by number. */
    readonly first: readonly {
      /** Its number in the journal. */
      readonly transfer: number;
      /** A resource, or a line of a settlement report or bank statement. */
      readonly kind: 'payment' | 'refund' | 'dispute' | 'payout' | 'settlement_line' | 'bank_line';
      /** Its id, or the number of the line. */
      readonly resource_id: string;
      readonly leg: string;
      /** ISO 4217. */
      readonly currency: string;
      /** Minor units of the currency beside it; may be negative. */
      readonly amount: number;
      /** UTC. */
      readonly effective_at: string;
      /** UTC. */
      readonly recorded_at: string;
    }[];
  };
  /** What belongs to this month, came after it was closed, and is booked in a later one. */
  readonly booked_later: {
    readonly totals: readonly {
      /** The month to which they belong. */
      readonly month: string;
      /** The month in which they are booked. */
      readonly booked_in: string;
      /** ISO 4217. */
      readonly currency: string;
      /** Totals by name. */
      readonly totals: readonly {
        readonly name: 'captured' | 'voided' | 'refunded' | 'disputed' | 'won' | 'lost' | 'paid_out' | 'payouts_reversed';
        /** How many movements; one that was taken back counts too. */
        readonly count: number;
        /** Less what was taken back. */
        readonly amount: number;
      }[];
      /** Captured, less voided, refunded and lost. */
      readonly net: number;
    }[];
    /** At most 50, by number. */
    readonly first: readonly {
      /** Its number in the journal. */
      readonly transfer: number;
      /** A resource, or a line of a settlement report or bank statement. */
      readonly kind: 'payment' | 'refund' | 'dispute' | 'payout' | 'settlement_line' | 'bank_line';
      /** Its id, or the number of the line. */
      readonly resource_id: string;
      readonly leg: string;
      /** ISO 4217. */
      readonly currency: string;
      /** Minor units of the currency beside it; may be negative. */
      readonly amount: number;
      /** UTC. */
      readonly effective_at: string;
      /** UTC. */
      readonly recorded_at: string;
    }[];
  };
  readonly currencies: readonly {
    /** ISO 4217. */
    readonly currency: string;
    /** Totals by name. */
    readonly totals: readonly {
      readonly name: 'captured' | 'voided' | 'refunded' | 'disputed' | 'won' | 'lost' | 'paid_out' | 'payouts_reversed';
      /** How many movements; one that was taken back counts too. */
      readonly count: number;
      /** Less what was taken back. */
      readonly amount: number;
    }[];
    /** Captured, less voided, refunded and lost. */
    readonly net: number;
    /** Movements of the month that were recorded after it had ended. */
    readonly recorded_late: {
      readonly count: number;
      /** Minor units of the currency beside it. */
      readonly amount: number;
    };
    readonly accounts: readonly {
      readonly account: 'psp.clearing' | 'order.due' | 'order.refunds' | 'refund.in_flight' | 'memo.auth_open' | 'memo.auth_contra' | 'dispute.held' | 'loss.disputes' | 'payout.in_transit' | 'payout.paid' | 'fees.service' | 'service.adjustments' | 'bank.account';
      /** Minor units of the currency beside it. */
      readonly amount_debited: number;
      /** Minor units of the currency beside it. */
      readonly amount_credited: number;
      /** Debits minus credits before the month. */
      readonly opening: number;
      /** The opening balance with the movements of the month. */
      readonly closing: number;
    }[];
    /** psp.clearing: what moved it, by who states it. */
    readonly clearing: {
      /** Minor units of the currency beside it; may be negative. */
      readonly opening: number;
      readonly movements: readonly {
        readonly name: 'service' | 'fees' | 'adjustments' | 'bank';
        readonly count: number;
        /** What it added to psp.clearing, late postings included. */
        readonly amount: number;
      }[];
      /** Minor units of the currency beside it; may be negative. */
      readonly closing: number;
    };
    readonly days: readonly {
      /** In the time zone of the statement. */
      readonly day: string;
      /** Totals by name. */
      readonly totals: readonly {
        readonly name: 'captured' | 'voided' | 'refunded' | 'disputed' | 'won' | 'lost' | 'paid_out' | 'payouts_reversed';
        /** How many movements; one that was taken back counts too. */
        readonly count: number;
        /** Less what was taken back. */
        readonly amount: number;
      }[];
      /** Captured, less voided, refunded and lost. */
      readonly net: number;
      readonly accounts: readonly {
        readonly account: 'psp.clearing' | 'order.due' | 'order.refunds' | 'refund.in_flight' | 'memo.auth_open' | 'memo.auth_contra' | 'dispute.held' | 'loss.disputes' | 'payout.in_transit' | 'payout.paid' | 'fees.service' | 'service.adjustments' | 'bank.account';
        /** Minor units of the currency beside it. */
        readonly amount_debited: number;
        /** Minor units of the currency beside it. */
        readonly amount_credited: number;
      }[];
    }[];
  }[];
  /** What was in psp.clearing at the end of the month and why, as it is known now; null: see not_matched. */
  readonly unmatched: {
    readonly clearing: readonly Clearing[];
    /** The oldest items of each currency, at most 10. */
    readonly oldest: readonly UnmatchedItem[];
  } | null;
  /** Why unmatched is null: no settlement report or bank statement was imported, or the journal has more than a million transfers. */
  readonly not_matched: 'not_imported' | 'too_large' | null;
  /** What was under way at the end of the month. */
  readonly open_items: readonly {
    readonly item: 'hold' | 'refund' | 'dispute' | 'payout';
    /** ISO 4217. */
    readonly currency: string;
    readonly count: number;
    /** Minor units of the currency beside it; may be negative. */
    readonly amount: number;
    readonly oldest: readonly {
      readonly id: string;
      /** Minor units of the currency beside it; may be negative. */
      readonly amount: number;
      /** UTC. */
      readonly since: string;
    }[];
  }[];
  readonly open_findings: {
    readonly count: number;
    readonly oldest: readonly {
      readonly number: number;
      readonly class: string;
      readonly subject: string;
      /** UTC. */
      readonly opened_at: string;
      /** Whether it was open at the end of the month. */
      readonly open_at_end: boolean;
      readonly accepted_at: string | null;
      readonly accepted_by: string | null;
      readonly accepted_reason: string | null;
    }[];
  };
  /** Findings that a person accepted in the month. */
  readonly accepted_findings: readonly {
    readonly number: number;
    readonly class: string;
    readonly subject: string;
    /** UTC. */
    readonly opened_at: string;
    /** Whether it was open at the end of the month. */
    readonly open_at_end: boolean;
    readonly accepted_at: string | null;
    readonly accepted_by: string | null;
    readonly accepted_reason: string | null;
  }[];
  /** Resources with a state that needs a retrieve now. */
  readonly uncertain_resources: number;
  /** Which part of the month was compared with the lists of the service. */
  readonly coverage: readonly {
    readonly list: string;
    readonly runs: number;
    readonly last_compared_at: string | null;
    readonly found: number;
    readonly repaired: number;
    readonly not_compared: readonly {
      /** UTC. */
      readonly from: string;
      /** UTC. */
      readonly to: string;
    }[];
  }[];
  /** The last block of the chain of the journal when it was read: keep it. */
  readonly chain_head: ChainHead | null;
};

/** `TestedChannel` in the OpenAPI document. */
export type TestedChannel = {
  readonly channel: 'log' | 'webhook' | 'slack' | 'mail' | 'shop';
  readonly outcome: 'delivered' | 'failed';
  /** A status, never a body or an address. */
  readonly response: string;
};

/** `TimelineEntry` in the OpenAPI document. */
export type TimelineEntry = {
  readonly type: 'event';
  /** When Tallyhook recorded it; of an event, when it was received. */
  readonly at: string;
  /** The entry in one sentence. */
  readonly text: string;
  readonly number: number;
  readonly event_id: string | null;
  readonly event_type: string | null;
} | {
  readonly type: 'snapshot';
  /** When Tallyhook recorded it; of an event, when it was received. */
  readonly at: string;
  /** The entry in one sentence. */
  readonly text: string;
  readonly kind: 'payment' | 'refund' | 'dispute' | 'payout';
  readonly id: string;
  /** When the service changed the resource. */
  readonly effective_at: string;
  /** The service's own status; null until the resource itself arrives. Payments: requires_payment_method, requires_confirmation, requires_action, requires_customer_action, requires_redirection, requires_merchant_action, processing, requires_capture, partially_authorized_and_requires_capture, partially_captured_and_processing, partially_captured_and_capturable, conflicted, review, failed, cancelled, expired, partially_captured, succeeded, cancelled_post_capture. Refunds: pending, review, succeeded, failed. Disputes: opened, challenged, expired, accepted, cancelled, lost, won. The service may add others. */
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amount: number | null;
  readonly amount_received: number | null;
  /** Failed payments only. */
  readonly decline: Decline | null;
  /** Why it failed, was canceled or, for a dispute, was opened: the service's codes and texts in one line, without card numbers. Null if the state needs no reason or the service sent none. */
  readonly reason: string | null;
  /** Whether this snapshot is the current state of the resource. */
  readonly is_current: boolean;
  readonly cause: Cause;
} | {
  readonly type: 'transfer';
  /** When Tallyhook recorded it; of an event, when it was received. */
  readonly at: string;
  /** The entry in one sentence. */
  readonly text: string;
  readonly kind: 'payment' | 'refund' | 'dispute' | 'payout';
  readonly id: string;
  /** When the service moved the money; null: not known yet, after an upgrade. */
  readonly effective_at: string | null;
  readonly leg: string;
  readonly debit: string;
  readonly credit: string;
  /** ISO 4217. */
  readonly currency: string;
  /** Minor units of the currency beside it. */
  readonly amount: number;
  /** Total of the leg after this transfer. */
  readonly amount_cumulative: number;
  readonly cause: Cause | null;
} | {
  readonly type: 'status';
  /** When Tallyhook recorded it; of an event, when it was received. */
  readonly at: string;
  /** The entry in one sentence. */
  readonly text: string;
  readonly status: 'charged_back' | 'disputed' | 'refunded' | 'partially_refunded' | 'paid' | 'partially_captured' | 'authorized' | 'pending' | 'expired' | 'cancelled' | 'failed' | 'moved' | null;
  readonly previous_status: 'charged_back' | 'disputed' | 'refunded' | 'partially_refunded' | 'paid' | 'partially_captured' | 'authorized' | 'pending' | 'expired' | 'cancelled' | 'failed' | 'moved' | null;
  readonly cause: Cause | null;
} | {
  readonly type: 'registered';
  /** When Tallyhook recorded it; of an event, when it was received. */
  readonly at: string;
  /** The entry in one sentence. */
  readonly text: string;
  /** ISO 4217. */
  readonly currency: string;
  /** Minor units of the currency beside it. */
  readonly amount: number;
  /** Name of the caller's token. */
  readonly by: string;
} | {
  readonly type: 'finding_opened' | 'finding_closed';
  /** When Tallyhook recorded it; of an event, when it was received. */
  readonly at: string;
  /** The entry in one sentence. */
  readonly text: string;
  readonly number: number;
  readonly class: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
} | {
  readonly type: 'alert_opened' | 'alert_acknowledged' | 'alert_resolved';
  /** When Tallyhook recorded it; of an event, when it was received. */
  readonly at: string;
  /** The entry in one sentence. */
  readonly text: string;
  /** As in `/api/v1/alerts`. */
  readonly number: number;
  readonly rule: string;
  readonly subject: string;
  readonly severity: string;
} | {
  readonly type: 'action';
  /** When Tallyhook recorded it; of an event, when it was received. */
  readonly at: string;
  /** The entry in one sentence. */
  readonly text: string;
  /** As in `/api/v1/audit`. */
  readonly number: number;
  readonly action: 'access.denied' | 'alert.acknowledge' | 'alert.assign' | 'alert.snooze' | 'alert.test' | 'archive.clear' | 'archive.restore' | 'attempt.close' | 'authorization.cancel' | 'authorization.capture' | 'dispute.accept' | 'dispute.evidence' | 'dispute.upload' | 'erasure.finish' | 'erasure.request' | 'event.discard' | 'event.forward' | 'event.replay' | 'finding.accept' | 'journal.export' | 'list.export' | 'message.resend' | 'order.register' | 'payment.refund' | 'payout.cancel' | 'payout.fulfill' | 'payout.retry' | 'period.close' | 'period.reopen' | 'reconciliation.pause' | 'reconciliation.resume' | 'reconciliation.start' | 'reconciliation.stop' | 'replay.start' | 'replay.stop' | 'resource.refresh' | 'retention.run' | 'sandbox.use' | 'schedule.run' | 'session.end' | 'session.refuse' | 'session.start' | 'settlement.import' | 'settlement.match' | 'settlement.unmatch' | 'system.start' | 'system.stop' | 'token.create' | 'token.revoke';
  readonly subject: {
    readonly kind: string;
    readonly id: string;
  };
  /** Name of the person or token. */
  readonly by: string;
  readonly role: string;
  readonly reason: string | null;
  readonly result: 'requested' | 'done' | 'failed' | 'refused' | 'unknown';
  readonly attempt: number | null;
};

/** `Token` in the OpenAPI document. */
export type Token = {
  readonly name: string;
  readonly role: 'metrics' | 'viewer' | 'shop' | 'operator' | 'treasurer' | 'admin';
  readonly state: 'valid' | 'expired' | 'revoked';
  /** UTC. */
  readonly created_at: string;
  readonly created_by: string;
  /** To the minute. */
  readonly last_used_at: string | null;
  /** Null: it does not expire. */
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly revoked_by: string | null;
};

/** `TokenPage` in the OpenAPI document. */
export type TokenPage = {
  readonly tokens: readonly Token[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `Transfer` in the OpenAPI document. */
export type Transfer = {
  /** Its number, which rises with the time of recording. */
  readonly transfer: number;
  /** When Tallyhook posted it. */
  readonly recorded_at: string;
  /** When the service moved the money; null: not known yet, after an upgrade. */
  readonly effective_at: string | null;
  /** Where that time comes from: the change itself, the change before, the creation of the object, the webhook or response, or the day that a line states. */
  readonly effective_source: 'version' | 'previous' | 'created' | 'observed' | 'stated' | null;
  /** What moved the money: a resource, or a line of a settlement report or bank statement. */
  readonly kind: 'payment' | 'refund' | 'dispute' | 'payout' | 'settlement_line' | 'bank_line';
  /** Its id, or the number of the line. */
  readonly resource_id: string;
  readonly order_id: string | null;
  readonly order_key: string | null;
  readonly named_by: 'order' | 'payment' | null;
  /** What moved the money, such as `captured` or `settled`. */
  readonly leg: string;
  /** Its number within the leg of this resource and currency. */
  readonly number: number;
  readonly debit: string;
  readonly credit: string;
  /** ISO 4217. */
  readonly currency: string;
  /** Minor units of the currency beside it. */
  readonly amount: number;
  readonly event_id: string | null;
  /** The event that caused it; null: a read from the service, or a line. */
  readonly inbox: number | null;
  /** SHA-256 of the content that caused it. */
  readonly head_hash: string;
};

/** `TransferPage` in the OpenAPI document. */
export type TransferPage = {
  readonly transfers: readonly Transfer[];
  readonly totals: TransferTotals;
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** Null without `totals=1`. */
export type TransferTotals = {
  /** How many rows match; the number of those counted if `complete` is false. */
  readonly count: number;
  /** False if there are more rows than were counted: only the newest 5,000 resources or transfers, or 1,000 orders, are searched, and the sums are those of the counted ones. */
  readonly complete: boolean;
  readonly currencies: readonly {
    /** ISO 4217. */
    readonly currency: string;
    readonly count: number;
    /** Minor units of the currency beside it. */
    readonly amount: number;
    /** To the account of the filter; 0 without one. */
    readonly amount_debited: number;
    /** From the account of the filter; 0 without one. */
    readonly amount_credited: number;
  }[];
} | null;

/** `UnmatchedItem` in the OpenAPI document. */
export type UnmatchedItem = {
  /** Why the money is in clearing. */
  readonly part: 'not_reported' | 'reported_differently' | 'unknown_lines' | 'not_arrived' | 'arrived_differently' | 'unknown_arrivals';
  /** Such as `payment:pay_1`, `line:12` or `settlement:3`: what is unmatched. */
  readonly subject: string;
  /** What the report calls a settlement, or what a line names; null for resources. */
  readonly reference: string | null;
  /** ISO 4217. */
  readonly currency: string;
  /** Minor units of the currency beside it; may be negative. */
  readonly amount: number;
  /** UTC. */
  readonly since: string;
};

/** `UnmatchedPage` in the OpenAPI document. */
export type UnmatchedPage = {
  readonly unmatched: readonly UnmatchedItem[];
  /** Send it as `cursor` to get the next page; null on the last page. */
  readonly next_cursor: string | null;
};

/** `UploadedEvidence` in the OpenAPI document. */
export type UploadedEvidence = {
  readonly dispute_id: string;
  readonly file_id: string;
  /** Number of the attempt in the audit log. */
  readonly attempt: number;
};
