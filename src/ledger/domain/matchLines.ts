/**
 * What lines are about. Terms: a *candidate* of a report line is a resource of its kind in its currency; a
 * candidate is *free* if no line is matched with it. A line has the *amount* of a candidate if it moves money in
 * the same direction: a payment adds to what the service holds for us, all others take from it. So a line that
 * returns a refund, or reverses a chargeback, is about a resource only by its id or by hand.
 *
 * 1. A match posts nothing. So rules may prefer some candidate without a consequence for any balance.
 * 2. A report line that names the id of a resource of its kind is about it, with any amount: a payment that
 *    is captured in parts has a line for each. Differences of the amounts stay visible.
 * 3. A refund or dispute that names a payment is about a free one of that payment with its amount. Several of
 *    one amount are taken in the order of their times. One that any line names by its id is not free, regardless
 *    of the days of the two lines.
 * 4. A line that names an order is about a free resource of that order with its amount, as in rule 3.
 * 5. A line that names nothing is about the only free resource with its amount that moved within some days
 *    before it, if no other line could be about the same. When a refund was returned, or a withheld dispute
 *    released, does not count: a report has a line of the other direction for it.
 * 6. If the text of a bank line has the reference of a settlement, it is about that, with any amount. The longest
 *    reference counts, if only one is the longest. If it has none, a number that is hidden in it counts
 *    (hiddenDigits.ts), of a settlement within the days of rule 7.
 * 7. A bank line that names no settlement is about the only one with its amount, without a bank line, that was
 *    settled within some days before it, if no other line could be about the same.
 * 8. What a person matched or unmatched is not changed by a rule.
 */
import { formatMoney } from '../../contract/money.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { DAY_MS } from '../../platform/time.ts';
import { hidesReference } from './hiddenDigits.ts';
import type { LineType, MatchRule, TargetKind } from './lines.ts';

/** How many days before a report line the service may have moved the money. */
export const REPORT_DAYS = 7;
/** How many days before a bank line the settlement may be, and after it: banks book on their own days. */
export const BANK_DAYS = { before: 10, after: 2 } as const;

export interface OpenLine {
  readonly id: number;
  readonly type: LineType;
  readonly reference: string | null;
  readonly day: string;
  readonly currency: string;
  readonly grossMinor: number;
  readonly text: string | null;
}

export interface Candidate {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly paymentId: string | null;
  readonly orderId: string | null;
  readonly currency: string;
  /** Captured, refunded, disputed or paid out. */
  readonly amountMinor: number;
  /** Lines that are matched with it. */
  readonly lines: number;
  /** When the service moved the money; to sort by. */
  readonly movedMicros: number;
}

export interface SettlementCandidate {
  readonly id: number;
  readonly reference: string;
  readonly currency: string;
  readonly netMinor: bigint;
  /** The day of its last line. */
  readonly day: string;
  readonly bankLines: number;
}

export interface NewMatch {
  readonly lineId: number;
  readonly targetKind: TargetKind;
  readonly targetId: string;
  readonly rule: MatchRule;
  readonly reason: string;
}

/** Rule 2. */
export function matchById(
  lines: readonly OpenLine[],
  candidates: readonly Candidate[],
): readonly NewMatch[] {
  return lines.flatMap((line) => {
    const named = candidates.find(
      (candidate) => candidate.id === line.reference && isOfKind(line, candidate),
    );
    if (!named) return [];
    return [matchOf(line, named, { rule: 'id', reason: `the line names ${named.id}` })];
  });
}

/** Rules 3 and 4. @param lines in the order of their days, without those that rule 2 matches on any page */
export function matchByPaymentOrOrder(
  lines: readonly OpenLine[],
  candidates: readonly Candidate[],
): readonly NewMatch[] {
  const taken = new Set<string>();
  const inOrder = candidates.toSorted((one, other) => one.movedMicros - other.movedMicros);
  return lines.flatMap((line) => {
    const free = inOrder.filter(
      (candidate) =>
        isOfKind(line, candidate) && candidate.lines === 0 && !taken.has(keyOf(candidate)),
    );
    const found = byPaymentOrOrder(line, free);
    if (!found) return [];
    taken.add(keyOf(found.candidate));
    return [matchOf(line, found.candidate, found)];
  });
}

function isOfKind({ type, currency }: OpenLine, candidate: Candidate): boolean {
  return candidate.kind === type && candidate.currency === currency;
}

interface Found {
  readonly candidate: Candidate;
  readonly rule: MatchRule;
  readonly reason: string;
}

function byPaymentOrOrder(line: OpenLine, free: readonly Candidate[]): Found | undefined {
  const { reference, currency } = line;
  if (reference === null) return undefined;
  const movedMinor = movedMinorOf(line);
  const amount = formatMoney(movedMinor, currency);
  const fitting = free.filter(({ amountMinor }) => amountMinor === movedMinor);
  const ofPayment = fitting.find(({ paymentId }) => paymentId === reference);
  if (ofPayment) {
    const reason = `the line names its payment ${reference}, and the amount is ${amount}`;
    return { candidate: ofPayment, rule: 'payment', reason };
  }
  const ofOrder = fitting.find(({ orderId }) => orderId === reference);
  if (!ofOrder) return undefined;
  const reason = `the line names its order ${reference}, and the amount is ${amount}`;
  return { candidate: ofOrder, rule: 'order', reason };
}

/** What the resource of a line has moved; negative: the line is of the other direction. */
function movedMinorOf({ type, grossMinor }: OpenLine): number {
  return type === 'payment' ? grossMinor : 0 - grossMinor;
}

function matchOf(
  { id: lineId }: OpenLine,
  { kind, id }: Candidate,
  { rule, reason }: Pick<Found, 'rule' | 'reason'>,
): NewMatch {
  return { lineId, targetKind: kind, targetId: id, rule, reason };
}

function keyOf({ kind, id }: Pick<Candidate, 'kind' | 'id'>): string {
  return `${kind}:${id}`;
}

/**
 * Rule 5. @param pairs lines with free candidates that they could be about: two of a line that has several, and
 * two of the only candidate of a line if another line could be about it
 */
export function matchByAmount(
  pairs: readonly { readonly line: OpenLine; readonly candidate: Candidate }[],
): readonly NewMatch[] {
  return onlyPairs(pairs, ({ line, candidate }) => [line.id, keyOf(candidate)]).map(
    ({ line, candidate }) => {
      const amount = formatMoney(movedMinorOf(line), line.currency);
      const reason = `the only ${candidate.kind} of ${amount} within ${REPORT_DAYS} days that no other line is about`;
      return matchOf(line, candidate, { rule: 'amount_and_date', reason });
    },
  );
}

/** Pairs of which neither side is in another pair. */
function onlyPairs<Pair>(
  pairs: readonly Pair[],
  sidesOf: (pair: Pair) => readonly [one: unknown, other: unknown],
): readonly Pair[] {
  const counts = [new Map<unknown, number>(), new Map<unknown, number>()] as const;
  for (const pair of pairs) {
    for (const [side, key] of sidesOf(pair).entries()) {
      const own = counts[side === 0 ? 0 : 1];
      own.set(key, (own.get(key) ?? 0) + 1);
    }
  }
  return pairs.filter((pair) => {
    const [one, other] = sidesOf(pair);
    return counts[0].get(one) === 1 && counts[1].get(other) === 1;
  });
}

/** Rule 6. */
export function matchBankByReference(
  lines: readonly OpenLine[],
  settlements: readonly SettlementCandidate[],
): readonly NewMatch[] {
  return lines.flatMap((line) => {
    const found = settlementNamed(line, settlements);
    if (!found) return [];
    const has = isNamed(line, found) ? '' : 'a number with the checksum of ';
    const reason = `the text of the line has ${has}the reference ${found.reference}`;
    return [bankMatch(line, found, { rule: 'reference', reason })];
  });
}

/** Rule 7. @param lines with all other open ones that could be about the same settlements */
export function matchBankByAmount(
  lines: readonly OpenLine[],
  settlements: readonly SettlementCandidate[],
): readonly NewMatch[] {
  const free = settlements.filter(({ bankLines }) => bankLines === 0);
  const pairs = lines
    .filter((line) => !namesAny(line, settlements))
    .flatMap((line) =>
      free
        .filter((settlement) => couldBe(line, settlement))
        .map((settlement) => ({ line, settlement })),
    );
  return onlyPairs(pairs, ({ line, settlement }) => [line.id, settlement.id]).map(
    ({ line, settlement }) => {
      const amount = formatMoney(line.grossMinor, line.currency);
      const reason = `the only settlement of ${amount} from ${BANK_DAYS.before} days before to ${BANK_DAYS.after} days after`;
      return bankMatch(line, settlement, { rule: 'amount_and_date', reason });
    },
  );
}

function bankMatch(
  { id: lineId }: OpenLine,
  { id }: SettlementCandidate,
  { rule, reason }: Pick<Found, 'rule' | 'reason'>,
): NewMatch {
  return { lineId, targetKind: 'settlement', targetId: String(id), rule, reason };
}

/** Shorter references would be found in any text. */
const SHORTEST_REFERENCE = 4;

function settlementNamed(
  line: OpenLine,
  settlements: readonly SettlementCandidate[],
): SettlementCandidate | undefined {
  const named = settlements.filter((settlement) => isNamed(line, settlement));
  const found =
    named.length > 0 ? named : settlements.filter((settlement) => isHidden(line, settlement));
  const longest = Math.max(...found.map(({ reference }) => reference.length));
  const [first, ...others] = found.filter(({ reference }) => reference.length === longest);
  return others.length === 0 ? first : undefined;
}

function namesAny(line: OpenLine, settlements: readonly SettlementCandidate[]): boolean {
  return settlements.some((settlement) => isNamed(line, settlement) || isHidden(line, settlement));
}

/** Whether a text has a reference as a word of its own: `ST-1` is not in `ST-12`. */
function isNamed({ text, currency }: OpenLine, settlement: SettlementCandidate): boolean {
  const reference = settlement.reference.toUpperCase();
  if (currency !== settlement.currency || reference.length < SHORTEST_REFERENCE) return false;
  const searched = (text ?? '').toUpperCase();
  for (let at = searched.indexOf(reference); at >= 0; at = searched.indexOf(reference, at + 1)) {
    const around = [searched[at - 1], searched[at + reference.length]];
    if (around.every((character) => character === undefined || !/[\p{L}\p{N}]/u.test(character))) {
      return true;
    }
  }
  return false;
}

/** The days keep apart the many numbers that have one checksum. */
function isHidden(line: OpenLine, settlement: SettlementCandidate): boolean {
  return (
    line.currency === settlement.currency &&
    isWithinDays(line, settlement) &&
    hidesReference(line.text ?? '', settlement.reference)
  );
}

function couldBe(line: OpenLine, settlement: SettlementCandidate): boolean {
  return (
    line.currency === settlement.currency &&
    BigInt(line.grossMinor) === settlement.netMinor &&
    isWithinDays(line, settlement)
  );
}

function isWithinDays(line: OpenLine, settlement: SettlementCandidate): boolean {
  const days = (Date.parse(line.day) - Date.parse(settlement.day)) / DAY_MS;
  return days <= BANK_DAYS.before && days >= -BANK_DAYS.after;
}
