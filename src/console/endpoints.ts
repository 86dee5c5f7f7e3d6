/** Every endpoint of the admin API. The app and its OpenAPI document are built from this table. */
import type { Endpoint } from './endpoint.ts';
import { acknowledge, assign, getAlert, listAlerts, snooze } from './routes/alerts.ts';
import { closeAttempt, listAudit } from './routes/audit.ts';
import { listAuthorizations } from './routes/authorizations.ts';
import { getBalances } from './routes/balances.ts';
import { cancelAuthorization, captureAuthorization } from './routes/captureOrCancel.ts';
import { getChain } from './routes/chain.ts';
import { listChanges } from './routes/changes.ts';
import { listChannels, testChannel } from './routes/channels.ts';
import { getClearing, listUnmatched } from './routes/clearing.ts';
import { closeMonth, getMonth, listClosings, reopenMonth } from './routes/closings.ts';
import { acceptDispute, getEvidence, submitEvidence, uploadEvidence } from './routes/disputes.ts';
import {
  getErasure,
  listErasures,
  planErasureEndpoint,
  requestErasure,
} from './routes/erasures.ts';
import { discard, getEvent, listEvents, replay } from './routes/events.ts';
import { accept, acceptFindings, listFindings } from './routes/findings.ts';
import { getMessage, listMessages, resend } from './routes/messages.ts';
import { getOrder, listOrderParts, listOrders, putOrder } from './routes/orders.ts';
import { pause, resume } from './routes/pause.ts';
import { getPayment } from './routes/payments.ts';
import { cancelPayout, fulfillPayout, retryPayout } from './routes/payouts.ts';
import { listProcesses } from './routes/processes.ts';
import { listQueues } from './routes/queues.ts';
import {
  getRateBudget,
  getReconciliation,
  listMissedWebhooks,
  listReconciliations,
  startReconciliation,
  stopReconciliation,
} from './routes/reconciliations.ts';
import { refundPayment } from './routes/refundPayment.ts';
import { getReplay, listReplays, startReplay, stopReplay } from './routes/replays.ts';
import { getTimeline, listSnapshots } from './routes/resourceHistory.ts';
import {
  getDispute,
  getPayout,
  getRefund,
  listDisputes,
  listPayments,
  listPayouts,
  listRefunds,
} from './routes/resourceLists.ts';
import { listSchedules, runSchedule } from './routes/schedules.ts';
import { searchEverything } from './routes/search.ts';
import { endSession, listSessions } from './routes/sessions.ts';
import { getStatement } from './routes/statements.ts';
import { createToken, listTokens, revokeToken } from './routes/tokens.ts';
import { listTransfers } from './routes/transfers.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  searchEverything,
  listOrders,
  getOrder,
  listOrderParts,
  putOrder,
  listPayments,
  getPayment,
  listRefunds,
  getRefund,
  listDisputes,
  getDispute,
  listPayouts,
  getPayout,
  getTimeline,
  listSnapshots,
  listChanges,
  listEvents,
  getEvent,
  replay,
  discard,
  startReplay,
  listReplays,
  getReplay,
  stopReplay,
  listFindings,
  accept,
  acceptFindings,
  listAlerts,
  getAlert,
  acknowledge,
  snooze,
  assign,
  listMessages,
  getMessage,
  resend,
  listChannels,
  testChannel,
  listAuthorizations,
  captureAuthorization,
  cancelAuthorization,
  refundPayment,
  acceptDispute,
  getEvidence,
  submitEvidence,
  uploadEvidence,
  retryPayout,
  cancelPayout,
  fulfillPayout,
  listReconciliations,
  startReconciliation,
  getReconciliation,
  stopReconciliation,
  listMissedWebhooks,
  getRateBudget,
  getBalances,
  getChain,
  listTransfers,
  getClearing,
  listUnmatched,
  getStatement,
  listClosings,
  getMonth,
  closeMonth,
  reopenMonth,
  pause,
  resume,
  listProcesses,
  listQueues,
  listSchedules,
  runSchedule,
  listAudit,
  closeAttempt,
  listSessions,
  endSession,
  listTokens,
  createToken,
  revokeToken,
  planErasureEndpoint,
  requestErasure,
  listErasures,
  getErasure,
];
