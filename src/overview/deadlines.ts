/** What has a deadline soon: authorizations that expire, and evidence that is due. */
import { moneyOf } from '../alerts/domain/alert.ts';
import type { AlertRow } from '../alerts/store/alertRows.ts';
import type { OpenAuthorization } from '../authorizations/store/openAuthorizations.ts';

export interface Deadline {
  /** Such as `payment:pay_1`. */
  readonly subject: string;
  readonly what: 'The authorization expires' | 'Evidence is due';
  readonly at: Date;
  /** In minor units. */
  readonly amountMinor: number | null;
  readonly currency: string | null;
  /** The number of the alert about it, if there is one. */
  readonly alert: number | undefined;
}

/** Nearest first. @param disputes alerts about disputes, each with the deadline of its evidence */
export function deadlinesOf(
  holds: readonly OpenAuthorization[],
  disputes: readonly AlertRow[],
): readonly Deadline[] {
  const expiring = holds.map(
    ({ paymentId, deadlineAt, capturableMinor, currency }): Deadline => ({
      subject: `payment:${paymentId}`,
      what: 'The authorization expires',
      at: deadlineAt,
      amountMinor: capturableMinor,
      currency,
      alert: undefined,
    }),
  );
  const due = disputes.flatMap((alert): readonly Deadline[] => {
    const { id, subject, deadlineAt } = alert;
    if (deadlineAt === null) return [];
    const { amountMinor, currency } = moneyOf(alert) ?? { amountMinor: null, currency: null };
    return [{ subject, what: 'Evidence is due', at: deadlineAt, amountMinor, currency, alert: id }];
  });
  return [...expiring, ...due].toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

/** The id in the subject of a deadline. */
export function idOf({ subject }: Deadline): string {
  return subject.slice(subject.indexOf(':') + 1);
}
