/**
 * The commands of `tallyhook`. A command is loaded only when it is run: loading all of them took
 * 0.8 s at every start, one takes 0.2 s.
 */
import type { Command } from 'commander';

export interface CommandEntry {
  readonly name: string;
  readonly description: string;
  readonly load: () => Promise<Command>;
}

/** In the order of `tallyhook --help`. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'start',
    description: 'Run everything in one process, or some of the roles',
    load: async () => (await import('./start.ts')).startCommand(),
  },
  {
    name: 'demo',
    description: 'Start everything, and a shop that trades with the sandbox over a lossy network',
    load: async () => (await import('./demo.ts')).demoCommand(),
  },
  {
    name: 'sandbox',
    description: 'Run the sandbox alone: a stand-in for the payment service, on loopback only',
    load: async () => (await import('./sandbox.ts')).sandboxCommand(),
  },
  {
    name: 'trigger',
    description: 'Have the sandbox send an event, by doing what causes it',
    load: async () => (await import('./trigger.ts')).triggerCommand(),
  },
  {
    name: 'migrate',
    description: 'Migrate the schemas of the ledger and the queues, then exit',
    load: async () => (await import('./migrate.ts')).migrateCommand(),
  },
  {
    name: 'sign',
    description: 'Print the webhook signature of a body',
    load: async () => (await import('./sign.ts')).signCommand(),
  },
  {
    name: 'send',
    description: 'Sign a body and deliver it to a receiver, as the service would',
    load: async () => (await import('./send.ts')).sendCommand(),
  },
  {
    name: 'orders',
    description: 'List, show and explain orders',
    load: async () => (await import('./orders.ts')).ordersCommand(),
  },
  {
    name: 'payments',
    description: 'List payments by status, time, amount, currency or order, and refund one',
    load: async () => (await import('./resources.ts')).paymentsCommand(),
  },
  {
    name: 'refunds',
    description: 'List refunds, with the reason of those that failed',
    load: async () => (await import('./resources.ts')).refundsCommand(),
  },
  {
    name: 'disputes',
    description: 'List disputes, with their deadlines',
    load: async () => (await import('./resources.ts')).disputesCommand(),
  },
  {
    name: 'payouts',
    description: 'List payouts, with the reason of those that failed',
    load: async () => (await import('./resources.ts')).payoutsCommand(),
  },
  {
    name: 'events',
    description: 'Inspect the inbox and replay events',
    load: async () => (await import('./events.ts')).eventsCommand(),
  },
  {
    name: 'tail',
    description: 'Print events as they arrive',
    load: async () => (await import('./tail.ts')).tailCommand(),
  },
  {
    name: 'listen',
    description: 'Forward the events that the installation receives to an address, signed again',
    load: async () => (await import('./listen.ts')).listenCommand(),
  },
  {
    name: 'find',
    description: 'Find everything that has an id',
    load: async () => (await import('./find.ts')).findCommand(),
  },
  {
    name: 'alerts',
    description: 'List and handle alerts, and test their channels',
    load: async () => (await import('./alerts.ts')).alertsCommand(),
  },
  {
    name: 'messages',
    description: 'List outgoing messages with their attempts, and send one again',
    load: async () => (await import('./messages.ts')).messagesCommand(),
  },
  {
    name: 'authorizations',
    description: 'List, capture and cancel authorizations',
    load: async () => (await import('./authorizations.ts')).authorizationsCommand(),
  },
  {
    name: 'reconcile',
    description: 'Compare the ledger with the service and repair differences',
    load: async () => (await import('./reconcile.ts')).reconcileCommand(),
  },
  {
    name: 'reconciliations',
    description: 'List reconcile runs, and stop one',
    load: async () => (await import('./reconciliations.ts')).reconciliationsCommand(),
  },
  {
    name: 'refresh',
    description: 'Retrieve a resource or an order from the service and apply it',
    load: async () => (await import('./refresh.ts')).refreshCommand(),
  },
  {
    name: 'replays',
    description: 'Replay the events of a filter in the background, and watch or stop it',
    load: async () => (await import('./replays.ts')).replaysCommand(),
  },
  {
    name: 'findings',
    description: 'List and accept findings: recorded differences between ledger and service',
    load: async () => (await import('./findings.ts')).findingsCommand(),
  },
  {
    name: 'audit',
    description: 'List who did what, when and with which result',
    load: async () => (await import('./audit.ts')).auditCommand(),
  },
  {
    name: 'erase',
    description: 'Erase the personal data of people, keep the money, and prove it',
    load: async () => (await import('./erase.ts')).eraseCommand(),
  },
  {
    name: 'erasures',
    description: 'List requests for erasure, and search every table for values',
    load: async () => (await import('./erase.ts')).erasuresCommand(),
  },
  {
    name: 'sessions',
    description: 'List who is signed in to the console, and end sessions',
    load: async () => (await import('./sessions.ts')).sessionsCommand(),
  },
  {
    name: 'tokens',
    description: 'Create, list and revoke tokens of the admin API',
    load: async () => (await import('./tokens.ts')).tokensCommand(),
  },
  {
    name: 'status',
    description: 'Show on one screen whether money is flowing, and whether anything is wrong',
    load: async () => (await import('./status.ts')).statusCommand(),
  },
  {
    name: 'open',
    description: 'Print the address of the console, signed in, and open it in the browser',
    load: async () => (await import('./open.ts')).openCommand(),
  },
  {
    name: 'doctor',
    description: 'Check an installation and print a remedy for each problem',
    load: async () => (await import('./doctor.ts')).doctorCommand(),
  },
  {
    name: 'processes',
    description: 'List the processes of the installation, with version and health',
    load: async () => (await import('./processes.ts')).processesCommand(),
  },
  {
    name: 'queues',
    description: 'Show each queue beside what is due by the database',
    load: async () => (await import('./queues.ts')).queuesCommand(),
  },
  {
    name: 'schedule',
    description: 'Show what became of each schedule, and run one at once',
    load: async () => (await import('./schedule.ts')).scheduleCommand(),
  },
  {
    name: 'settings',
    description: 'Show the settings in force and where each comes from, without secrets',
    load: async () => (await import('./settings.ts')).settingsCommand(),
  },
  {
    name: 'pause',
    description: 'Pause background requests to the service; webhooks continue',
    load: async () => (await import('./pause.ts')).pauseCommand(),
  },
  {
    name: 'resume',
    description: 'End the pause of background requests',
    load: async () => (await import('./pause.ts')).resumeCommand(),
  },
  {
    name: 'balances',
    description: 'Print the balance of every account, now or as of a time',
    load: async () => (await import('./balances.ts')).balancesCommand(),
  },
  {
    name: 'statement',
    description: 'Print the statement of a month: balances, movements by day, and what was open',
    load: async () => (await import('./statement.ts')).statementCommand(),
  },
  {
    name: 'close',
    description: 'Close a month: its sums never change again',
    load: async () => (await import('./closings.ts')).closeCommand(),
  },
  {
    name: 'reopen',
    description: 'Reopen the last closed month',
    load: async () => (await import('./closings.ts')).reopenCommand(),
  },
  {
    name: 'closings',
    description: 'List closed and reopened months',
    load: async () => (await import('./closings.ts')).closingsCommand(),
  },
  {
    name: 'transfers',
    description: 'List the journal by account, order, time, amount or currency',
    load: async () => (await import('./transfers.ts')).transfersCommand(),
  },
  {
    name: 'export',
    description: 'Export the journal: its transfers, or entries for accounting programs',
    load: async () => (await import('./export.ts')).exportCommand(),
  },
  {
    name: 'settle',
    description: 'Import settlement reports and bank statements, and explain what is in clearing',
    load: async () => (await import('./settle.ts')).settleCommand(),
  },
  {
    name: 'verify',
    description:
      'Prove the ledger: what changed and a share of the rest, or everything with --full',
    load: async () => (await import('./verify.ts')).verifyCommand(),
  },
  {
    name: 'chain',
    description: 'Print the head of the chain of the journal, for somebody to keep',
    load: async () => (await import('./chain.ts')).chainCommand(),
  },
  {
    name: 'archive',
    description: 'List, check and read back what was archived before its removal',
    load: async () => (await import('./archive.ts')).archiveCommand(),
  },
  {
    name: 'retention',
    description: 'Show what is stored and for how long, and remove old data at once',
    load: async () => (await import('./retention.ts')).retentionCommand(),
  },
  {
    name: 'completion',
    description: 'Print a script that completes commands in your shell',
    load: async () => (await import('./completion.ts')).completionCommand(loadAll),
  },
];

/** Every command, described. It takes most of a second. */
export function loadAll(): Promise<readonly Command[]> {
  return Promise.all(
    COMMANDS.map(async ({ description, load }) => (await load()).description(description)),
  );
}
