/** Endpoints of evidence and its files. service-interface.md §4.6 and §4.10. */
import { z } from 'zod';
import * as requests from '../requests/evidence.ts';
import {
  evidenceFilesSchema,
  evidenceResultSchema,
  evidenceSchema,
  uploadedFileSchema,
} from '../resources/evidence.ts';
import {
  disputeParams,
  type Endpoint,
  noParams,
  notFound,
  ONCE,
  SAFE,
  SECRET_KEYS,
} from './endpoint.ts';

const base = { success: 200, keys: SECRET_KEYS } as const;
const missing = notFound('dispute');
const late = {
  status: 400,
  code: 'HE_03',
  when: 'The evidence deadline has passed, or the dispute is no longer open.',
} as const;

export const EVIDENCE_ENDPOINTS = {
  submitEvidence: {
    ...base,
    method: 'POST',
    path: '/disputes/evidence',
    summary: 'Submit evidence for a dispute; an empty value clears its field',
    params: noParams,
    body: requests.submitEvidenceRequest,
    response: evidenceResultSchema,
    errors: [
      late,
      { status: 400, code: 'IR_04', when: 'A file with this id does not exist.' },
      missing,
    ],
    repetition: ONCE,
  },
  retrieveEvidence: {
    ...base,
    method: 'GET',
    path: '/disputes/evidence/:dispute_id',
    summary: 'Retrieve the evidence of a dispute by group',
    params: disputeParams,
    response: z.union([evidenceSchema, evidenceFilesSchema]),
    errors: [missing],
    repetition: SAFE,
  },
  deleteEvidence: {
    ...base,
    method: 'DELETE',
    path: '/disputes/evidence',
    summary: 'Remove a file from the evidence',
    params: noParams,
    body: requests.deleteEvidenceRequest,
    /** The contract leaves it open; services of this family send no body. */
    response: evidenceResultSchema.optional(),
    errors: [late, missing],
    repetition: ONCE,
  },
  uploadFile: {
    ...base,
    method: 'POST',
    path: '/files',
    summary: 'Upload a file for evidence',
    params: noParams,
    body: requests.uploadFileRequest,
    encoding: 'multipart',
    response: uploadedFileSchema,
    errors: [missing],
    repetition: ONCE,
  },
} as const satisfies Record<string, Endpoint>;
