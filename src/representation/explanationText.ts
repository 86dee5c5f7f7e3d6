/** An explanation in lines for people. Ids and texts come from outside, so the caller prints them with `printable`. */
import { formatMoney } from '../contract/money.ts';
import type { CurrencyExplanation, OrderExplanation } from '../ledger/domain/explainOrder.ts';
import type {
  AmountOrigin,
  Decision,
  EvidenceSummary,
  FieldOrigin,
  FindingExplanation,
  PartExplanation,
  TransferExplanation,
} from '../ledger/domain/explanation.ts';
import { amountsText } from './amountsText.ts';
import { contradictionText } from './contradictionText.ts';
import { fieldName } from './fieldName.ts';
import { formatTime } from './time.ts';

/** An order: why it has its status, then each of its parts. */
export function orderLines(order: OrderExplanation): readonly string[] {
  return [
    `Order ${order.orderId} is ${order.status}.`,
    `  ${order.because}`,
    ...order.movedTo.map((key) => `  Its payments now belong to ${key}.`),
    ...order.currencies.flatMap(currencyLines),
    ...order.findings.map(findingLine),
    ...order.discrepancies.map(discrepancyLine),
    ...order.parts.flatMap((part) => ['', ...partLines(part)]),
  ];
}

function currencyLines(total: CurrencyExplanation): readonly string[] {
  return [
    `  ${total.currency} is ${total.status}: ${total.because}`,
    `    ${amountsText(total)}`,
    ...total.notes.map((note) => `    ${note}`),
  ];
}

/** A resource: the winning snapshot and why it won, the origin of other fields, uncertainties, postings. */
export function partLines(part: PartExplanation): readonly string[] {
  return [
    headline(part),
    ...(part.head ? [`  Winning snapshot: ${describe(part.head)}`] : []),
    ...decisionLines(part.decision, part.bodies),
    ...part.filled.map((origin) => `  ${filledLine(origin, part.currency)}`),
    ...part.amounts.map((origin) => `  ${amountLine(origin, part)}`),
    ...uncertaintyLines(part),
    ...reasonLines(part),
    ...part.discrepancies.map(discrepancyLine),
    ...transferLines(part),
  ];
}

function headline(part: PartExplanation): string {
  const { kind, id, status, stage, amountMinor, netAmountMinor, currency } = part;
  const money =
    amountMinor === null || currency === null ? [] : [formatMoney(amountMinor, currency)];
  if (netAmountMinor !== null && netAmountMinor !== amountMinor && currency !== null) {
    money.push(`${formatMoney(netAmountMinor, currency)} with surcharge, tax and shipping`);
  }
  const at = stage === null ? [] : [`stage ${stage}`];
  return `${kind} ${id}: ${[status ?? 'not seen yet', ...at, ...money].join(', ')}`;
}

function decisionLines(decision: Decision, bodies: number): readonly string[] {
  switch (decision.outcome) {
    case 'unseen':
    case 'only_one':
      return [`  ${decision.because}`];
    case 'decided':
      return [
        `  It won over ${bodies - 1 === 1 ? 'one other' : `${bodies - 1} others`} by ${KEY_WORDS[decision.by]}. The next below it: ${describe(decision.runnerUp)}`,
        `    ${decision.because}`,
      ];
  }
}

const KEY_WORDS: Readonly<Record<(Decision & { outcome: 'decided' })['by'], string>> = {
  epoch: 'its epoch',
  stage: 'its dispute stage',
  version: "the service's own date",
  rank: 'its place in the life cycle',
  captured: 'the captured amount',
  hash: 'its hash alone',
};

const AMOUNT_FIELDS = ['amountMinor', 'netAmountMinor'];

function filledLine({ field, value, from }: FieldOrigin, currency: string | null): string {
  const shown =
    AMOUNT_FIELDS.includes(field) && typeof value === 'number' && currency !== null
      ? formatMoney(value, currency)
      : value;
  return `${fieldName(field)} ${shown} is from ${describe(from)}`;
}

function amountLine(
  { amount, amountMinor, basis, because, from }: AmountOrigin,
  { currency, head }: PartExplanation,
): string {
  const money = currency === null ? String(amountMinor) : formatMoney(amountMinor, currency);
  const isElsewhere = from !== null && from.contentHash !== head?.contentHash;
  const origin = basis === 'carried' && isElsewhere ? ` (${describe(from)})` : '';
  return `${amount} ${money}${basis === 'carried' ? '' : `, ${basis}`}: ${because}${origin}`;
}

function uncertaintyLines(part: PartExplanation): readonly string[] {
  const { contradiction, nextCheckAt } = part;
  // The line of an amount states its uncertainty already.
  const stated = new Set(part.amounts.map(({ because }) => because));
  const uncertainties = part.uncertainties.filter(({ meaning }) => !stated.has(meaning));
  return [
    ...uncertainties.map(({ name, meaning }) => `  Uncertain (${name}): ${meaning}`),
    ...part.illegalSteps.map(
      ({ from, to }) =>
        `  Uncertain: ${from} → ${to} is an impossible status transition; it was applied as received.`,
    ),
    ...(contradiction
      ? [
          `  ${contradictionText({ contradiction, held: part, nextCheckAt: nextCheckAt === null ? undefined : new Date(nextCheckAt) })}`,
        ]
      : []),
    ...part.findings.map(findingLine),
    ...(part.posts ? [] : ['  Nothing is posted until more is known.']),
    ...(nextCheckAt === null || contradiction
      ? []
      : [`  A retrieve is due since ${iso(nextCheckAt)}.`]),
  ];
}

function findingLine({ name, meaning, detail, openSince }: FindingExplanation): string {
  return `  Open since ${iso(openSince)}: ${name}. ${meaning} ${JSON.stringify(detail)}`;
}

function reasonLines(part: PartExplanation): readonly string[] {
  const { decline, reason, requestedFor } = part;
  return [
    ...(requestedFor === null ? [] : [`  Requested for: ${requestedFor}`]),
    ...(decline === null
      ? []
      : [`  Declined: ${decline.code ?? 'no code'}, ${decline.message ?? 'no message'}`]),
    ...(reason === null ? [] : [`  Reason: ${reason}`]),
    ...(decline === null ? [] : [`  Advice: ${decline.advice}`]),
  ];
}

function transferLines({ transfers, head }: PartExplanation): readonly string[] {
  if (transfers.length === 0) return head ? ['  No transfers.'] : [];
  return ['  Transfers:', ...transfers.flatMap(transferLine)];
}

function transferLine(transfer: TransferExplanation): readonly string[] {
  const { amountMinor, currency, meaning, debit, credit } = transfer;
  const reversal = transfer.isTakenBack ? 'reversed: ' : '';
  const effective = transfer.effectiveAt === null ? '' : `; effective ${iso(transfer.effectiveAt)}`;
  return [
    `    ${iso(transfer.at)}  ${formatMoney(amountMinor, currency)}  ${reversal}${meaning}`,
    `      to ${debit.name} (${debit.meaning})`,
    `      from ${credit.name} (${credit.meaning})`,
    `      from ${originOf(transfer)}; transfer ${transfer.id}, ${transfer.leg} ${transfer.number}${effective}`,
  ];
}

function discrepancyLine(text: string): string {
  return `  DIFFERS FROM THE LEDGER: ${text} Run \`npx tallyhook verify\` to check the whole ledger.`;
}

function describe(evidence: EvidenceSummary): string {
  const version =
    evidence.version === null ? 'undated' : `dated ${iso(evidence.version)} by the service`;
  return `${originOf(evidence)}: ${evidence.status ?? 'no status'}, ${version}, stored ${iso(evidence.recordedAt)}`;
}

function originOf({
  eventId,
  inboxId,
}: {
  readonly eventId: string | null;
  readonly inboxId: number | null;
}): string {
  if (inboxId === null) return 'a retrieve or list';
  // The ledger has an inbox number only of events with an id, which is removed with the row of the event.
  const event = eventId === null ? 'an event that retention has removed' : `event ${eventId}`;
  return `${event} (inbox ${inboxId})`;
}

function iso(instant: string): string {
  return formatTime(new Date(instant));
}
