/**
 * Alerts about findings: one for each finding, under the name of its class.
 *
 * 1. What stands follows from the finding alone: an open one that nobody accepted has its alert, a
 *    closed or accepted one has none.
 * 2. A class with a grace is spoken of only when the finding has stood so long: asking the service
 *    again settles most of them within minutes, and who is told of those stops listening. Excesses
 *    wait for a confirmation by the service instead (excesses.ts).
 * 3. Every class is in the table, also those that alert nobody, with the reason.
 */
import type { Alert, Rule, Severity } from '../alert.ts';
import { shellWord } from '../shellWord.ts';
import { instant, money, quote } from '../words.ts';

/** Where a subject belongs, as far as the ledger knows; of events and lists it knows nothing. */
export interface Place {
  /** The shop's own id. */
  readonly orderId: string | undefined;
  readonly paymentId: string | undefined;
  readonly status: string | undefined;
  readonly currency: string | undefined;
  readonly amountMinor: number | undefined;
}

/** An open finding that nobody accepted. */
export interface OpenFinding {
  readonly class: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** How long it has been open. */
  readonly ageMs: number;
  /** False for an excess that alerts although the service did not confirm it. */
  readonly isConfirmed?: boolean;
  readonly place: Place;
}

interface ClassRule {
  readonly severity: Severity;
  /** Zero: spoken of at once (rule 2). */
  readonly graceMs: number;
  readonly say: (finding: OpenFinding) => string;
  readonly nextStep: (finding: OpenFinding) => string;
}

const MINUTE_MS = 60_000;
/**
 * A contradiction is confirmed or dropped after a minute, what is unclear is asked for again after 2,
 * 5 and 15 minutes, and the newest span is compared every 5: what stands after this stays.
 */
const HEALING_MS = 20 * MINUTE_MS;

const UNCONFIRMED =
  ' The payment service has not confirmed this: it could not be asked about every part.';

const SILENT = undefined;

const CLASS_RULES: Readonly<Record<string, ClassRule | typeof SILENT>> = {
  // Money that is gone or in doubt.
  double_paid: {
    severity: 'critical',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `${named(subject)} was paid more than once: ${listed(detail.payments)}. The customer is owed one of them.`,
    nextStep: (finding) => `${explain(finding)}; then refund the payment that is too many`,
  },
  double_loss: {
    severity: 'critical',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `Refunds and disputes of ${inner(subject)} together exceed what was captured by ${amount(detail.excessMinor, detail.currency)}: the same money goes out twice.`,
    nextStep: (finding) =>
      `${explain(finding)}; then contest the dispute with the refund as evidence`,
  },
  dispute_and_refund: {
    severity: 'critical',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `${named(subject)} is disputed (${listedParts(detail.disputes)}) while money of it is being refunded (${listedParts(detail.refunds)}): the customer may receive it twice.`,
    nextStep: (finding) =>
      `${explain(finding)}; then stop the refund if the service still can, or contest the dispute with it as evidence`,
  },
  over_refund: {
    severity: 'critical',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `Refunds of ${inner(subject)} exceed what was captured by ${amount(detail.excessMinor, detail.currency)}.`,
    nextStep: explain,
  },
  over_capture: {
    severity: 'critical',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `${named(subject)} captured ${amount(detail.capturedMinor, detail.currency)}, more than the ${amount(detail.netAmountMinor ?? detail.amountMinor, detail.currency)} it asked for.`,
    nextStep: explain,
  },
  capture_revoked: {
    severity: 'critical',
    graceMs: HEALING_MS,
    say: ({ subject, detail }) =>
      `The service reported ${amount(detail.revokedMinor, detail.currency)} of ${inner(subject)} as captured, and later that the payment failed. The capture is reversed in the ledger; goods may have been shipped for it.`,
    nextStep: explain,
  },
  currency: {
    severity: 'critical',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `${named(subject)} has refunds or disputes in another currency than their payment: ${listed(detail.parts)}. Its totals cannot be set off against each other.`,
    nextStep: explain,
  },
  amount: {
    severity: 'critical',
    graceMs: HEALING_MS,
    say: ({ subject, detail, place }) =>
      `The amount of ${typeof detail.resource === 'string' ? inner(detail.resource) : inner(subject)}${ofMoney(place)} cannot be trusted: it cannot be read, or answers of the service contradict each other.`,
    nextStep: ({ subject, detail }) =>
      refresh(typeof detail.resource === 'string' ? detail.resource : subject),
  },

  // The ledger and the service disagree, and asking again did not help.
  status_conflict: {
    severity: 'warning',
    graceMs: HEALING_MS,
    say: ({ subject, place }) =>
      `The history of ${inner(subject)}${ofMoney(place)} holds a step that no life can take, or the service contradicts it; it is kept as ${quote(place.status)}.`,
    nextStep: explain,
  },
  payment_conflict: {
    severity: 'warning',
    graceMs: 0,
    say: ({ subject, detail, place }) =>
      `Events and answers of the service name different payments for ${inner(subject)}${ofMoney(place)}: ${listed(detail.namedPayments)}. It is counted with ${quote(detail.paymentId)}, which the latest one names.`,
    nextStep: (finding) =>
      `${explain(finding)}; ask the service's support which payment it belongs to`,
  },
  unknown_status: {
    severity: 'warning',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `The service says that ${inner(subject)} is ${quote(detail.status)}, a status that this version does not know; its money is not posted.`,
    nextStep: ({ subject }) => `look for a newer version of Tallyhook, then ${refresh(subject)}`,
  },
  missing_local: {
    severity: 'warning',
    graceMs: HEALING_MS,
    say: ({ subject }) =>
      `The service lists ${inner(subject)}, and it could not be brought into the ledger.`,
    nextStep: ({ subject }) => refresh(subject),
  },
  stale_local: {
    severity: 'warning',
    graceMs: HEALING_MS,
    say: ({ subject, place }) =>
      `The service lists ${inner(subject)} in another state than the ledger's (${quote(place.status)}), and asking for it did not bring that here.`,
    nextStep: ({ subject }) => refresh(subject),
  },
  missing_remote: {
    severity: 'warning',
    graceMs: 0,
    say: ({ subject, place }) =>
      `The ledger holds ${inner(subject)}${ofMoney(place)}, and the service does not know it.`,
    nextStep: ({ subject }) => `${refresh(subject)}; then ask the service's support about it`,
  },
  orphan: {
    severity: 'warning',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `${named(subject)} was mentioned first at ${sayTime(detail.since)}, and the service has not known it since.`,
    nextStep: explain,
  },
  totals: {
    severity: 'warning',
    graceMs: 0,
    say: ({ subject }) =>
      `The service counts other ${listName(subject)} than the ledger, and comparing them row by row did not mend it.`,
    nextStep: ({ subject }) => `npx tallyhook reconcile --stream ${listName(subject)} --mode full`,
  },
  list_unstable: {
    severity: 'warning',
    // The list is read anew every 5 minutes, and a replica that lags comes to rest.
    graceMs: HEALING_MS,
    say: ({ subject }) =>
      `The service's list of ${listName(subject)} does not come to rest, or lacks what the service knows: what it never shows cannot be found.`,
    nextStep: ({ subject }) => `npx tallyhook reconcile --stream ${listName(subject)} --mode full`,
  },
  filter_ignored: {
    severity: 'info',
    graceMs: 0,
    say: ({ subject }) =>
      `The service ignores the filter of created time in its list of ${listName(subject)}: the list is read whole each time, which costs requests and misses nothing.`,
    nextStep: accept,
  },
  watermark_ahead: {
    severity: 'warning',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `The list of ${listName(subject)} counted as read up to ${sayTime(detail.watermark)}, ahead of the service's clock (${sayTime(detail.serviceTime)}): a clock was wrong, and nothing new was compared since. Reading resumes ${detail.setTo === null ? 'as far back as the first time' : `at ${sayTime(detail.setTo)}`}.`,
    nextStep: ({ subject }) =>
      `npx tallyhook doctor compares the clocks; then npx tallyhook reconcile --stream ${listName(subject)}`,
  },

  // Events that somebody has to look at.
  event_dead: {
    severity: 'warning',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `${named(subject)} could not be applied in ${String(detail.attempts)} attempts and was set aside; what it told is in the ledger only if the service was asked since.`,
    nextStep: ({ subject }) =>
      `npx tallyhook events show ${idOf(subject)}; when its cause is gone: npx tallyhook events replay ${idOf(subject)}`,
  },
  unreadable_event: {
    severity: 'warning',
    graceMs: 0,
    say: ({ subject }) =>
      `${named(subject)} has a valid signature and no usable envelope; it is kept and was not applied.`,
    nextStep: ({ subject }) => `npx tallyhook events show ${idOf(subject)}`,
  },
  label_conflict: {
    severity: 'warning',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `${named(subject)} is labeled ${quote(detail.label)}, and its ids name ${resourceIn(detail)}: nothing was posted from it. The service is asked about ${resourceIn(detail)}.`,
    nextStep: ({ subject }) =>
      `npx tallyhook events show ${idOf(subject)}; ask the service's support what the event is about, then refresh that with npx tallyhook refresh ID`,
  },
  event_id_reused: {
    severity: 'warning',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `Two different bodies came as event ${quote(detail.eventId)} (${inner(subject)}). The first counts; the service is asked what is true.`,
    nextStep: ({ subject }) => `npx tallyhook events show ${idOf(subject)}`,
  },
  foreign_merchant: {
    severity: 'critical',
    graceMs: 0,
    say: ({ subject, detail }) =>
      `${named(subject)} was signed with your secret for another merchant account, ${quote(detail.merchantId)}; it was not applied.`,
    nextStep: ({ subject }) =>
      `check PAYMENTS_MERCHANT_ID, and which account sends here; then npx tallyhook events replay ${idOf(subject)}`,
  },

  // Said by rules of their own, with the deadline or the time that it stands.
  overdue: SILENT,
  authorization_expiring: SILENT,
  // Said by the check of the system when it lasts: one failed request comes and goes.
  service_unusable: SILENT,
  // The version was not used, and nothing is to be done about it here.
  version_ahead: SILENT,
  // The ids and the other label agree, so that nothing is wrong in the ledger.
  link: SILENT,
  // The service also sends what is no money: whole families of events would alert.
  event_ignored: SILENT,
};

/** Every class that the table knows (rule 3). */
export const FINDING_CLASSES_JUDGED: readonly string[] = Object.keys(CLASS_RULES);

/** Classes that alert somebody; each is the name of a rule. */
export const ALERTING_CLASSES = Object.entries(CLASS_RULES).flatMap(([name, rule]) =>
  rule === SILENT ? [] : [name as Rule],
);

/** How long each of them stands before it is spoken of (rule 2). */
export const GRACES: readonly { readonly class: Rule; readonly graceMs: number }[] =
  ALERTING_CLASSES.map((name) => ({ class: name, graceMs: CLASS_RULES[name]?.graceMs ?? 0 }));

/** Whether a class alerts anybody, ever. */
export function alertsAbout(findingClass: string): findingClass is Rule {
  return Object.hasOwn(CLASS_RULES, findingClass) && CLASS_RULES[findingClass] !== SILENT;
}

/** What should stand about an open finding (rules 1 and 2); undefined for nothing, or nothing yet. */
export function findingAlert(finding: OpenFinding): Alert | undefined {
  const { class: name, subject, detail, ageMs, place } = finding;
  if (!alertsAbout(name)) return undefined;
  const rule = CLASS_RULES[name];
  if (!rule || ageMs < rule.graceMs) return undefined;
  // An error may quote what it failed on.
  const { error: _, ...facts } = detail;
  const { orderId, paymentId } = place;
  const caveat = finding.isConfirmed === false ? UNCONFIRMED : '';
  return {
    rule: name,
    subject,
    variant: '',
    severity: rule.severity,
    sentence: `${rule.say(finding)}${caveat}`,
    nextStep: rule.nextStep(finding),
    detail: facts,
    orderId,
    paymentId,
  };
}

/** What the ledger holds of a resource. */
interface ResourceRow {
  readonly orderKey: string | null;
  readonly paymentId: string | null;
  readonly status: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
}

type Subject = Pick<OpenFinding, 'subject' | 'detail'>;

const RESOURCE_KINDS = ['payment', 'refund', 'dispute', 'payout'];

/** The resource that a finding is about; an event may name one. */
export function resourceOf({
  subject,
  detail,
}: Subject): { readonly kind: string; readonly id: string } | undefined {
  const named = typeof detail.resource === 'string' ? detail.resource : subject;
  const [kind = '', ...rest] = named.split(':');
  return RESOURCE_KINDS.includes(kind) ? { kind, id: rest.join(':') } : undefined;
}

/** @param row of `resourceOf`, where the ledger has it */
export function placeOf(finding: Subject, row: ResourceRow | undefined): Place {
  const { subject } = finding;
  const orderKey = subject.startsWith('order:') ? subject.slice('order:'.length) : row?.orderKey;
  const [keyKind, ...keyId] = orderKey?.split(':') ?? [];
  const resource = resourceOf(finding);
  const ownPayment = resource?.kind === 'payment' ? resource.id : undefined;
  return {
    orderId: keyKind === 'order' ? keyId.join(':') : undefined,
    paymentId:
      ownPayment ?? row?.paymentId ?? (keyKind === 'payment' ? keyId.join(':') : undefined),
    status: row?.status ?? undefined,
    currency: row?.currency ?? undefined,
    amountMinor: row?.amountMinor ?? undefined,
  };
}

/** `payment pay_1`; the two kinds of orders are told apart as their keys are. */
function inner(subject: string): string {
  const [kind = '', ...rest] = subject.split(':');
  if (kind !== 'order') return `${kind} ${quote(rest.join(':'))}`;
  const id = quote(rest.slice(1).join(':'));
  return rest[0] === 'payment' ? `the order of payment ${id}` : `order ${id}`;
}

/** The same at the beginning of a sentence. */
function named(subject: string): string {
  const text = inner(subject);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What follows the kind; of orders, their own id. */
function idOf(subject: string): string {
  const [kind, ...rest] = subject.split(':');
  return rest.slice(kind === 'order' ? 1 : 0).join(':');
}

/** Of `list:payments` and `totals:payments`, what is listed. */
const listName = idOf;

function explain({ subject }: OpenFinding): string {
  return `npx tallyhook orders explain ${shellWord(idOf(subject))}`;
}

function refresh(subject: string): string {
  return `npx tallyhook refresh ${shellWord(idOf(subject))}`;
}

function accept({ subject }: OpenFinding): string {
  return `npx tallyhook findings list --subject ${shellWord(subject)}; then accept it: npx tallyhook findings accept NUMBER --reason "…"`;
}

function amount(amountMinor: unknown, currency: unknown): string {
  return money(
    typeof amountMinor === 'number' ? amountMinor : undefined,
    typeof currency === 'string' ? currency : undefined,
  );
}

/** The resource that the detail of a finding about an event names. */
function resourceIn({ resource }: OpenFinding['detail']): string {
  return typeof resource === 'string' ? inner(resource) : 'nothing';
}

function ofMoney({ amountMinor, currency }: Place): string {
  return amountMinor === undefined ? '' : ` of ${money(amountMinor, currency)}`;
}

const MOST_LISTED = 5;

function listed(ids: unknown): string {
  return joined(ids, quote, ', ');
}

/** Refunds or disputes with their amounts. */
function listedParts(parts: unknown): string {
  return joined(parts, partOf, '; ');
}

function partOf(part: unknown): string {
  const facts = typeof part === 'object' && part !== null ? { ...part } : {};
  const { id, amountMinor, currency }: Readonly<Record<string, unknown>> = facts;
  return `${quote(id)}, ${amount(amountMinor, currency)}`;
}

function joined(items: unknown, say: (item: unknown) => string, separator: string): string {
  if (!Array.isArray(items)) return 'unknown';
  const more = items.length > MOST_LISTED ? ` and ${items.length - MOST_LISTED} more` : '';
  return `${items.slice(0, MOST_LISTED).map(say).join(separator)}${more}`;
}

function sayTime(iso: unknown): string {
  const ms = typeof iso === 'string' ? Date.parse(iso) : Number.NaN;
  return Number.isNaN(ms) ? 'an unknown time' : instant(ms);
}
