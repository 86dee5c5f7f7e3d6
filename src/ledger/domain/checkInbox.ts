/**
 * Checks that an event of the inbox is accounted for.
 *
 * An applied event need not have a snapshot of its own, because known content adds none. The check
 * reads the body again and requires that its resource has a snapshot of that content.
 *
 * A newer version of Tallyhook may read a body differently than the version that applied it. So a
 * snapshot that names the event also counts, and so does a finding that explains why there is none.
 */
import { type BodyAbsence, describeAbsence } from './bodyAbsence.ts';
import type { EventReading } from './event.ts';
import { NOT_APPLIED_CLASSES } from './findings.ts';

/** The result of reading an event again. A body that differs from the received one is not read. */
export type BodyReading =
  | EventReading
  | { readonly outcome: 'damaged' }
  | { readonly outcome: 'absent'; readonly absence: BodyAbsence };

export interface InboxEntry {
  readonly reading: BodyReading;
  readonly isPending: boolean;
  readonly isDead: boolean;
  /** Its resource has a snapshot of this content, or one that names this event. */
  readonly hasSnapshot: boolean;
  readonly findings: readonly { readonly class: string; readonly isOpen: boolean }[];
}

/** What is wrong with an event; undefined if nothing is. */
export function inboxProblem(entry: InboxEntry): string | undefined {
  const { reading } = entry;
  const { outcome } = reading;
  if (outcome === 'damaged') return 'its body differs from the one that was received';
  if (reading.outcome === 'absent') return absenceProblem(reading.absence, entry);
  if (entry.isPending || entry.isDead || entry.hasSnapshot) return undefined;
  const explanations = entry.findings.filter(({ class: name }) =>
    (NOT_APPLIED_CLASSES as readonly string[]).includes(name),
  );
  switch (reading.outcome) {
    case 'snapshot':
      // A closed finding no longer explains a missing snapshot of readable content.
      return explanations.some(({ isOpen }) => isOpen)
        ? undefined
        : 'it was acknowledged, but it was not applied and is not pending';
    case 'moneyless':
      return undefined;
    case 'label_conflict':
    case 'unreadable_money':
    case 'foreign_merchant':
    case 'no_envelope':
    case 'ignored':
      return explanations.length > 0
        ? undefined
        : `it was not applied (${outcome}), and no finding explains why`;
  }
}

/**
 * A body that was removed on purpose is no problem, unless its event waits for it. A dead event stays
 * dead if its body was erased.
 */
function absenceProblem(
  absence: BodyAbsence,
  { isPending, isDead }: InboxEntry,
): string | undefined {
  switch (absence.outcome) {
    case 'removed':
      if (isPending) return `it is pending, but ${describeAbsence(absence)}`;
      return isDead ? `it is dead, but ${describeAbsence(absence)}` : undefined;
    case 'erased':
      return isPending ? `it is pending, but ${describeAbsence(absence)}` : undefined;
    case 'unexplained':
      return describeAbsence(absence);
  }
}
