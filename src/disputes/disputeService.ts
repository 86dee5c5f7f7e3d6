/** The payment service as disputes of a person use it. service-interface.md §4.6 and §4.10. */
import { outcomeOf } from '../authorizations/actionOutcome.ts';
import type { ActionOutcome, RefreshOutcome } from '../authorizations/authorizationService.ts';
import { type CallOptions, PaymentServiceError, type ResponseMetadata } from '../client/index.ts';
import type { EvidenceField, SubmitEvidenceRequest } from '../contract/requests/evidence.ts';
import { startStopwatch } from '../platform/clock.ts';
import { affectsEveryRequest, failureOf } from '../reconcile/domain/failures.ts';
import { createObserve, createRetrieve, type RetrieveParts } from '../reconcile/retrieve.ts';
import { evidenceOf } from './domain/evidence.ts';

/** The fields of evidence that have a value, or that a person changes; an empty text clears its field. */
export type EvidenceValues = { readonly [Field in EvidenceField]?: string };

export type EvidenceRead =
  | { readonly outcome: 'read'; readonly values: EvidenceValues }
  | { readonly outcome: 'failed'; readonly reason: string; readonly isUnavailable: boolean };

export type Uploaded =
  | { readonly outcome: 'done'; readonly fileId: string }
  | Exclude<ActionOutcome, { readonly outcome: 'done' }>;

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
      switch (found.outcome) {
        case 'applied':
          return { outcome: 'applied' };
        case 'missing':
          return {
            outcome: 'failed',
            reason: 'the service does not know it',
            isUnavailable: false,
          };
        case 'failed': {
          const isUnavailable = affectsEveryRequest(found.failure);
          return { outcome: 'failed', reason: found.reason, isUnavailable };
        }
      }
    },
    accept: (id) =>
      attempt(async () => {
        const secondsSinceSent = startStopwatch();
        let serviceTimeMs: number | undefined;
        const options: CallOptions = {
          ...LANE,
          onResponse: (metadata: ResponseMetadata) => {
            ({ serviceTimeMs } = metadata);
          },
        };
        const dispute = await disputes.accept(id, options);
        await observe({ kind: 'dispute', id }, dispute, { serviceTimeMs, secondsSinceSent });
        return { outcome: 'done' };
      }),
    readEvidence: async (id) => {
      try {
        const { evidence } = await disputes.retrieveEvidence(id, LANE);
        return { outcome: 'read', values: evidenceOf(evidence ?? {}) };
      } catch (error) {
        if (!(error instanceof PaymentServiceError)) throw error;
        const isUnavailable = affectsEveryRequest(failureOf(error));
        return { outcome: 'failed', reason: error.message, isUnavailable };
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

type Failed = Exclude<ActionOutcome, { readonly outcome: 'done' }>;

async function attempt<Done extends { readonly outcome: 'done' }>(
  send: () => Promise<Done>,
): Promise<Done | Failed> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof PaymentServiceError)) throw error;
    const failed = outcomeOf(error);
    if (failed.outcome === 'done') throw error;
    return failed;
  }
}
