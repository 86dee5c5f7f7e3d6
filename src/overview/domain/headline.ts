/** The overview in one sentence: is money flowing, and is anything wrong? */
import { counted } from '../../platform/counted.ts';
import { roughly } from '../../representation/roughly.ts';

export interface FlowFacts {
  /** Undefined before the first event. */
  readonly secondsSinceEvent: number | undefined;
  /** An alert about silence is open: it is longer than this installation's rhythm allows. */
  readonly isSilent: boolean;
  /** Deliveries of the last hour with a signature that matches no secret, if none has verified since. */
  readonly rejected: number;
  /** Of the newest events that do not wait. */
  readonly newest: {
    readonly events: number;
    readonly foreign: number;
    readonly unapplied: number;
  };
  readonly pending: number;
  readonly oldestPendingSeconds: number;
  /** Whether a process with the role `events` is ready. */
  readonly applier: 'ready' | 'not_ready' | 'none';
  readonly dead: number;
  readonly isPaused: boolean;
  /** A process has reported that did not stop since. */
  readonly hasProcess: boolean;
  /** Roles that no process has, though one had them that did not stop cleanly. */
  readonly missingRoles: readonly string[];
  /** Unresolved alerts. */
  readonly critical: number;
  readonly warnings: number;
}

/** `plain`: nothing has arrived yet, so there is nothing to judge. */
export type Tone = 'good' | 'warn' | 'bad' | 'plain';

export interface Headline {
  readonly tone: Tone;
  readonly text: string;
}

/** Events are applied within seconds; after this, something holds them up. */
const SLOW_SECONDS = 300;
/** Where no process is ready to apply them; one that starts again is ready within it. */
const RESTART_SECONDS = 30;
/** Where no alert watches for silence; shorter ones are usual at night. */
const QUIET_SECONDS = 6 * 3600;

export function headlineOf(facts: FlowFacts): Headline {
  const flow = flowOf(facts);
  const troubles = troublesOf(facts);
  const isUrgent = facts.critical > 0 || facts.missingRoles.length > 0;
  const tone = isUrgent ? 'bad' : flow.tone;
  if (troubles.length === 0) {
    return {
      tone,
      text: `${flow.text} ${tone === 'good' ? 'Nothing waits for a person.' : ''}`.trim(),
    };
  }
  // What is urgent comes before what is well.
  const parts = [flow.text, `${listed(troubles)}.`];
  const text = (isUrgent ? parts.toReversed() : parts).join(' ');
  return { tone: tone === 'good' ? 'warn' : tone, text };
}

function flowOf(facts: FlowFacts): Headline {
  const { secondsSinceEvent, isSilent, missingRoles, rejected } = facts;
  // Before any delay shows it: without the process, nothing is received or applied.
  if (missingRoles.includes('receiver')) {
    return { tone: 'bad', text: withWaiting('Webhooks are not received.', facts) };
  }
  if (!facts.hasProcess && secondsSinceEvent !== undefined) {
    const text = `Webhooks are not received: no process runs. The last one arrived ${roughly(secondsSinceEvent)} ago.`;
    const start = '`npx tallyhook start` starts one with all roles.';
    return { tone: 'bad', text: [text, ...waitingOf(facts), start].join(' ') };
  }
  if (rejected > 0) {
    const since = secondsSinceEvent === undefined ? 'yet' : `for ${roughly(secondsSinceEvent)}`;
    const text = `No webhook has verified ${since}: ${rejected} in the last hour had a signature that matches no secret.`;
    return { tone: 'warn', text: withWaiting(text, facts) };
  }
  if (secondsSinceEvent === undefined) {
    return { tone: 'plain', text: 'No webhook has arrived yet.' };
  }
  if (isHeldUp(facts)) {
    const text = `Webhooks arrive and are not applied: ${backlogOf(facts)}.`;
    return { tone: 'bad', text: [text, ...remedyOf(facts)].join(' ') };
  }
  if (isSilent || secondsSinceEvent > QUIET_SECONDS) {
    return { tone: 'warn', text: `No webhook for ${roughly(secondsSinceEvent)}.` };
  }
  if (facts.newest.events > 0 && facts.newest.unapplied === facts.newest.events) {
    return { tone: 'bad', text: `Webhooks arrive and are not applied: ${reasonOf(facts.newest)}.` };
  }
  return { tone: 'good', text: 'Money is flowing: webhooks arrive and are applied.' };
}

/** Without a process that applies them, webhooks wait for good. */
function isHeldUp({ missingRoles, applier, pending, oldestPendingSeconds }: FlowFacts): boolean {
  if (missingRoles.includes('events')) return true;
  const limit = applier === 'ready' ? SLOW_SECONDS : RESTART_SECONDS;
  return pending > 0 && oldestPendingSeconds > limit;
}

/** What to start, or where the reason is. */
function remedyOf({ applier }: FlowFacts): readonly string[] {
  switch (applier) {
    case 'none':
      return ['`npx tallyhook start --roles events` starts a process that applies them.'];
    case 'not_ready':
      return [
        'No process with the role events is ready: `npx tallyhook processes` has the reason.',
      ];
    case 'ready':
      return [];
  }
}

/** What arrived before webhooks stopped, and waits because no process is ready to apply it. */
function waitingOf({ applier, pending, oldestPendingSeconds }: FlowFacts): readonly string[] {
  if (applier === 'ready' || pending === 0) return [];
  const wait = pending === 1 ? 'waits' : 'wait';
  const oldest = roughly(oldestPendingSeconds);
  return [`${counted(pending, 'webhook')} ${wait} to be applied, the oldest for ${oldest}.`];
}

/** A sentence, and what waits beside it with what to start. */
function withWaiting(text: string, facts: FlowFacts): string {
  const waiting = waitingOf(facts);
  return [text, ...waiting, ...(waiting.length === 0 ? [] : remedyOf(facts))].join(' ');
}

function backlogOf({ pending, oldestPendingSeconds }: FlowFacts): string {
  return pending === 0
    ? 'none is pending yet'
    : `${pending} pending, the oldest for ${roughly(oldestPendingSeconds)}`;
}

function reasonOf({ events, foreign }: FlowFacts['newest']): string {
  const last = events === 1 ? 'the last one' : `the last ${events}`;
  return foreign === events
    ? `${last} ${events === 1 ? 'belongs' : 'belong'} to another merchant account`
    : `${last} could not be`;
}

function troublesOf(facts: FlowFacts): readonly string[] {
  const { critical, warnings, dead, isPaused, missingRoles } = facts;
  const roles = `no process has the role${missingRoles.length === 1 ? '' : 's'} ${missingRoles.join(', ')}`;
  return [
    ...(missingRoles.length > 0 ? [roles] : []),
    ...(critical > 0 ? [counted(critical, 'critical alert')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
    ...(dead > 0 ? [counted(dead, 'dead event')] : []),
    ...(isPaused ? ['reconciliation is paused'] : []),
  ];
}

/** With a capital letter at the start. */
function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  const others = parts.slice(0, -1);
  const text = others.length === 0 ? last : `${others.join(', ')} and ${last}`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
