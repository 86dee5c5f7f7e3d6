/** The overview as JSON. */
import { toSafeInteger } from '../contract/money.ts';
import { missingRoles } from '../monitor/domain/missingRoles.ts';
import { processJson } from '../representation/process.ts';
import { reconciliationJson } from '../representation/reconciliation.ts';
import { idOf } from './deadlines.ts';
import type { Overview } from './readOverview.ts';

export function overviewJson(overview: Overview) {
  const { nowMs, headline, alerts, unresolved, deadlines, totals } = overview;
  const { inbox, flow, runs, pause, missed, processes } = overview;
  const last = inbox.lastReceivedSeconds;
  return {
    at: new Date(nowMs).toISOString(),
    state: headline.tone,
    headline: headline.text,
    unresolved_alerts: unresolved,
    alerts: alerts.map(({ alert, rule, severity, text, openSince, isHandled }) => ({
      number: alert ?? null,
      rule,
      severity,
      text,
      opened_at: openSince.toISOString(),
      is_handled: isHandled,
    })),
    deadlines: deadlines.map((deadline) => ({
      subject: deadline.subject,
      id: idOf(deadline),
      text: deadline.what,
      deadline_at: deadline.at.toISOString(),
      amount: deadline.amountMinor,
      currency: deadline.currency,
      alert: deadline.alert ?? null,
    })),
    money: totals.map((row) => ({
      day: row.day,
      currency: row.currency,
      captured: toSafeInteger(row.capturedMinor),
      refunded: toSafeInteger(row.refundedMinor),
      disputed: toSafeInteger(row.disputedMinor),
      paid_out: toSafeInteger(row.paidOutMinor),
    })),
    events: {
      last_received_at: last === null ? null : new Date(last * 1000).toISOString(),
      last_minute: flow.lastMinute,
      typical_seconds: flow.typicalSeconds,
      longest_seconds: flow.longestSeconds,
      pending: inbox.pending,
      oldest_pending_seconds: inbox.oldestAgeSeconds,
      dead: inbox.dead,
    },
    pause:
      pause === undefined
        ? null
        : {
            paused_at: pause.pausedAt.toISOString(),
            paused_by: pause.pausedBy,
            reason: pause.reason,
          },
    reconciliations: runs.map(reconciliationJson),
    missed_webhooks: missed,
    missing_roles: [...missingRoles(processes)],
    processes: processes.map(processJson),
  };
}
