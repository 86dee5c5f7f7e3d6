/**
 * Whether an event of the inbox is accounted for.
 *
 * An event that was applied need not have a snapshot of its own: one whose content was known adds
 * nothing. So what is asked is that its content stands in the set of its resource, read again now.
 *
 * A newer version may read a body otherwise than the one that applied it. A snapshot that names the
 * event, or a finding that says why there is none, therefore counts whatever is read now.
 */
import type { EventReading } from './event.ts';
import { NOT_APPLIED_CLASSES } from './findings.ts';

/** What reading an event anew gave; a body that is not the one that was received is not read. */
export type BodyReading = EventReading | { readonly outcome: 'damaged' };

export interface InboxEntry {
  readonly reading: BodyReading;
  readonly isPending: boolean;
  readonly isDead: boolean;
  /** The resource that it names has a snapshot of this content, or one that names this event. */
  readonly hasSnapshot: boolean;
  readonly findings: readonly { readonly class: string; readonly isOpen: boolean }[];
}

/** What is wrong with an event; undefined when nothing is. */
export function inboxProblem(entry: InboxEntry): string | undefined {
  const { outcome } = entry.reading;
  if (outcome === 'damaged') return 'its body is not the one that was received';
  if (entry.isPending || entry.isDead || entry.hasSnapshot) return undefined;
  const explanations = entry.findings.filter(({ class: name }) =>
    (NOT_APPLIED_CLASSES as readonly string[]).includes(name),
  );
  switch (outcome) {
    case 'snapshot':
      // Once a finding is closed, only the content itself can account for what can be read.
      return explanations.some(({ isOpen }) => isOpen)
        ? undefined
        : 'it was acknowledged, but was never applied and does not wait to be';
    case 'moneyless':
      return undefined;
    case 'label_conflict':
    case 'unreadable_money':
    case 'foreign_merchant':
    case 'no_envelope':
    case 'ignored':
      return explanations.length > 0
        ? undefined
        : `it was not applied (${outcome}), and no finding says so`;
  }
}
