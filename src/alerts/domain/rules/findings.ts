/**
 * Alerts about findings: one for each finding, with its class as the rule.
 *
 * 1. The alert follows from the finding alone: active while the finding is open and not accepted.
 * 2. A class with a grace period alerts only when the finding has been open that long: further requests
 *    to the service close most of them within minutes. Excesses wait for a confirmation by the service
 *    instead (excesses.ts).
 * 3. The table has every class; those that do not alert have a reason.
 */
import { MINUTE_MS } from '../../../platform/time.ts';
import type { Alert, Rule, Severity } from '../alert.ts';
import { instant, money, quote } from '../format.ts';
import { shellWord } from '../shellWord.ts';
import { isResourceKind } from '../subjectPath.ts';

/** What the ledger knows about a subject. Unknown for events and lists. */
export interface Place {
  /** The shop's own id. */
  readonly orderId: string | undefined;
  readonly paymentId: string | undefined;
  readonly status: string | undefined;
  readonly currency: string | undefined;
  readonly amountMinor: number | undefined;
}

/** An open finding that is not accepted. */
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
  /** Zero: alerts at once (rule 2). */
  readonly graceMs: number;
  readonly sentence: (finding: OpenFinding) => string;
  readonly nextStep: (finding: OpenFinding) => string;
}

/**
 * Long enough for repairs: a contradiction is checked after a minute, an uncertain resource is retrieved
 * after 2, 5 and 15 minutes, and the newest window is compared every 5.
 */
const REPAIR_MS = 20 * MINUTE_MS;

const UNCONFIRMED =
  ' The payment service has not confirmed this: some payments, refunds or disputes of the order could not be retrieved.';

const NO_ALERT = undefined;

const CLASS_RULES: Readonly<Record<string, ClassRule | typeof NO_ALERT>> = {
  // Money that is lost or uncertain.
  double_paid: {
    severity: 'critical',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `${named(subject)} was paid more than once: ${listedPayments(detail.payments)}. Unless each of these payments is intended, the customer is owed a refund.`,
    nextStep: (finding) =>
      `${explain(finding)}; then refund the surplus payment: npx tallyhook payments refund --reason "…" PAYMENT`,
  },
  double_loss: {
    severity: 'critical',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `Refunds and disputes of ${inner(subject)} exceed what their payments captured by ${excesses(detail)}: the customer may receive the same money twice.`,
    nextStep: (finding) =>
      `${explain(finding)}; then contest the dispute with the refund, or the other dispute, as evidence, before the dispute's deadline`,
  },
  dispute_and_refund: {
    severity: 'critical',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `${named(subject)} has a dispute (${listedParts(detail.disputes)}) and a pending refund (${listedParts(detail.refunds)}): the customer may receive the money twice.`,
    nextStep: (finding) =>
      `${explain(finding)}; then cancel the refund if the service still can, or contest the dispute with the refund as evidence before its deadline`,
  },
  over_refund: {
    severity: 'critical',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `Refunds of ${inner(subject)} exceed what their payments captured by ${excesses(detail)}.`,
    nextStep: explain,
  },
  over_capture: {
    severity: 'critical',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `${named(subject)} captured ${amount(detail.capturedMinor, detail.currency)}, more than its amount of ${amount(detail.netAmountMinor ?? detail.amountMinor, detail.currency)}.`,
    nextStep: (finding) =>
      `${explain(finding)}; contact the service's support, then refund the excess: npx tallyhook payments refund --amount ${excessIn(finding.detail)} --reason "…" ${shellWord(idOf(finding.subject))}`,
  },
  capture_revoked: {
    severity: 'critical',
    graceMs: REPAIR_MS,
    sentence: ({ subject, detail }) =>
      `The service reported ${amount(detail.revokedMinor, detail.currency)} of ${inner(subject)} as captured, and later that the payment failed. The ledger reversed the capture. Check whether the goods were shipped.`,
    nextStep: explain,
  },
  currency: {
    severity: 'critical',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `${named(subject)} has refunds or disputes in another currency than their payment: ${listed(detail.parts)}. Its totals cannot be offset against each other.`,
    nextStep: explain,
  },
  amount: {
    severity: 'critical',
    graceMs: REPAIR_MS,
    sentence: ({ subject, detail, place }) =>
      `The amount of ${typeof detail.resource === 'string' ? inner(detail.resource) : inner(subject)}${ofMoney(place)} is uncertain: it cannot be read, or responses of the service contradict each other.`,
    nextStep: ({ subject, detail }) =>
      refresh(typeof detail.resource === 'string' ? detail.resource : subject),
  },

  // The ledger and the service differ after further retrieves.
  status_conflict: {
    severity: 'warning',
    graceMs: REPAIR_MS,
    sentence: ({ subject, place }) =>
      `The history of ${inner(subject)}${ofMoney(place)} has an impossible status transition, or the service contradicts it. The ledger keeps the status ${quote(place.status)}.`,
    nextStep: explain,
  },
  payment_conflict: {
    severity: 'warning',
    graceMs: 0,
    sentence: ({ subject, detail, place }) =>
      `Events and responses of the service name different payments for ${inner(subject)}${ofMoney(place)}: ${listed(detail.namedPayments)}. The ledger assigns it to ${quote(detail.paymentId)}, which the latest one names.`,
    nextStep: (finding) =>
      `${explain(finding)}; contact the service's support to find out which payment it belongs to`,
  },
  unknown_status: {
    severity: 'warning',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `The service reports the status ${quote(detail.status)} for ${inner(subject)}, which this version of Tallyhook does not know. Its money is not posted.`,
    nextStep: ({ subject }) => `Install a newer version of Tallyhook, then run ${refresh(subject)}`,
  },
  missing_local: {
    severity: 'warning',
    graceMs: REPAIR_MS,
    sentence: ({ subject }) =>
      `The service lists ${inner(subject)}, and Tallyhook could not retrieve it into the ledger.`,
    nextStep: ({ subject }) => refresh(subject),
  },
  stale_local: {
    severity: 'warning',
    graceMs: REPAIR_MS,
    sentence: ({ subject, detail, place }) =>
      detail.difference === 'unreadable'
        ? `The service lists ${inner(subject)}${ofMoney(place)} with money that cannot be read, and a retrieve did not resolve it. The ledger keeps the status ${quote(place.status)}.`
        : `The service lists ${inner(subject)} with another state than the ledger (${quote(place.status)}), and a retrieve did not resolve the difference.`,
    nextStep: ({ subject }) => refresh(subject),
  },
  missing_remote: {
    severity: 'warning',
    graceMs: 0,
    sentence: ({ subject, place }) =>
      `The ledger has ${inner(subject)}${ofMoney(place)}, and the service responds that it does not exist.`,
    nextStep: ({ subject }) => `${refresh(subject)}; then contact the service's support about it`,
  },
  orphan: {
    severity: 'warning',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `${named(subject)} was first mentioned at ${formatTime(detail.since)}, and the service has not known it since.`,
    nextStep: explain,
  },
  totals: {
    severity: 'warning',
    graceMs: 0,
    sentence: ({ subject }) =>
      `The totals of ${listName(subject)} differ between the service and the ledger, and comparing them row by row did not resolve the difference.`,
    nextStep: ({ subject }) =>
      `npx tallyhook reconcile --stream ${listName(subject)} --mode totals --from DAY, where DAY is 120 days ago`,
  },
  list_unstable: {
    severity: 'warning',
    // The list is read every 5 minutes, and a lagging replica catches up.
    graceMs: REPAIR_MS,
    sentence: ({ subject }) =>
      `The service's list of ${listName(subject)} changes between pages or omits resources that the service has: reconciliation cannot find what the list omits.`,
    nextStep: ({ subject }) =>
      `npx tallyhook reconcile --stream ${listName(subject)} --mode full --from DAY, where DAY is the first day of the run that found it`,
  },
  filter_ignored: {
    severity: 'info',
    graceMs: 0,
    sentence: ({ subject }) =>
      `The service ignores the filter by creation time in its list of ${listName(subject)}: Tallyhook reads the whole list each time, which is expensive but correct.`,
    nextStep: accept,
  },
  watermark_ahead: {
    severity: 'warning',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `The watermark of ${listName(subject)}, ${formatTime(detail.watermark)}, was ahead of the service's clock (${formatTime(detail.service_time)}): a clock was wrong, and nothing new was compared. Reconciliation resumes ${detail.set_to === null ? 'where the first import started' : `at ${formatTime(detail.set_to)}`}.`,
    nextStep: ({ subject }) =>
      `npx tallyhook doctor compares the clocks; then npx tallyhook reconcile --stream ${listName(subject)}`,
  },

  // Events that a person must inspect.
  event_dead: {
    severity: 'warning',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `${named(subject)} could not be applied in ${String(detail.attempts)} attempts and is a dead event. Its change is in the ledger only if a later retrieve applied it.`,
    nextStep: ({ subject }) =>
      `npx tallyhook events show ${idOf(subject)}; when the cause is fixed: npx tallyhook events replay ${idOf(subject)}`,
  },
  unreadable_event: {
    severity: 'warning',
    graceMs: 0,
    sentence: ({ subject }) =>
      `${named(subject)} has a valid signature but no usable envelope. It is stored and was not applied.`,
    nextStep: ({ subject }) => `npx tallyhook events show ${idOf(subject)}`,
  },
  label_conflict: {
    severity: 'warning',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `${named(subject)} is labeled ${quote(detail.label)}, but its ids name ${resourceIn(detail)}. Nothing was posted from it; Tallyhook retrieves ${resourceIn(detail)} from the service.`,
    nextStep: ({ subject }) =>
      `npx tallyhook events show ${idOf(subject)}; contact the service's support to find out which resource the event is about, then run npx tallyhook refresh ID`,
  },
  event_id_reused: {
    severity: 'warning',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `Two different bodies arrived as event ${quote(detail.eventId)} (${inner(subject)}). The first is applied; Tallyhook retrieves the current state from the service.`,
    nextStep: ({ subject }) => `npx tallyhook events show ${idOf(subject)}`,
  },
  event_repeated: {
    severity: 'warning',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `Event ${quote(detail.eventId)} arrived again (${inner(subject)}), with a valid signature, more than 400 days after it was applied. The ledger did not change. The service repeats no event after so long: somebody may be sending recorded webhooks.`,
    nextStep: ({ subject }) =>
      `npx tallyhook events show ${idOf(subject)}; if the service did not send it, replace the signing secret in WEBHOOK_SECRETS. Then accept the finding with npx tallyhook findings accept`,
  },
  foreign_merchant: {
    severity: 'critical',
    graceMs: 0,
    sentence: ({ subject, detail }) => {
      const other = quote(detail.merchantId);
      switch (detail.namedIn) {
        case 'object':
          return `${named(subject)} names your merchant account, but its object names another one, ${other}. It was not applied.`;
        case 'response':
          return `The service lists ${inner(subject)} for your API key, but its response names another merchant account, ${other}. It was not applied.`;
        default:
          return `${named(subject)} was signed with your secret for another merchant account, ${other}. It was not applied.`;
      }
    },
    nextStep: ({ subject, detail }) => {
      switch (detail.namedIn) {
        case 'object':
          return `npx tallyhook events show ${idOf(subject)}; contact the service's support to find out which account the object belongs to. If it is yours, reconciliation adds it`;
        case 'response':
          return `Check PAYMENTS_MERCHANT_ID, and that PAYMENTS_API_KEY belongs to this account; then ${refresh(subject)}`;
        default:
          return `Check PAYMENTS_MERCHANT_ID and which account sends webhooks to this address. If its events are yours, npx tallyhook replays start --state not_applied; if they are not, give that account a secret and URL of its own, and npx tallyhook findings accept --class foreign_merchant`;
      }
    },
  },
  foreign_profile: {
    severity: 'info',
    graceMs: 0,
    sentence: ({ subject, detail }) =>
      `The service sends objects of ${inner(subject)}, which is not PAYMENTS_PROFILE_ID; the first was ${resourceIn(detail)}. They are in the ledger, which covers all profiles of the account.`,
    nextStep: () =>
      'If the account has several shops, accept the finding: npx tallyhook findings list --class foreign_profile shows its number. Otherwise correct PAYMENTS_PROFILE_ID and restart',
  },

  // Reported by rules of their own, with the deadline or the age.
  overdue: NO_ALERT,
  authorization_expiring: NO_ALERT,
  // Reported by the system watch if it lasts: a single failed request means nothing.
  service_unusable: NO_ALERT,
  // The version was not used, so there is nothing to do.
  version_ahead: NO_ALERT,
  // The ids and the other label agree, so the ledger is correct.
  link: NO_ALERT,
  // The service also sends whole families of events without money.
  event_ignored: NO_ALERT,
};

/** Every class in the table (rule 3). */
export const FINDING_CLASSES_JUDGED: readonly string[] = Object.keys(CLASS_RULES);

/** Classes that alert, each of which is the name of a rule, with their grace period (rule 2). */
export const GRACES: readonly { readonly class: Rule; readonly graceMs: number }[] = Object.entries(
  CLASS_RULES,
).flatMap(([name, rule]) =>
  rule === NO_ALERT ? [] : [{ class: name as Rule, graceMs: rule.graceMs }],
);

export const ALERTING_CLASSES: readonly Rule[] = GRACES.map((grace) => grace.class);

/** Whether a class alerts at all. */
export function alertsAbout(findingClass: string): findingClass is Rule {
  return ruleOf(findingClass) !== NO_ALERT;
}

/** A class of another version has none. */
function ruleOf(findingClass: string): ClassRule | typeof NO_ALERT {
  return Object.hasOwn(CLASS_RULES, findingClass) ? CLASS_RULES[findingClass] : NO_ALERT;
}

/** The alert about an open finding (rules 1 and 2); undefined for none, or none yet. */
export function findingAlert(finding: OpenFinding): Alert | undefined {
  const { class: name, subject, detail, ageMs, place } = finding;
  const rule = ruleOf(name);
  if (rule === NO_ALERT || ageMs < rule.graceMs) return undefined;
  // An error may quote personal data.
  const { error: _, ...facts } = detail;
  const { orderId, paymentId } = place;
  const caveat = finding.isConfirmed === false ? UNCONFIRMED : '';
  return {
    rule: name as Rule,
    subject,
    variant: '',
    severity: rule.severity,
    sentence: `${rule.sentence(finding)}${caveat}`,
    nextStep: rule.nextStep(finding),
    detail: facts,
    orderId,
    paymentId,
  };
}

/** A resource in the ledger. */
interface ResourceRow {
  readonly orderKey: string | null;
  readonly paymentId: string | null;
  readonly status: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
}

type Subject = Pick<OpenFinding, 'subject' | 'detail'>;

/** The resource that a finding is about; an event may name one. */
export function resourceOf({
  subject,
  detail,
}: Subject): { readonly kind: string; readonly id: string } | undefined {
  const named = typeof detail.resource === 'string' ? detail.resource : subject;
  const [kind = '', ...rest] = named.split(':');
  return isResourceKind(kind) ? { kind, id: rest.join(':') } : undefined;
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

/** For example `payment pay_1`. An order without an id of the shop is named by its payment. */
function inner(subject: string): string {
  const [kind = '', ...rest] = subject.split(':');
  if (kind !== 'order') return `${kind} ${quote(rest.join(':'))}`;
  const id = quote(rest.slice(1).join(':'));
  return rest[0] === 'payment' ? `the order of payment ${id}` : `order ${id}`;
}

/** The same at the start of a sentence. */
function named(subject: string): string {
  const text = inner(subject);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The id after the kind; for orders, the id in their key. */
function idOf(subject: string): string {
  const [kind, ...rest] = subject.split(':');
  return rest.slice(kind === 'order' ? 1 : 0).join(':');
}

/** The list of `list:payments` and `totals:payments`. */
const listName = idOf;

function explain({ subject }: OpenFinding): string {
  return `npx tallyhook orders explain ${shellWord(idOf(subject))}`;
}

function refresh(subject: string): string {
  return `npx tallyhook refresh ${shellWord(idOf(subject))}`;
}

function accept({ subject }: OpenFinding): string {
  return `npx tallyhook findings list --subject ${shellWord(subject)}; then accept the finding: npx tallyhook findings accept NUMBER --reason "…"`;
}

function amount(amountMinor: unknown, currency: unknown): string {
  return money(
    typeof amountMinor === 'number' ? amountMinor : undefined,
    typeof currency === 'string' ? currency : undefined,
  );
}

/** In each currency, as in `10.50 EUR and 3.00 USD`. */
function excesses(detail: OpenFinding['detail']): string {
  const { others } = detail;
  return [detail, ...(Array.isArray(others) ? others : [])].map(excessOf).join(' and ');
}

function excessOf(one: unknown): string {
  const { excessMinor, currency }: Readonly<Record<string, unknown>> = Object(one);
  return amount(excessMinor, currency);
}

/** In minor units, for a command. */
function excessIn({ capturedMinor, netAmountMinor, amountMinor }: OpenFinding['detail']): string {
  const due = netAmountMinor ?? amountMinor;
  const isKnown = typeof capturedMinor === 'number' && typeof due === 'number';
  return isKnown ? String(capturedMinor - due) : 'MINOR';
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
  const { id, amountMinor, currency }: Readonly<Record<string, unknown>> = Object(part);
  return `${quote(id)}, ${amount(amountMinor, currency)}`;
}

/** Payments with what they captured. Findings of earlier versions have ids only. */
function listedPayments(payments: unknown): string {
  return joined(payments, paymentOf, '; ');
}

function paymentOf(payment: unknown): string {
  if (typeof payment === 'string') return quote(payment);
  const { id, capturedMinor, currency }: Readonly<Record<string, unknown>> = Object(payment);
  return `${quote(id)}, ${amount(capturedMinor, currency)}`;
}

function joined(items: unknown, format: (item: unknown) => string, separator: string): string {
  if (!Array.isArray(items)) return 'unknown';
  const more = items.length > MOST_LISTED ? ` and ${items.length - MOST_LISTED} more` : '';
  return `${items.slice(0, MOST_LISTED).map(format).join(separator)}${more}`;
}

function formatTime(iso: unknown): string {
  const ms = typeof iso === 'string' ? Date.parse(iso) : Number.NaN;
  return Number.isNaN(ms) ? 'an unknown time' : instant(ms);
}
