/**
 * What each command prints as JSON when it does not fail: for the reference, the JSON Schemas and the
 * tests, which check every output. Where the admin API returns the same, its response is the shape.
 */
import { z } from 'zod';
import type { OperationName } from '../adminApi/operations.ts';
import { ENDPOINTS } from '../console/endpoints.ts';
import { chainHead } from '../console/routes/chain.ts';
import * as own from './outputSchemas.ts';

/**
 * `document`: one JSON document. `lines`: one JSON value in each line. `watched`: a document; with `--watch`,
 * one in each line, or an error while the database is lost.
 */
export type OutputForm = 'document' | 'lines' | 'watched';

export interface CommandOutput {
  readonly form: OutputForm;
  /** What makes the command print it; undefined: `--json`. */
  readonly given?: '--format json' | 'always';
  readonly schema: z.ZodType;
  /** The operation of the admin API with this response. */
  readonly operation?: OperationName;
}

function responseOf(operation: OperationName): z.ZodType {
  const endpoint = ENDPOINTS.find(({ id }) => id === operation);
  if (!endpoint) throw new Error(`the admin API has no operation ${operation}`);
  return endpoint.response;
}

type Fields = Readonly<Record<string, z.ZodType>>;

/** The fields of a response that is an object. */
function fieldsOf(operation: OperationName): Fields {
  return objectFields(responseOf(operation));
}

function objectFields(schema: z.ZodType | undefined): Fields {
  if (schema instanceof z.ZodObject) return schema.shape as Fields;
  throw new Error('the schema is no object');
}

/** A field of a response. */
function field(operation: OperationName, name: string): z.ZodType {
  const found = fieldsOf(operation)[name];
  if (found) return found;
  throw new Error(`${operation} has no field ${name}`);
}

/** The rows of a list. */
function rowsOf(operation: OperationName, name: string): z.ZodType {
  const list = field(operation, name);
  if (list instanceof z.ZodArray) return list.element as z.ZodType;
  throw new Error(`${name} of ${operation} is no list`);
}

function document(schema: z.ZodType): CommandOutput {
  return { form: 'document', schema };
}

function lines(schema: z.ZodType): CommandOutput {
  return { form: 'lines', schema };
}

function sameAs(operation: OperationName): CommandOutput {
  return { ...document(responseOf(operation)), operation };
}

function object(id: string, fields: Fields): z.ZodType {
  return z.strictObject({ ...fields }).meta({ id });
}

interface Added {
  /** Fields that are null if it was not done. */
  readonly onlyIfDone?: readonly string[];
  readonly more?: Fields;
}

/** The result of an action, with its outcome. */
function acted(id: string, operation: OperationName, { onlyIfDone = [], more = {} }: Added = {}) {
  const fields = Object.entries(fieldsOf(operation)).map(([name, schema]) => [
    name,
    onlyIfDone.includes(name) ? schema.nullable() : schema,
  ]);
  return document(object(id, { ...Object.fromEntries(fields), outcome: own.outcome, ...more }));
}

const { refresh: _refresh, ...orderFields } = fieldsOf('getOrder');
const authorizationOutcome = acted('AuthorizationOutcome', 'captureAuthorization', {
  onlyIfDone: ['currency'],
  more: { reason: z.string().nullable() },
});
const disputeOutcome = acted('DisputeOutcome', 'acceptDispute');
const payoutOutcome = acted('PayoutOutcome', 'cancelPayout');
const erasureProof = (): z.ZodType => {
  const proof = field('getErasure', 'proof');
  return proof instanceof z.ZodNullable ? (proof.unwrap() as z.ZodType) : proof;
};

/** Every command that prints JSON. */
export const COMMAND_OUTPUTS: Readonly<Record<string, CommandOutput>> = {
  start: lines(own.started),
  demo: document(own.demo),
  sandbox: lines(own.startedSandbox),
  trigger: document(own.triggered),
  migrate: document(own.migrated),
  sign: document(own.signed),
  send: document(own.sent),
  'orders list': sameAs('listOrders'),
  'orders show': document(
    object('OrdersNamed', { orders: z.array(object('OrderWithTimeline', orderFields)) }),
  ),
  'orders parts': lines(rowsOf('listOrderParts', 'parts')),
  'orders explain': document(
    own.explanationSchema(orderFields, objectFields(rowsOf('getOrder', 'totals'))),
  ),
  'payments list': sameAs('listPayments'),
  'payments refund': acted('RefundOutcome', 'refundPayment', { onlyIfDone: ['refund_id'] }),
  'refunds list': sameAs('listRefunds'),
  'disputes list': sameAs('listDisputes'),
  'disputes accept': disputeOutcome,
  'disputes evidence': sameAs('getEvidence'),
  'disputes submit': disputeOutcome,
  'disputes upload': acted('UploadOutcome', 'uploadEvidence', { onlyIfDone: ['file_id'] }),
  'payouts list': sameAs('listPayouts'),
  'payouts retry': acted('RetryOutcome', 'retryPayout', { onlyIfDone: ['new_payout_id'] }),
  'payouts cancel': payoutOutcome,
  'payouts fulfill': payoutOutcome,
  'events list': sameAs('listEvents'),
  'events show': document(object('EventWithBody', { ...fieldsOf('getEvent'), ...own.bodyFields })),
  'events variants': document(
    object('EventVariants', {
      variants: z.array(own.variant),
      next_cursor: field('listEvents', 'next_cursor'),
    }),
  ),
  'events replay': document(own.replayed),
  'events discard': sameAs('discardEvent'),
  tail: lines(rowsOf('listEvents', 'events')),
  listen: lines(own.listened),
  find: sameAs('search'),
  'alerts list': sameAs('listAlerts'),
  'alerts show': sameAs('getAlert'),
  'alerts ack': sameAs('acknowledgeAlert'),
  'alerts snooze': sameAs('snoozeAlert'),
  'alerts assign': sameAs('assignAlert'),
  'alerts test': document(
    object('TestedChannels', { channels: z.array(responseOf('testChannel')) }),
  ),
  'messages list': sameAs('listMessages'),
  'messages show': sameAs('getMessage'),
  'messages resend': sameAs('resendMessage'),
  'authorizations list': sameAs('listAuthorizations'),
  'authorizations capture': authorizationOutcome,
  'authorizations cancel': authorizationOutcome,
  reconcile: document(
    object('Reconciled', {
      reconciliations: z.array(responseOf('getReconciliation')),
      refused: own.notCompared,
    }),
  ),
  'reconciliations list': sameAs('listReconciliations'),
  'reconciliations stop': sameAs('stopReconciliation'),
  refresh: document(own.refreshed),
  'replays start': sameAs('startReplay'),
  'replays list': sameAs('listReplays'),
  'replays show': sameAs('getReplay'),
  'replays stop': sameAs('stopReplay'),
  'findings list': sameAs('listFindings'),
  'findings accept': sameAs('acceptFindings'),
  'audit list': sameAs('listAudit'),
  'audit close': sameAs('closeAttempt'),
  erase: document(own.erasedSchema(responseOf('getErasure'), erasureProof())),
  'erasures list': sameAs('listErasures'),
  'erasures check': document(erasureProof().meta({ id: 'ErasureProof' })),
  'sessions list': sameAs('listSessions'),
  'sessions end': sameAs('endSession'),
  'tokens create': sameAs('createToken'),
  'tokens list': sameAs('listTokens'),
  'tokens revoke': sameAs('revokeToken'),
  status: {
    form: 'watched',
    schema: own.statusSchema({
      reconciliations: responseOf('getReconciliation'),
      processes: rowsOf('listProcesses', 'processes'),
    }),
  },
  open: document(own.opened),
  doctor: document(own.doctor),
  processes: sameAs('listProcesses'),
  queues: sameAs('listQueues'),
  'schedule list': sameAs('listSchedules'),
  'schedule run': sameAs('runSchedule'),
  settings: document(own.settings),
  pause: sameAs('pauseReconciliation'),
  resume: sameAs('resumeReconciliation'),
  balances: document(
    object('DatedBalances', { ...own.balanceTimes, accounts: field('getBalances', 'accounts') }),
  ),
  statement: { ...sameAs('getStatement'), given: '--format json' },
  'chain head': { ...document(chainHead), given: 'always' },
  close: sameAs('closeMonth'),
  reopen: sameAs('reopenMonth'),
  'closings list': sameAs('listClosings'),
  'transfers list': sameAs('listTransfers'),
  'settle import': document(own.settlementImport),
  'settle list': document(own.settlementFiles),
  'settle show': document(own.settlementFile),
  'settle unmatched': document(own.unmatchedLines),
  'settle match': document(own.matchedLine),
  'settle unmatch': document(own.unmatchedLine),
  verify: document(own.verified),
  'archive list': document(own.archived),
  'archive verify': document(own.archiveReport),
  'archive import': document(own.imported),
  'retention show': document(own.retentionPlan),
  'retention run': document(z.union([own.removed, own.retentionPlan])),
};
