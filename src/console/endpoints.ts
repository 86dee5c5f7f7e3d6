/** Every endpoint of the admin API. The app and its OpenAPI document are built from this table. */
import type { Endpoint } from './endpoint.ts';
import { acknowledge, getAlert, listAlerts, snooze } from './routes/alerts.ts';
import { listAudit } from './routes/audit.ts';
import { listAuthorizations } from './routes/authorizations.ts';
import { getBalances } from './routes/balances.ts';
import { listChanges } from './routes/changes.ts';
import { listEvents } from './routes/events.ts';
import { listFindings } from './routes/findings.ts';
import { getOrder, listOrders, putOrder } from './routes/orders.ts';
import { getPayment } from './routes/payments.ts';
import { listReconciliations } from './routes/reconciliations.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  listOrders,
  getOrder,
  putOrder,
  getPayment,
  listChanges,
  listEvents,
  listFindings,
  listAlerts,
  getAlert,
  acknowledge,
  snooze,
  listAuthorizations,
  listReconciliations,
  getBalances,
  listAudit,
];
