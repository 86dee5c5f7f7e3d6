/** The payment service as disputes of a person use it. service-interface.md §4.6 and §4.10. */
import type { EvidenceField, SubmitEvidenceRequest } from '../contract/requests/evidence.ts';
import { type ActionOutcome, attempt, type FailedAction } from '../outcomes/action.ts';
import {
  type FailedRead,
  failedRead,
  notApplied,
  type RefreshOutcome,
} from '../outcomes/refresh.ts';
import {
  createObserve,
  createRetrieve,
  noteResponse,
  type RetrieveParts,
} from '../reconcile/retrieve.ts';
import { evidenceOf } from './domain/evidence.ts';

/** The fields of evidence that have a value, or that a person changes; an empty text clears its field. */
export type EvidenceValues = { readonly [Field in EvidenceField]?: string };

export type EvidenceRead =
  | { readonly outcome: 'read'; readonly values: EvidenceValues }
  | FailedRead;

export type Uploaded = { readonly outcome: 'done'; readonly fileId: string } | FailedAction;

/** Failures of the service are outcomes here; nothing is thrown for them. */
export interface DisputeService {
  /** Retrieves a dispute and applies the response. */
  readonly refresh: (disputeId: string) => Promise<RefreshOutcome>;
  /** Accepts a dispute, and applies the response. Never sent twice. */
  readonly accept: (disputeId: string) => Promise<ActionOutcome>;
  readonly readEvidence: (disputeId: string) => Promise<EvidenceRead>;
  /** Never sent twice. The response has no state of the dispute, so the caller retrieves it. */
  readonly submitEvidence: (disputeId: string, values: EvidenceValues) => Promise<ActionOutcome>;
  /** Never sent twice. The file is no evidence until a field names it. */
  readonly upload: (disputeId: string, file: File) => Promise<Uploaded>;
}

const LANE = { lane: 'operator' } as const;

export function createDisputeService(parts: RetrieveParts): DisputeService {
  const { disputes } = parts.client;
  const retrieve = createRetrieve(parts);
  const observe = createObserve(parts);
  return {
    refresh: async (id) => {
      const found = await retrieve({ kind: 'dispute', id }, LANE);
      return found.outcome === 'applied' ? { outcome: 'applied' } : notApplied(found);
    },
    accept: (id) =>
      attempt(async () => {
        const { onResponse, circumstances } = noteResponse();
        const dispute = await disputes.accept(id, { ...LANE, onResponse });
        await observe({ kind: 'dispute', id }, dispute, circumstances());
        return { outcome: 'done' };
      }),
    readEvidence: async (id) => {
      try {
        const { evidence } = await disputes.retrieveEvidence(id, LANE);
        return { outcome: 'read', values: evidenceOf(evidence ?? {}) };
      } catch (error) {
        return failedRead(error);
      }
    },
    submitEvidence: (id, values) =>
      attempt(async () => {
        const request: SubmitEvidenceRequest = { dispute_id: id, ...values };
        await disputes.submitEvidence(request, LANE);
        return { outcome: 'done' };
      }),
    upload: (id, file) =>
      attempt(async () => {
        const uploaded = await disputes.uploadEvidenceFile({ dispute_id: id, file }, LANE);
        return { outcome: 'done', fileId: uploaded.file_id };
      }),
  };
}
