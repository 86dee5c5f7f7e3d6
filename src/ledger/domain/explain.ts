/**
 * Says why a resource stands as it does. Values in, values out: the caller reads what is stored and
 * words what comes back.
 *
 * Terms. *Evidence*: a stored snapshot with what brought it. *Runner-up*: the greatest evidence
 * below the head.
 *
 * 1. The fold that is explained is the one that the ledger applies (merge.ts); nothing is judged anew.
 * 2. Every statement names its evidence, so that it can be looked up.
 * 3. Where what is stored is not what the evidence folds to, that is said and not explained away.
 */
import { declineAdvice } from '../../contract/declines.ts';
import { formatMoney } from '../../contract/money.ts';
import { describeReason } from '../../contract/reasons.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
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
import { ACCOUNTS, type LEGS, type Posted, type PostedLeg, transfersFor } from './legs.ts';
import {
  type AmountSource,
  amountSources,
  carrierOf,
  compareSnapshots,
  type Doubt,
  decidingField,
  foldSnapshots,
  type KeyField,
  type ResourceState,
} from './merge.ts';
import type { ResourceRef, SnapshotContent } from './snapshot.ts';
import { formatInstant } from './time.ts';

/** What each doubt means for a person. */
const DOUBT_MEANINGS: Readonly<Record<Doubt, string>> = {
  incomplete:
    'The latest body lacks status, amount or currency. The service is asked for the whole.',
  unknown_status:
    'This version does not know the status: it is kept as it was sent, and the service is asked.',
  unversioned_ahead:
    'A body without a version says more than the dated one that counts. The service is asked which holds.',
  provisional_amount:
    "No body says how much; the payment's net amount, else its amount, stands in and is replaced by the first that does. The service is asked.",
  conflicting_amounts:
    'Bodies that nothing tells apart in time say different money. The service is asked which holds.',
  unknown_amount:
    'It was captured from a hold and no body says how much: nothing is posted until the service has answered.',
  unstated_capture:
    'It ended without success and may have captured a part before; no final body says how much. The service is asked.',
};

/** What the growth of each leg says. */
const LEG_MEANINGS: {
  readonly [Kind in ResourceKind]: Readonly<Record<keyof (typeof LEGS)[Kind], string>>;
} = {
  payment: {
    auth_opened: 'a hold that can be captured',
    auth_consumed: 'captured out of the hold',
    auth_released: 'the rest of the hold, released',
    captured: 'captured, and held for us by the service',
    capture_voided: 'captured, and voided afterwards',
  },
  refund: {
    requested: 'asked to be given back',
    settled: 'given back',
    released: 'not given back: the refund failed',
  },
  dispute: {
    held: 'withheld by the service because of the dispute',
    written_off: 'lost to the dispute',
  },
  payout: {
    initiated: 'sent on its way',
    delivered: 'arrived at the payee',
    returned: 'came back before it arrived',
    reversed: 'came back after it had arrived',
  },
};

/** Explains one resource from everything that is stored about it. */
export function explainPart(record: PartRecord): PartExplanation {
  const ascending = ascendingEvidence(record);
  const head = ascending.at(-1);
  const transfers = record.transfers.map((entry) => explainTransfer(record.ref, entry));
  const findings = record.openFindings.map(explainFinding);
  const nextCheckAt = instant(record.nextCheckMicros);
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
    reason: describeReason(state.ref.kind, state.status, state) ?? null,
    requestedFor: (state.ref.kind === 'refund' ? state.reason : undefined) ?? null,
    bodies: ascending.length,
    head: summarise(head),
    decision: decide(head, ascending.at(-2)),
    filled: filledFields(ascending, head, state),
    amounts: amountOrigins(ascending, head, state),
    doubts: state.doubts.map((name) => ({ name, meaning: DOUBT_MEANINGS[name] })),
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

/** Evidence by key, each key once: one content may be stored in an epoch and be placed in it again. */
function ascendingEvidence({ evidence, epochs }: PartRecord): readonly Evidence[] {
  const placed = placeInEpochs(evidence, epochs);
  const ascending = evidence
    .map((one, place) => ({ ...one, epoch: placed[place]?.epoch ?? one.epoch }))
    .sort((a, b) => compareSnapshots(a, b) || a.recordedMicros - b.recordedMicros);
  return ascending.filter((one, place) => {
    const before = ascending[place - 1];
    return before === undefined || compareSnapshots(before, one) !== 0;
  });
}

function unseen(
  ref: ResourceRef,
  rest: Pick<PartExplanation, 'transfers' | 'findings' | 'nextCheckAt'>,
): PartExplanation {
  const because = `Another resource names this ${ref.kind}, and nothing was heard of it itself yet. The service is asked for it.`;
  return {
    ...ref,
    status: null,
    stage: null,
    currency: null,
    amountMinor: null,
    netAmountMinor: null,
    authorizedMinor: 0,
    capturedMinor: 0,
    reason: null,
    requestedFor: null,
    bodies: 0,
    head: null,
    decision: { outcome: 'unseen', because },
    filled: [],
    amounts: [],
    doubts: [],
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
    return { outcome: 'only_one', because: 'Nothing else was ever said about it.' };
  }
  return {
    outcome: 'decided',
    by,
    because: REASONS[by](head, runnerUp),
    runnerUp: summarise(runnerUp),
  };
}

const REASONS: Readonly<Record<KeyField, (head: Evidence, other: Evidence) => string>> = {
  epoch: (head, other) =>
    `It belongs to epoch ${head.epoch}, the other to epoch ${other.epoch}: the service corrected itself, twice in the same way, and what it said before no longer counts.`,
  stage: (head, other) =>
    `A dispute only moves on to later stages, and ${stageOf(head)} is later than ${stageOf(other)}.`,
  version: ({ content: { versionMicros } }, other) =>
    other.content.versionMicros === undefined
      ? `It is dated by the service itself (${instant(versionMicros)}), the other is not.`
      : `The service changed it later: ${instant(versionMicros)}, not ${instant(other.content.versionMicros)}.`,
  rank: (head, other) =>
    `Their dates are the same or missing, and ${statusOf(head)} comes later in a life than ${statusOf(other)}.`,
  captured: ({ content }, other) =>
    `Date and status tell them apart no more, and captured amounts only grow: it carries ${carriedOf(content)}, the other ${carriedOf(other.content)}.`,
  hash: () =>
    'They differ in nothing that has an order, so the greater hash decides: like that every order of arrival ends the same.',
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

/** Fields worth an origin. Amounts captured and held have their own rule; see amountOrigins. */
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
        from: summarise(from),
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
    from: from ? summarise(from) : null,
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
      return DOUBT_MEANINGS.unknown_amount;
    case 'provisional':
      return DOUBT_MEANINGS.provisional_amount;
    case 'carried':
      return from && compareSnapshots(from, head) === 0
        ? 'The body that counts carries it.'
        : 'The largest that a body carries: within an epoch it only grows.';
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

/** Advice is for a payment that is failed now; a code of an earlier attempt says nothing any more. */
function explainDecline({
  ref,
  status,
  unifiedCode,
  unifiedMessage,
}: ResourceState): Decline | null {
  if (ref.kind !== 'payment' || status !== 'failed') return null;
  return declineOf(unifiedCode, unifiedMessage);
}

/** What a failed payment's code means and what to do; see contract/declines.ts. */
export function declineOf(code: string | undefined, message: string | undefined): Decline {
  if (code === undefined) {
    return {
      code: null,
      message: message ?? null,
      retry: null,
      mayRetry: null,
      mayUseAnotherMethod: null,
      advice: 'The service gave no code, so nothing says whether another attempt helps.',
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
    leg: entry.leg,
    number: entry.seq,
    currency: entry.currency,
    amountMinor: entry.amountMinor,
    debit: explainAccount(entry.debit),
    credit: explainAccount(entry.credit),
    meaning: meaningOf(LEG_MEANINGS[kind], entry.leg),
    isTakenBack: entry.cumulativeMinor < entry.previousMinor,
    eventId: entry.eventId ?? null,
    inboxId: entry.inboxId ?? null,
    headHash: entry.headHash,
  };
}

function explainAccount(name: string): Explained {
  return { name, meaning: meaningOf(ACCOUNTS, name) };
}

/** Names come from the database, where a later version may know more of them. */
function meaningOf(meanings: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(meanings, name) ? (meanings[name] ?? '') : '';
}

function discrepancies(record: PartRecord, state: ResourceState): readonly string[] {
  const found: string[] = [];
  if (record.storedHeadHash !== undefined && record.storedHeadHash !== state.headHash) {
    found.push('The stored state follows another body than the one that counts.');
  }
  for (const { leg, currency } of transfersFor(state, postedBy(record))) {
    found.push(`The leg ${leg} in ${currency} has not moved what the state says.`);
  }
  return found;
}

/** How far the legs have come by the journal itself. */
function postedBy({ transfers }: PartRecord): Posted {
  const posted: Record<string, Record<string, PostedLeg>> = {};
  for (const { currency, leg, seq, cumulativeMinor } of transfers) {
    posted[currency] = { ...posted[currency], [leg]: { seq, cumulativeMinor } };
  }
  return posted;
}

function summarise(evidence: Evidence): EvidenceSummary {
  const { content } = evidence;
  return {
    contentHash: evidence.contentHash,
    source: evidence.source,
    eventId: evidence.eventId ?? null,
    inboxId: evidence.inboxId ?? null,
    observedAt: formatInstant(evidence.observedMicros),
    recordedAt: formatInstant(evidence.recordedMicros),
    epoch: evidence.epoch,
    version: instant(content.versionMicros),
    status: content.status ?? null,
    stage: content.stage ?? null,
  };
}

function instant(micros: number | undefined): string | null {
  return micros === undefined ? null : formatInstant(micros);
}
