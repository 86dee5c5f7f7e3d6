/**
 * Closed months. Terms: a *closing* freezes the sums of a month in a time zone; it is *in force* until its
 * month is reopened. A *posting* is a transfer with its number in the journal and its effective time. A
 * posting is *late* if its month was closed before it got its number.
 *
 * 1. A closing contains the postings that are effective before the end of its month and have a number up to
 *    `lastTransfer`. Both never change, so neither do its sums.
 * 2. Months are closed in order, in one time zone. The first closing closes everything before it, too.
 * 3. A late posting is booked in the first month after its own that was not closed when it got its number
 *    (`bookedAfter`). Its effective time is a fact and stays as it is.
 * 4. So each posting is booked in one month, and the closings alone decide in which.
 * 5. Only the last closed month can be reopened, and closing it again makes a further version.
 */
import { monthAfter, type Period } from './period.ts';

/** What can be unproven about a month. */
export const EXCEPTIONS = {
  open_findings: 'Findings that are open and not accepted',
  uncertain: 'Resources with a state that needs a retrieve',
  not_compared: 'Spans that were not compared with the service',
  pending_events: 'Events that wait to be applied',
  dead_events: 'Events that could not be applied',
} as const;
export type ExceptionKind = keyof typeof EXCEPTIONS;
export const EXCEPTION_KINDS = Object.keys(EXCEPTIONS) as readonly ExceptionKind[];

export interface ClosingException {
  readonly kind: ExceptionKind;
  readonly count: number;
  /** Some of them, each by its name. */
  readonly examples: readonly string[];
}

/** What seals.ts defines. Digests and the signature are in hexadecimal. */
export interface Seal {
  readonly blockNumber: number;
  readonly blockDigest: string;
  readonly digest: string;
  /** Null if its block is not signed. */
  readonly signature: string | null;
  readonly sealedMicros: number;
}

export interface Closing extends Period {
  readonly id: number;
  /** 1 for the first closing of the month. */
  readonly version: number;
  readonly previousId: number | null;
  /** The greatest number of a transfer that it can contain. */
  readonly lastTransfer: number;
  readonly closedMicros: number;
  readonly closedBy: string;
  readonly reason: string | null;
  readonly exceptions: readonly ClosingException[];
  readonly reopenedMicros: number | null;
  readonly reopenedBy: string | null;
  readonly reopenedReason: string | null;
  /** Null until the chain has its last transfer, some minutes at most. */
  readonly seal: Seal | null;
}

/** The sums of a leg, by the names of their columns. With a day: what it posted on that day. */
export interface ClosingSum {
  readonly currency: string;
  readonly leg: string;
  /** Such as `2026-10-31`; null for a balance. */
  readonly day: string | null;
  readonly sums: Readonly<Record<string, string>>;
}

/** The closings in force, by month. */
export function closingsInForce(all: readonly Closing[]): readonly Closing[] {
  return all
    .filter(({ reopenedMicros }) => reopenedMicros === null)
    .toSorted((one, other) => one.fromMicros - other.fromMicros);
}

export interface Posting {
  /** Its number in the journal. */
  readonly number: number;
  readonly effectiveMicros: number;
}

/**
 * The closing that a late posting missed: it is booked in the month after it. Undefined for a posting that is
 * not late, which is booked in the month of its effective time.
 * @param inForce by month
 */
export function bookedAfter(posting: Posting, inForce: readonly Closing[]): Closing | undefined {
  return inForce.findLast(
    ({ toMicros, lastTransfer }) =>
      posting.effectiveMicros < toMicros && posting.number > lastTransfer,
  );
}

/** The time zone in which months are closed. @param inForce by month */
export function zoneOf(inForce: readonly Closing[]): string {
  return inForce.at(-1)?.timeZone ?? 'UTC';
}

/** The month after a closed one, such as `2026-11`. */
export function nextMonth({ month }: Pick<Period, 'month'>): string {
  return monthAfter(month, 1);
}

export type MayClose =
  | { readonly outcome: 'ok'; readonly previous: Closing | undefined }
  | { readonly outcome: 'refused'; readonly message: string };

/** Whether a month may be closed now. @param inForce by month */
export function mayClose(
  { month, timeZone, toMicros }: Period,
  { inForce, nowMicros }: { readonly inForce: readonly Closing[]; readonly nowMicros: number },
): MayClose {
  const refused = (message: string) => ({ outcome: 'refused', message }) as const;
  if (nowMicros < toMicros) {
    return refused(`${month} is not over in ${timeZone}. Close it after its last day.`);
  }
  const last = inForce.at(-1);
  if (last === undefined) return { outcome: 'ok', previous: undefined };
  if (last.timeZone !== timeZone) {
    return refused(
      `Months are closed in the time zone ${last.timeZone}, and ${timeZone} has other ones. ` +
        `Close ${month} in ${last.timeZone}, or reopen every closed month first.`,
    );
  }
  const known = inForce.find((one) => one.month === month);
  if (known) {
    return refused(
      `${month} is closed already, by ${known.closedBy}. Reopen it to close it again.`,
    );
  }
  if (month !== nextMonth(last)) {
    return refused(
      `Months are closed in order: ${last.month} is the last closed one, so ${nextMonth(last)} is next.`,
    );
  }
  return { outcome: 'ok', previous: last };
}

export type MayReopen =
  | { readonly outcome: 'ok'; readonly closing: Closing }
  | { readonly outcome: 'not_closed' | 'refused'; readonly message: string };

/** Whether a month may be reopened. @param inForce by month */
export function mayReopen(month: string, inForce: readonly Closing[]): MayReopen {
  const closing = inForce.find((one) => one.month === month);
  if (!closing) return { outcome: 'not_closed', message: `${month} is not closed.` };
  const last = inForce.at(-1);
  if (last && last !== closing) {
    return {
      outcome: 'refused',
      message: `Months are reopened in reverse order: reopen ${last.month} first, which was closed after ${month}.`,
    };
  }
  return { outcome: 'ok', closing };
}
