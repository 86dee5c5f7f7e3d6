/**
 * Explains the state of a resource. Pure: the caller reads the stored rows and presents the result.
 *
 * Terms. *Evidence*: a stored snapshot with its source. *Runner-up*: the greatest evidence below the
 * head.
 *
 * 1. It explains the fold that the ledger applies (merge.ts); there is no second implementation.
 * 2. Every statement names its evidence, so that a reader can look it up.
 * 3. If a stored state differs from the fold of its evidence, the explanation reports a discrepancy.
 */
import { declineAdvice } from '../../contract/declines.ts';
import { formatMoney } from '../../contract/money.ts';
import { describeReason } from '../../contract/reasons.ts';
import { placeInEpochs } from './epochs.ts';
import type {
  AmountOrigin,
  Decision,
  Decline,
  Evidence,
  EvidenceSummary,
  Explained,
  FieldOrigin,
  FindingExplanation,
  JournalEntry,
  OpenFinding,
  PartExplanation,
  PartRecord,
  TransferExplanation,
} from './explanation.ts';
import { findingMeaning } from './findings.ts';
import {
  ACCOUNTS,
  type JournalKind,
  type LEGS,
  type Posted,
  type PostedLeg,
  targetsIn,
} from './legs.ts';
import {
  type AmountSource,
  amountSources,
  carrierOf,
  compareSnapshots,
  decidingField,
  foldSnapshots,
  type KeyField,
  type ResourceState,
  type Uncertainty,
} from './merge.ts';
import type { ResourceRef, SnapshotContent } from './snapshot.ts';
import { formatInstant, instantOrNull } from './time.ts';

/** What each uncertainty means for a person. */
const UNCERTAINTY_MEANINGS: Readonly<Record<Uncertainty, string>> = {
  incomplete:
    'The latest body has no status, amount or currency, and none of its version has. A retrieve is due.',
  unknown_status:
    'This version of Tallyhook does not know the status. It is stored as received, and a retrieve is due.',
  unversioned_ahead:
    'A body without a version is further along than the dated head. A retrieve will show which one is right.',
  provisional_amount:
    "No body carries the captured amount. The hold, or else the payment's net amount or its amount, is used until one does. A retrieve is due.",
  conflicting_amounts:
    'Bodies of the same time carry different amounts. A retrieve will show which one is right.',
  unknown_amount:
    'Money was captured from a hold, and no body carries the amount. Nothing is posted until a retrieve returns it.',
  unstated_capture:
    'More may have been captured than earlier bodies carry: it ended without success after a possible partial capture, or is captured in part, and the latest body has no captured amount. A retrieve is due.',
};

/** What a transfer of each leg means. */
const LEG_MEANINGS: {
  readonly [Kind in JournalKind]: Readonly<Record<keyof (typeof LEGS)[Kind], string>>;
} = {
  payment: {
    auth_opened: 'authorized, and can be captured',
    auth_consumed: 'captured from the authorization',
    auth_released: 'the rest of the authorization, released',
    captured: 'captured, and held for us by the service',
    capture_voided: 'voided after it was captured',
  },
  refund: {
    requested: 'refund requested',
    settled: 'refunded to the customer',
    released: 'not refunded: the refund failed',
  },
  dispute: {
    held: 'withheld by the service because of the dispute',
    written_off: 'lost to the dispute',
  },
  payout: {
    initiated: 'sent to the payee',
    delivered: 'received by the payee',
    returned: 'returned before the payee received it',
    reversed: 'returned after the payee received it',
  },
  settlement_line: {
    fee_charged: 'fee of the service',
    fee_returned: 'fee returned by the service',
    adjusted_up: 'added by the service, or written off',
    adjusted_down: 'deducted by the service, or written off',
  },
  bank_line: {
    bank_received: 'arrived at the bank',
    bank_withdrawn: 'withdrawn from the bank by the service',
    difference_up: 'arrived without a settlement, written off',
    difference_down: 'settled and did not arrive, written off',
  },
};

/** What a transfer of a leg means, for people. */
export function legMeaning(kind: JournalKind, leg: string): string {
  return meaningOf(LEG_MEANINGS[kind], leg);
}

/** Explains a resource from everything stored about it. */
export function explainPart(record: PartRecord): PartExplanation {
  const ascending = ascendingEvidence(record);
  const head = ascending.at(-1);
  const transfers = record.transfers.map((entry) => explainTransfer(record.ref, entry));
  const findings = record.openFindings.map(explainFinding);
  const nextCheckAt = instantOrNull(record.nextCheckMicros);
  if (!head) return unseen(record.ref, { transfers, findings, nextCheckAt });
  const state = foldSnapshots(ascending);
  const { contradiction } = record;
  return {
    ...record.ref,
    status: state.status ?? null,
    stage: state.stage ?? null,
    currency: state.currency ?? null,
    amountMinor: state.amountMinor ?? null,
    netAmountMinor: state.netAmountMinor ?? null,
    authorizedMinor: state.authorizedMinor,
    capturedMinor: state.capturedMinor,
    paymentId: state.paymentId ?? null,
    orderId: state.orderId ?? null,
    reason: describeReason(state.ref.kind, state.status, state) ?? null,
    requestedFor: (state.ref.kind === 'refund' ? state.reason : undefined) ?? null,
    bodies: ascending.length,
    head: summarize(head),
    decision: decide(head, ascending.at(-2)),
    filled: filledFields(ascending, head, state),
    amounts: amountOrigins(ascending, head, state),
    uncertainties: state.uncertainties.map((name) => ({
      name,
      meaning: UNCERTAINTY_MEANINGS[name],
    })),
    illegalSteps: state.illegalSteps,
    contradiction: contradiction
      ? { ...contradiction, observedAt: formatInstant(contradiction.observedMicros) }
      : null,
    findings,
    decline: explainDecline(state),
    posts: state.posts,
    transfers,
    discrepancies: discrepancies(record, state),
    nextCheckAt,
  };
}

/** Evidence by key, each key once: content may be stored in an epoch and then be assigned to it again. */
function ascendingEvidence({ evidence, epochs }: PartRecord): readonly Evidence[] {
  const placed = placeInEpochs(evidence, epochs);
  const ascending = evidence
    .map((observed, place) => ({ ...observed, epoch: placed[place]?.epoch ?? observed.epoch }))
    .sort((a, b) => compareSnapshots(a, b) || a.recordedMicros - b.recordedMicros);
  return ascending.filter((observed, place) => {
    const before = ascending[place - 1];
    return before === undefined || compareSnapshots(before, observed) !== 0;
  });
}

function unseen(
  ref: ResourceRef,
  rest: Pick<PartExplanation, 'transfers' | 'findings' | 'nextCheckAt'>,
): PartExplanation {
  const because = `Another resource names this ${ref.kind}, and Tallyhook has not received it yet. A retrieve is due.`;
  return {
    ...ref,
    status: null,
    stage: null,
    currency: null,
    amountMinor: null,
    netAmountMinor: null,
    authorizedMinor: 0,
    capturedMinor: 0,
    paymentId: null,
    orderId: null,
    reason: null,
    requestedFor: null,
    bodies: 0,
    head: null,
    decision: { outcome: 'unseen', because },
    filled: [],
    amounts: [],
    uncertainties: [],
    illegalSteps: [],
    contradiction: null,
    decline: null,
    posts: false,
    discrepancies: [],
    ...rest,
  };
}

function decide(head: Evidence, runnerUp: Evidence | undefined): Decision {
  const by = runnerUp && decidingField(head, runnerUp);
  if (!runnerUp || !by) {
    return { outcome: 'only_one', because: 'It is the only body.' };
  }
  return {
    outcome: 'decided',
    by,
    because: REASONS[by](head, runnerUp),
    runnerUp: summarize(runnerUp),
  };
}

const REASONS: Readonly<Record<KeyField, (head: Evidence, other: Evidence) => string>> = {
  epoch: (head, other) =>
    `It belongs to epoch ${head.epoch}, the other to epoch ${other.epoch}: retrieves showed which body is right, and earlier bodies no longer count.`,
  stage: (head, other) =>
    `Disputes only move to later stages, and ${stageOf(head)} is later than ${stageOf(other)}.`,
  version: ({ content: { versionMicros } }, other) =>
    other.content.versionMicros === undefined
      ? `It has a version (${instantOrNull(versionMicros)}), and the other does not.`
      : `Its version is later: ${instantOrNull(versionMicros)}, not ${instantOrNull(other.content.versionMicros)}.`,
  rank: (head, other) =>
    `Their versions are equal or missing, and ${statusOf(head)} ranks above ${statusOf(other)}.`,
  captured: ({ content }, other) =>
    `Their versions and ranks are equal, and captured amounts only grow: it carries ${carriedOf(content)}, the other ${carriedOf(other.content)}.`,
  hash: () =>
    'They are equal in everything that has an order, so the greater hash wins: the order of arrival does not matter.',
};

function stageOf({ content }: Evidence): string {
  return content.stage ?? 'dispute';
}

function statusOf({ content }: Evidence): string {
  return content.status ?? 'no status';
}

function carriedOf({ amountReceivedMinor, currency }: SnapshotContent): string {
  if (amountReceivedMinor === undefined) return 'none';
  return currency === undefined
    ? `${amountReceivedMinor} in minor units`
    : formatMoney(amountReceivedMinor, currency);
}

/** Fields with an explained origin. Captured and held amounts follow another rule; see amountOrigins. */
const EXPLAINED_FIELDS = [
  'status',
  'stage',
  'amountMinor',
  'currency',
  'paymentId',
  'orderId',
  'captureMethod',
  'createdMicros',
  'deadlineMicros',
  'unifiedCode',
  'unifiedMessage',
  'errorCode',
  'netAmountMinor',
  'errorMessage',
  'reason',
  'reasonCode',
] as const satisfies readonly (keyof SnapshotContent)[];

function filledFields(
  ascending: readonly Evidence[],
  head: Evidence,
  state: ResourceState,
): readonly FieldOrigin[] {
  return EXPLAINED_FIELDS.flatMap((field): readonly FieldOrigin[] => {
    const value = state[field];
    if (value === undefined || head.content[field] !== undefined) return [];
    const from = carrierOf(ascending, field);
    if (!from) return [];
    const isInstant = field.endsWith('Micros') && typeof value === 'number';
    return [
      {
        field: field.replace(/Micros$/, 'At'),
        value: isInstant ? formatInstant(value) : value,
        from: summarize(from),
      },
    ];
  });
}

function amountOrigins(
  ascending: readonly Evidence[],
  head: Evidence,
  state: ResourceState,
): readonly AmountOrigin[] {
  if (state.ref.kind !== 'payment') return [];
  const { captured, authorized } = amountSources(ascending, state);
  const isNothingCaptured =
    state.capturedMinor === 0 && captured.from === undefined && captured.basis !== 'unknown';
  return [
    ...(isNothingCaptured
      ? []
      : [origin({ amount: 'captured', amountMinor: state.capturedMinor }, captured, head)]),
    ...(state.authorizedMinor === 0
      ? []
      : [origin({ amount: 'authorized', amountMinor: state.authorizedMinor }, authorized, head)]),
  ];
}

function origin(
  named: Pick<AmountOrigin, 'amount' | 'amountMinor'>,
  { basis, from }: AmountSource<Evidence>,
  head: Evidence,
): AmountOrigin {
  return {
    ...named,
    basis,
    from: from ? summarize(from) : null,
    because: becauseOf(basis, from, head),
  };
}

function becauseOf(
  basis: AmountOrigin['basis'],
  from: Evidence | undefined,
  head: Evidence,
): string {
  switch (basis) {
    case 'unknown':
      return UNCERTAINTY_MEANINGS.unknown_amount;
    case 'provisional':
      return UNCERTAINTY_MEANINGS.provisional_amount;
    case 'carried':
      return from && compareSnapshots(from, head) === 0
        ? 'The head carries it.'
        : 'The largest amount that a body carries: within an epoch it only grows.';
  }
}

export function explainFinding(finding: OpenFinding): FindingExplanation {
  return {
    name: finding.class,
    meaning: findingMeaning(finding.class),
    detail: finding.detail,
    openSince: formatInstant(finding.openedMicros),
  };
}

/** Advice for a payment that is failed now. A code of an earlier attempt no longer applies. */
function explainDecline({
  ref,
  status,
  unifiedCode,
  unifiedMessage,
}: ResourceState): Decline | null {
  if (ref.kind !== 'payment' || status !== 'failed') return null;
  return declineOf(unifiedCode, unifiedMessage);
}

/** The meaning of a failed payment's code, and what to do; see contract/declines.ts. */
export function declineOf(code: string | undefined, message: string | undefined): Decline {
  if (code === undefined) {
    return {
      code: null,
      message: message ?? null,
      retry: null,
      mayRetry: null,
      mayUseAnotherMethod: null,
      advice: 'The service sent no code, so it is not known whether another attempt can succeed.',
    };
  }
  const { customerMessage, explanation, ...advice } = declineAdvice(code);
  const { retry, mayRetry, mayUseAnotherMethod } = advice;
  return {
    code,
    message: message ?? customerMessage ?? null,
    retry,
    mayRetry,
    mayUseAnotherMethod,
    advice: explanation,
  };
}

function explainTransfer({ kind }: ResourceRef, entry: JournalEntry): TransferExplanation {
  return {
    id: entry.id,
    at: formatInstant(entry.recordedMicros),
    effectiveAt: instantOrNull(entry.effectiveMicros),
    leg: entry.leg,
    number: entry.seq,
    currency: entry.currency,
    amountMinor: entry.amountMinor,
    debit: explainAccount(entry.debit),
    credit: explainAccount(entry.credit),
    meaning: legMeaning(kind, entry.leg),
    isTakenBack: entry.cumulativeMinor < entry.previousMinor,
    eventId: entry.eventId ?? null,
    inboxId: entry.inboxId ?? null,
    headHash: entry.headHash,
  };
}

function explainAccount(name: string): Explained {
  return { name, meaning: meaningOf(ACCOUNTS, name) };
}

/** Names come from the database, where a later version may have stored others. */
function meaningOf(meanings: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(meanings, name) ? (meanings[name] ?? '') : '';
}

function discrepancies(record: PartRecord, state: ResourceState): readonly string[] {
  const found: string[] = [];
  if (record.storedHeadHash !== undefined && record.storedHeadHash !== state.headHash) {
    found.push('The stored state has a different head than the evidence.');
  }
  const posted = postedBy(record);
  for (const { leg, currency, targetMinor } of targetsIn(state, posted)) {
    if (targetMinor === (posted[currency]?.[leg]?.cumulativeMinor ?? 0)) continue;
    found.push(`The leg ${leg} in ${currency} has not posted what the state requires.`);
  }
  return found;
}

/** Posted amounts according to the journal. */
function postedBy({ transfers }: PartRecord): Posted {
  const posted: Record<string, Record<string, PostedLeg>> = {};
  for (const { currency, leg, seq, cumulativeMinor } of transfers) {
    posted[currency] = { ...posted[currency], [leg]: { seq, cumulativeMinor } };
  }
  return posted;
}

function summarize(evidence: Evidence): EvidenceSummary {
  const { content } = evidence;
  return {
    contentHash: evidence.contentHash,
    source: evidence.source,
    eventId: evidence.eventId ?? null,
    inboxId: evidence.inboxId ?? null,
    observedAt: formatInstant(evidence.observedMicros),
    recordedAt: formatInstant(evidence.recordedMicros),
    epoch: evidence.epoch,
    version: instantOrNull(content.versionMicros),
    status: content.status ?? null,
    stage: content.stage ?? null,
  };
}
