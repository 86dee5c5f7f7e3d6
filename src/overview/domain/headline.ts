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
    return { tone: 'bad', text: 'Webhooks are not received.' };
  }
  if (!facts.hasProcess && secondsSinceEvent !== undefined) {
    const text = `Webhooks are not received: no process runs. The last one arrived ${roughly(secondsSinceEvent)} ago.`;
    return { tone: 'bad', text };
  }
  if (rejected > 0) {
    const since = secondsSinceEvent === undefined ? 'yet' : `for ${roughly(secondsSinceEvent)}`;
    const text = `No webhook has verified ${since}: ${rejected} in the last hour had a signature that matches no secret.`;
    return { tone: 'warn', text };
  }
  if (secondsSinceEvent === undefined) {
    return { tone: 'plain', text: 'No webhook has arrived yet.' };
  }
  if (missingRoles.includes('events') || facts.oldestPendingSeconds > SLOW_SECONDS) {
    return { tone: 'bad', text: `Webhooks arrive and are not applied: ${backlogOf(facts)}.` };
  }
  if (isSilent || secondsSinceEvent > QUIET_SECONDS) {
    return { tone: 'warn', text: `No webhook for ${roughly(secondsSinceEvent)}.` };
  }
  if (facts.newest.events > 0 && facts.newest.unapplied === facts.newest.events) {
    return { tone: 'bad', text: `Webhooks arrive and are not applied: ${reasonOf(facts.newest)}.` };
  }
  return { tone: 'good', text: 'Money is flowing: webhooks arrive and are applied.' };
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
