/** Calls about disputes. service-interface.md §4.6 and §4.10. */
import type { Page } from '../contract/lists.ts';
import type { ListDisputesQuery } from '../contract/requests/disputes.ts';
import type {
  DeleteEvidenceRequest,
  SubmitEvidenceRequest,
  UploadFileRequest,
} from '../contract/requests/evidence.ts';
import type { Dispute } from '../contract/resources/dispute.ts';
import type { Evidence, EvidenceResult, UploadedFile } from '../contract/resources/evidence.ts';
import type { Calls } from './calls.ts';
import { createIterate } from './paginate.ts';
import type { CallOptions } from './send.ts';

/** Every method throws PaymentServiceError. */
export interface DisputeCalls {
  /** Reads a dispute as it is now. */
  retrieve: (disputeId: string, options?: CallOptions) => Promise<Dispute>;
  /** One page, newest first. */
  list: (filter?: ListDisputesQuery, options?: CallOptions) => Promise<Page<Dispute>>;
  /**
   * All pages, each row once. Rows that leave a list while it is walked can hide others; rows that
   * cannot be read make it throw `unreadable_response` after the last.
   */
  iterate: (filter?: ListDisputesQuery, options?: CallOptions) => AsyncIterable<Dispute>;
  /** Gives the disputed amount up, for good. */
  accept: (disputeId: string, options?: CallOptions) => Promise<Dispute>;
  /**
   * Adds and changes evidence, as often as needed until the deadline. An empty value clears its field.
   * service-interface.md §4.6.1.
   */
  submitEvidence: (
    request: SubmitEvidenceRequest,
    options?: CallOptions,
  ) => Promise<EvidenceResult>;
  /**
   * Reads evidence by group; a group without a field is left out. service-interface.md §4.6.2.
   */
  retrieveEvidence: (disputeId: string, options?: CallOptions) => Promise<Evidence>;
  /** Takes a file out of the evidence. */
  deleteEvidence: (
    request: DeleteEvidenceRequest,
    options?: CallOptions,
  ) => Promise<EvidenceResult>;
  /** Uploads a file for the fields of evidence that take a file id. */
  uploadEvidenceFile: (
    request: Omit<UploadFileRequest, 'purpose'>,
    options?: CallOptions,
  ) => Promise<UploadedFile>;
}

export function createDisputeCalls({ one, page }: Calls): DisputeCalls {
  const on = (dispute_id: string) => ({ params: { dispute_id } });
  const list: DisputeCalls['list'] = (filter = {}, options) =>
    page('listDisputes', { query: filter }, options);
  return {
    retrieve: (id, options) => one('retrieveDispute', on(id), options),
    list,
    iterate: createIterate('listDisputes', list, ({ dispute_id }) => dispute_id),
    accept: (id, options) => one('acceptDispute', on(id), options),
    submitEvidence: (body, options) => one('submitEvidence', { body }, options),
    retrieveEvidence: (id, options) => one('retrieveEvidence', on(id), options),
    deleteEvidence: (body, options) => one('deleteEvidence', { body }, options),
    uploadEvidenceFile: (request, options) =>
      one('uploadFile', { body: { ...request, purpose: 'dispute_evidence' } }, options),
  };
}
