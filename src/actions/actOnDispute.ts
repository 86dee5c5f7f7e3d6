/**
 * Contests or accepts a dispute for a person.
 *
 * 1. The dispute is retrieved after the claim, and nothing is sent unless its amount, stage and status are
 *    those that the person saw and it can still be decided.
 * 2. The audit log has an entry before each request, which is also the claim: while an attempt has no
 *    result, there is no second one. It has the names of the fields of evidence, never their values.
 * 3. A lost response is resolved by a retrieve: accepted is done, and so is evidence that the service has.
 *    Where the retrieve does not show it, the outcome is unknown.
 * 4. Evidence that somebody changed after the person read it is not overwritten.
 */
import type { Actor } from '../audit/domain/actor.ts';
import type { AuditAction, AuditIntent, FinalResult } from '../audit/domain/entry.ts';
import { type ClaimedAttempt, recordExclusiveAttempt } from '../audit/recordAudit.ts';
import type { DisputeService, EvidenceValues, Uploaded } from '../disputes/disputeService.ts';
import { changedFields, type Edited } from '../disputes/domain/evidence.ts';
import { evidenceVersion } from '../disputes/evidenceVersion.ts';
import { type ListedResource, readListedResource } from '../ledger/read/store/resourceList.ts';
import type { ActionOutcome } from '../outcomes/action.ts';
import type { RefreshOutcome } from '../outcomes/refresh.ts';
import type { Database } from '../platform/db/database.ts';

export interface DisputeParts {
  readonly db: Database;
  readonly service: DisputeService;
}

/** What the person saw. */
export interface SeenDispute {
  readonly disputeId: string;
  /** Minor units. */
  readonly amountMinor: number;
  readonly currency: string;
  readonly stage: string | null;
  readonly reason: string;
}

type Sent = ActionOutcome | Changed | Edited;

/** Nothing happened: the dispute is not what the person saw, or nothing can be done about it. */
interface Changed {
  readonly outcome: 'changed';
  /** Undefined: the ledger does not have it. */
  readonly now: ListedResource | undefined;
}

export type ActedOnDispute =
  | ((
      | { readonly outcome: 'done'; readonly status: string | null }
      | Exclude<Sent, { outcome: 'done' }>
    ) & { readonly attempt: number })
  | ClaimedAttempt;

export function acceptDisputeAs(
  parts: DisputeParts,
  actor: Actor,
  seen: SeenDispute,
): Promise<ActedOnDispute> {
  const detail = { amount: seen.amountMinor, currency: seen.currency };
  return act(parts, { actor, action: 'dispute.accept', seen, detail }, async () => {
    const sent = await parts.service.accept(seen.disputeId);
    if (sent.outcome === 'done') return sent;
    const now = await retrieved(parts, seen.disputeId);
    return sent.outcome === 'unknown' && now?.status === 'accepted' ? { outcome: 'done' } : sent;
  });
}

interface EvidenceInput extends SeenDispute {
  /** The fields to set; an empty text clears one. Fields that do not differ are not sent. */
  readonly wanted: EvidenceValues;
  /** Of the evidence that the person read; undefined: what the service has is overwritten in any case. */
  readonly evidenceVersion: string | undefined;
}

export function submitEvidenceAs(
  parts: DisputeParts,
  actor: Actor,
  { wanted, evidenceVersion: seenVersion, ...seen }: EvidenceInput,
): Promise<ActedOnDispute> {
  const { disputeId } = seen;
  const detail = { fields: Object.keys(wanted) };
  return act(parts, { actor, action: 'dispute.evidence', seen, detail }, async () => {
    const before = await parts.service.readEvidence(disputeId);
    if (before.outcome === 'failed') return before;
    const changes = changedFields(before.values, wanted);
    if (Object.keys(changes).length === 0) {
      return { outcome: 'refused', reason: 'the service has exactly this evidence already' };
    }
    if (seenVersion !== undefined && seenVersion !== evidenceVersion(before.values)) {
      return { outcome: 'edited', fields: differences(before.values, changes) };
    }
    const sent = await parts.service.submitEvidence(disputeId, changes);
    if (sent.outcome !== 'unknown') return sent;
    const after = await parts.service.readEvidence(disputeId);
    const isThere =
      after.outcome === 'read' && Object.keys(changedFields(after.values, wanted)).length === 0;
    return isThere ? { outcome: 'done' } : sent;
  });
}

function differences(atService: EvidenceValues, wanted: EvidenceValues): Edited['fields'] {
  const has = new Map(Object.entries(atService));
  return Object.entries(wanted).map(([name, text]) => ({
    name,
    atService: has.get(name) ?? '',
    wanted: text ?? '',
  }));
}

export type UploadedAs = (Uploaded | Changed) & { readonly attempt: number };

/** Uploads a file for evidence. It is submitted only when a field names its id. */
export async function uploadEvidenceAs(
  parts: DisputeParts,
  actor: Actor,
  { disputeId, file }: { readonly disputeId: string; readonly file: File },
): Promise<UploadedAs | ClaimedAttempt> {
  const known = await readListedResource(parts.db, { kind: 'dispute', id: disputeId });
  const intent = {
    actor,
    action: 'dispute.upload',
    subject: { kind: 'dispute', id: disputeId },
    orderKey: known?.orderKey ?? null,
    detail: { name: file.name, content_type: file.type, bytes: file.size },
  } as const;
  return recordExclusiveAttempt(parts.db, intent, async (attempt) => {
    const uploaded = known
      ? await parts.service.upload(disputeId, file)
      : ({ outcome: 'changed', now: undefined } as const);
    const detail = uploaded.outcome === 'done' ? { file_id: uploaded.fileId } : errorOf(uploaded);
    return { value: { ...uploaded, attempt }, result: resultOf(uploaded.outcome), detail };
  });
}

interface Wish {
  readonly actor: Actor;
  readonly action: Extract<AuditAction, `dispute.${string}`>;
  readonly seen: SeenDispute;
  readonly detail: AuditIntent['detail'];
}

async function act(
  parts: DisputeParts,
  { actor, action, seen, detail }: Wish,
  send: () => Promise<Sent>,
): Promise<ActedOnDispute> {
  const { disputeId, reason } = seen;
  const known = await readListedResource(parts.db, { kind: 'dispute', id: disputeId });
  const intent = {
    actor,
    action,
    subject: { kind: 'dispute', id: disputeId },
    orderKey: known?.orderKey ?? null,
    reason,
    ...(detail && { detail }),
  } as const;
  return recordExclusiveAttempt(parts.db, intent, async (attempt) => {
    const refreshed = await parts.service.refresh(disputeId);
    const sent =
      refreshed.outcome === 'applied'
        ? await sendIfSeen(parts, seen, send)
        : notRetrieved(refreshed);
    const after = sent.outcome === 'done' ? await retrieved(parts, disputeId) : undefined;
    const value =
      sent.outcome === 'done'
        ? { ...sent, status: after?.status ?? null, attempt }
        : { ...sent, attempt };
    const ended = sent.outcome === 'done' ? { status: after?.status ?? null } : errorOf(sent);
    return { value, result: resultOf(sent.outcome), detail: ended };
  });
}

function notRetrieved(refreshed: RefreshOutcome): ActionOutcome {
  const why = refreshed.outcome === 'failed' ? refreshed.reason : 'the process stops';
  return { outcome: 'failed', reason: `it cannot be retrieved: ${why}` };
}

/** Rule 1. */
async function sendIfSeen(
  { db }: DisputeParts,
  { disputeId, amountMinor, currency, stage }: SeenDispute,
  send: () => Promise<Sent>,
): Promise<Sent> {
  const now = await readListedResource(db, { kind: 'dispute', id: disputeId });
  const isSame =
    now?.amountMinor === amountMinor && now.currency === currency && now.stage === stage;
  return isSame && isUndecided(now) ? await send() : { outcome: 'changed', now };
}

/** Whether evidence or an acceptance can still change a dispute. */
export function isUndecided({ status, stage }: Pick<ListedResource, 'status' | 'stage'>): boolean {
  return (status === 'opened' || status === 'challenged') && stage !== 'dispute_reversal';
}

async function retrieved(
  { db, service }: DisputeParts,
  id: string,
): Promise<ListedResource | undefined> {
  const { outcome } = await service.refresh(id);
  return outcome === 'applied' ? await readListedResource(db, { kind: 'dispute', id }) : undefined;
}

function resultOf(outcome: Sent['outcome']): FinalResult {
  return outcome === 'changed' || outcome === 'edited' ? 'refused' : outcome;
}

function errorOf(sent: { readonly outcome: string; readonly reason?: string }) {
  if (sent.outcome === 'edited') return { error: 'somebody changed the evidence meanwhile' };
  return { error: sent.reason ?? 'it is not what the person saw, or it is decided' };
}
