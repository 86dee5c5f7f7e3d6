/** Dispute calls. service-interface.md §4.6 and §4.10. */
import type { Page } from '../contract/lists.ts';
import type { ListDisputesQuery } from '../contract/requests/disputes.ts';
import {
  type DeleteEvidenceRequest,
  EVIDENCE_GROUPS,
  type SubmitEvidenceRequest,
  type UploadFileRequest,
} from '../contract/requests/evidence.ts';
import type { Dispute } from '../contract/resources/dispute.ts';
import type {
  Evidence,
  EvidenceFiles,
  EvidenceResult,
  UploadedFile,
} from '../contract/resources/evidence.ts';
import type { Calls } from './calls.ts';
import { createIterate } from './paginate.ts';
import type { CallOptions } from './send.ts';

/** Every method throws PaymentServiceError. */
export interface DisputeCalls {
  /** Retrieves a dispute. */
  retrieve: (disputeId: string, options?: CallOptions) => Promise<Dispute>;
  /** One page, newest first. */
  list: (filter?: ListDisputesQuery, options?: CallOptions) => Promise<Page<Dispute>>;
  /**
   * All pages, each row once. Rows that leave the list meanwhile can hide others. If rows cannot be
   * parsed, it throws `unreadable_response` after the last row.
   */
  iterate: (filter?: ListDisputesQuery, options?: CallOptions) => AsyncIterable<Dispute>;
  /** Accepts a dispute. This gives up the disputed amount for good. */
  accept: (disputeId: string, options?: CallOptions) => Promise<Dispute>;
  /**
   * Adds or changes evidence, as often as needed until the deadline. An empty value clears its
   * field. service-interface.md §4.6.1.
   */
  submitEvidence: (
    request: SubmitEvidenceRequest,
    options?: CallOptions,
  ) => Promise<EvidenceResult>;
  /**
   * Retrieves the evidence by group; a group without fields is left out. Of services of this family, it
   * has the files only. service-interface.md §4.6.2.
   */
  retrieveEvidence: (disputeId: string, options?: CallOptions) => Promise<Evidence>;
  /** Removes a file from the evidence. Undefined where the service sends no result. */
  deleteEvidence: (
    request: DeleteEvidenceRequest,
    options?: CallOptions,
  ) => Promise<EvidenceResult | undefined>;
  /** Uploads a file for the evidence fields that take a file id. */
  uploadEvidenceFile: (
    request: Omit<UploadFileRequest, 'purpose'>,
    options?: CallOptions,
  ) => Promise<UploadedFile>;
}

export function createDisputeCalls({ call, page }: Calls): DisputeCalls {
  const on = (dispute_id: string) => ({ params: { dispute_id } });
  const list: DisputeCalls['list'] = (filter = {}, options) =>
    page('listDisputes', { query: filter }, options);
  return {
    retrieve: (id, options) => call('retrieveDispute', on(id), options),
    list,
    iterate: createIterate('listDisputes', list, ({ dispute_id }) => dispute_id),
    accept: (id, options) => call('acceptDispute', on(id), options),
    submitEvidence: (body, options) => call('submitEvidence', { body }, options),
    retrieveEvidence: async (id, options) => {
      const evidence = await call('retrieveEvidence', on(id), options);
      return Array.isArray(evidence) ? groupFiles(id, evidence) : evidence;
    },
    deleteEvidence: (body, options) => call('deleteEvidence', { body }, options),
    uploadEvidenceFile: (request, options) =>
      call('uploadFile', { body: { ...request, purpose: 'dispute_evidence' } }, options),
  };
}

/** The files of the family's form in the groups of the contract. */
function groupFiles(disputeId: string, files: EvidenceFiles): Evidence {
  const idOf = new Map(
    files.map(({ evidence_type: field, file_metadata_response: file }) => [field, file?.file_id]),
  );
  const groups = Object.entries(EVIDENCE_GROUPS).flatMap(([group, names]) => {
    const given = names.flatMap((name) => (idOf.get(name) ? [[name, idOf.get(name)]] : []));
    return given.length === 0 ? [] : [[group, Object.fromEntries(given)]];
  });
  return { dispute_id: disputeId, evidence: Object.fromEntries(groups) };
}
