/** What an event changed, in words. */
import { describeAbsence } from '../ledger/domain/bodyAbsence.ts';
import type { EventEffect } from '../ledger/domain/eventEffect.ts';
import { findingMeaning } from '../ledger/domain/findings.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import type { KnownSnapshot } from '../ledger/read/store/eventChanges.ts';
import type { NoChange } from './eventChanges.ts';

/** Why the ledger is as it was before the event: one or two sentences. */
export function noChangeText(noChange: NoChange): string {
  switch (noChange.why) {
    case 'pending':
      return 'It changed nothing yet: it waits to be applied.';
    case 'dead':
      return 'It changed nothing: every attempt to apply it failed.';
    case 'discarded':
      return 'It changed nothing: a person decided that it is not applied.';
    case 'not_applied':
      return `It changed nothing. ${refusalText(noChange.findingClass)}`;
    case 'known':
      return `It changed nothing: ${knownText(noChange.by)}`;
    case 'known_before':
      return `It changed nothing: what it reports was known before.${
        noChange.absence
          ? ` Nothing shows by what, because ${describeAbsence(noChange.absence)}.`
          : ''
      }`;
  }
}

function refusalText(findingClass: string | undefined): string {
  return findingClass === undefined
    ? 'It is about something that moves no money.'
    : findingMeaning(findingClass);
}

function knownText({ source, inboxId, recordedMicros }: KnownSnapshot): string {
  const at = formatInstant(recordedMicros);
  switch (source) {
    case 'webhook':
      return `it is a duplicate. Event ${inboxId} brought the same at ${at}.`;
    case 'retrieve':
      return `it was known already. A retrieve from the service brought the same at ${at}.`;
    case 'list':
      return `it was known already. A list of the service brought the same at ${at}.`;
  }
}

/** Such as `pending → succeeded`. */
export function effectText({ previousStatus, status, isLate }: EventEffect): string {
  if (isLate) return `late: a newer state was known, ${status ?? 'unknown'}`;
  if (previousStatus === null) return `new → ${status ?? 'unknown'}`;
  return previousStatus === status
    ? `${status ?? 'unknown'}, as before`
    : `${previousStatus} → ${status ?? 'unknown'}`;
}
