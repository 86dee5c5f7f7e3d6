/** The pages of the console and their actions, one line each. Tests of all pages run over these tables. */
import { acknowledgeAlert, assignAlert, handleAlerts, snoozeAlert } from './alerts/alertActions.ts';
import { alertPage } from './alerts/alertPage.tsx';
import { alertsPage } from './alerts/alertsPage.tsx';
import { channelsPage, testChannel } from './alerts/channelsPage.tsx';
import { captureHolds, releaseHolds } from './authorizations/authorizationActions.ts';
import { authorizationsPage, confirmHoldsPage } from './authorizations/authorizationsPage.tsx';
import { acceptDispute, submitEvidence, uploadFile } from './disputes/disputeActions.ts';
import { evidencePage } from './disputes/evidencePage.tsx';
import type { Download } from './download.ts';
import { acceptFindingsPage, acceptSeveral } from './findings/acceptPage.tsx';
import { acceptFinding, findingPage, findingsPage } from './findings/findingsPage.tsx';
import { discardEvent, eventPage, replayEvent } from './inbox/eventPage.tsx';
import { inboxPage } from './inbox/inboxPage.tsx';
import { ledgerAccountPage } from './ledger/accountPage.tsx';
import { clearingPage } from './ledger/clearingPage.tsx';
import { closeMonthAction, closingPage, reopenMonthAction } from './ledger/closingPage.tsx';
import { entriesBeancount, entriesCsv, entriesHledger } from './ledger/entryFiles.ts';
import { journalCsv, journalJsonl } from './ledger/journalFiles.ts';
import { journalPage } from './ledger/journalPage.tsx';
import { ledgerPage } from './ledger/ledgerPage.tsx';
import { statementFile, statementPage } from './ledger/statementPage.tsx';
import { messagePage, resendMessage } from './messages/messagePage.tsx';
import { messagesPage } from './messages/messagesPage.tsx';
import { bodiesPage } from './orders/bodiesPage.tsx';
import { refreshOrder, registerExpectation, replayOrder } from './orders/orderActions.ts';
import { orderPage } from './orders/orderPage.tsx';
import { ordersCsv, ordersPage } from './orders/ordersPage.tsx';
import { overviewPage } from './overview/overviewPage.tsx';
import type { Page, PageAction, PageParts } from './page.ts';
import { cancelPayout, fulfillPayout, retryPayout } from './payouts/payoutActions.ts';
import { retryPage } from './payouts/retryPage.tsx';
import { pauseRequests, resumeRequests, startRuns, stopRun } from './reconciliation/actions.ts';
import { reconciliationPage } from './reconciliation/reconciliationPage.tsx';
import { runPage } from './reconciliation/runPage.tsx';
import { startReplay, stopReplay } from './replays/replayActions.ts';
import { newReplayPage, replayPage, replaysPage } from './replays/replaysPages.tsx';
import { refreshResource, refundPayment } from './resources/resourceActions.ts';
import {
  disputeBodiesPage,
  paymentBodiesPage,
  payoutBodiesPage,
  refundBodiesPage,
} from './resources/resourceBodiesPage.tsx';
import {
  disputesCsv,
  disputesPage,
  paymentsCsv,
  paymentsPage,
  payoutsCsv,
  payoutsPage,
  refundsCsv,
  refundsPage,
} from './resources/resourceLists.tsx';
import { disputePage, paymentPage, payoutPage, refundPage } from './resources/resourcePages.tsx';
import {
  advanceClock,
  endFaults,
  moveResource,
  payInSandbox,
  payOutInSandbox,
  playScenario,
  reconcileSandbox,
  setFaults,
} from './sandbox/sandboxActions.ts';
import { sandboxPage } from './sandbox/sandboxPage.tsx';
import { scenarioPage } from './sandbox/scenarioPage.tsx';
import { searchPage } from './search/searchPage.tsx';
import { auditCsvDownload, auditPage } from './system/auditPage.tsx';
import { planErasureAction, requestErasureAction } from './system/erasures/erasureActions.ts';
import { erasurePage } from './system/erasures/erasurePage.tsx';
import { erasurePlanPage } from './system/erasures/erasurePlanPage.tsx';
import { erasuresPage } from './system/erasures/erasuresPage.tsx';
import { queuesPage } from './system/queuesPage.tsx';
import { retentionPage } from './system/retentionPage.tsx';
import { runScheduleNow, schedulePage } from './system/schedulePage.tsx';
import {
  accountPage,
  endSessionAction,
  sessionPage,
  sessionsPage,
  signOutEverywhere,
} from './system/sessionsPage.tsx';
import { settingsPage } from './system/settingsPage.tsx';
import { checkAgain, systemPage } from './system/systemPage.tsx';
import { createTokenAction, revokeTokenAction, tokensPage } from './system/tokensPage.tsx';

export const PAGES: readonly Page[] = [
  overviewPage,
  searchPage,
  sessionsPage,
  sessionPage,
  accountPage,
  ordersPage,
  orderPage,
  bodiesPage,
  paymentsPage,
  paymentPage,
  paymentBodiesPage,
  refundsPage,
  refundPage,
  refundBodiesPage,
  disputesPage,
  disputePage,
  disputeBodiesPage,
  evidencePage,
  payoutsPage,
  payoutPage,
  payoutBodiesPage,
  retryPage,
  authorizationsPage,
  confirmHoldsPage,
  reconciliationPage,
  runPage,
  inboxPage,
  eventPage,
  newReplayPage,
  replaysPage,
  replayPage,
  findingsPage,
  // Before the page of a finding, which would match its address.
  acceptFindingsPage,
  findingPage,
  alertsPage,
  // Before the page of an alert, which would match its address.
  channelsPage,
  alertPage,
  messagesPage,
  messagePage,
  ledgerPage,
  journalPage,
  clearingPage,
  statementPage,
  closingPage,
  ledgerAccountPage,
  systemPage,
  queuesPage,
  schedulePage,
  retentionPage,
  settingsPage,
  auditPage,
  erasuresPage,
  erasurePage,
  erasurePlanPage,
  tokensPage,
  sandboxPage,
  scenarioPage,
];

export const DOWNLOADS: readonly Download[] = [
  ordersCsv,
  paymentsCsv,
  refundsCsv,
  disputesCsv,
  payoutsCsv,
  journalCsv,
  journalJsonl,
  entriesCsv,
  entriesHledger,
  entriesBeancount,
  statementFile,
  auditCsvDownload,
];

export const ACTIONS: readonly PageAction[] = [
  endSessionAction,
  signOutEverywhere,
  registerExpectation,
  refreshOrder,
  replayOrder,
  captureHolds,
  releaseHolds,
  startRuns,
  stopRun,
  pauseRequests,
  resumeRequests,
  replayEvent,
  discardEvent,
  startReplay,
  stopReplay,
  closeMonthAction,
  reopenMonthAction,
  acceptFinding,
  acceptSeveral,
  acknowledgeAlert,
  snoozeAlert,
  assignAlert,
  handleAlerts,
  testChannel,
  resendMessage,
  refreshResource,
  refundPayment,
  checkAgain,
  runScheduleNow,
  planErasureAction,
  requestErasureAction,
  createTokenAction,
  revokeTokenAction,
  playScenario,
  payInSandbox,
  payOutInSandbox,
  moveResource,
  setFaults,
  endFaults,
  advanceClock,
  reconcileSandbox,
  acceptDispute,
  submitEvidence,
  uploadFile,
  retryPayout,
  cancelPayout,
  fulfillPayout,
];

export interface SectionLink {
  readonly label: string;
  readonly path: string;
  /** Pressed after `g`. */
  readonly shortcut?: string;
  /** Set apart from the sections before it. */
  readonly startsGroup?: boolean;
}

/** The navigation: the sections that have a page, in this order. */
const SECTIONS: readonly SectionLink[] = [
  { label: 'Overview', path: '/', shortcut: 'h' },
  { label: 'Orders', path: '/orders', shortcut: 'o', startsGroup: true },
  { label: 'Payments', path: '/payments', shortcut: 'p' },
  { label: 'Refunds', path: '/refunds', shortcut: 'r' },
  { label: 'Disputes', path: '/disputes', shortcut: 'd' },
  { label: 'Payouts', path: '/payouts', shortcut: 'y' },
  { label: 'Authorizations', path: '/authorizations', shortcut: 'u' },
  { label: 'Inbox', path: '/inbox', shortcut: 'i', startsGroup: true },
  { label: 'Reconciliation', path: '/reconciliation', shortcut: 'c' },
  { label: 'Findings', path: '/findings', shortcut: 'f' },
  { label: 'Alerts', path: '/alerts', shortcut: 'a' },
  { label: 'Messages', path: '/messages', shortcut: 'm' },
  { label: 'Ledger', path: '/ledger', shortcut: 'l', startsGroup: true },
  { label: 'Sandbox', path: '/sandbox', shortcut: 'b' },
  { label: 'System', path: '/system', shortcut: 's' },
];

/** The sections of an installation. */
export function sectionsOf(parts: PageParts): readonly SectionLink[] {
  return SECTIONS.filter(({ path }) =>
    PAGES.some((page) => page.path === path && page.isOffered?.(parts) !== false),
  );
}
