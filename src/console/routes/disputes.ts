/** Endpoints that contest and accept a dispute. */
import { z } from 'zod';
import {
  type ActedOnDispute,
  acceptDisputeAs,
  type SeenDispute,
  submitEvidenceAs,
  type UploadedAs,
  uploadEvidenceAs,
} from '../../actions/actOnDispute.ts';
import { submitEvidenceRequest } from '../../contract/requests/evidence.ts';
import { contentTypeOf, MAX_FILE_BYTES } from '../../disputes/domain/evidence.ts';
import { evidenceVersion } from '../../disputes/evidenceVersion.ts';
import { notActedText, notUploadedText } from '../../representation/disputeText.ts';
import { defineEndpoint, type Outcome } from '../endpoint.ts';
import { NO_SERVICE_KEY, NOT_DONE_STATUSES, notDoneOutcome, notRetrieved } from '../notDone.ts';
import { amount, attemptNumber, currency, id, reasonGiven, statusAfterwards } from '../schemas.ts';

const seenFields = {
  expected_amount: amount.min(1).describe('The disputed amount, as you saw it, in minor units.'),
  currency,
  stage: z.string().max(100).nullable().describe('The stage, as you saw it.'),
  reason: reasonGiven.describe('Why; for the audit log.'),
};
const params = z.strictObject({ dispute_id: id });
const query = z.strictObject({});

const result = z
  .strictObject({
    dispute_id: z.string(),
    status: statusAfterwards,
    attempt: attemptNumber,
  })
  .meta({ id: 'DisputeResult' });

const SAFETY =
  'Tallyhook retrieves the dispute first and afterwards. The request is refused with 409 unless amount, ' +
  'currency and stage are as stated and the dispute is undecided, or while another attempt has no result. ' +
  'The audit log has an entry before the request to the service and one after it. 503: nothing was done, and ' +
  'it is safe to try again. 504: the outcome is unknown; the same request finds out.';

export const acceptDispute = defineEndpoint({
  id: 'acceptDispute',
  method: 'post',
  path: '/api/v1/disputes/{dispute_id}/accept',
  permission: 'move_money',
  summary: 'Accept a dispute, which gives up its amount for good',
  description: SAFETY,
  params,
  query,
  body: z.strictObject(seenFields),
  response: result,
  statuses: NOT_DONE_STATUSES,
  handle: async ({ disputes }, { params: { dispute_id: disputeId }, body, actor }) => {
    if (!disputes) return NO_SERVICE_KEY;
    const seen = seenOf(disputeId, body);
    return toOutcome(seen, await acceptDisputeAs(disputes, actor, seen));
  },
});

const evidence = submitEvidenceRequest.omit({ dispute_id: true });

export const submitEvidence = defineEndpoint({
  id: 'submitEvidence',
  method: 'post',
  path: '/api/v1/disputes/{dispute_id}/evidence',
  permission: 'move_money',
  summary: 'Submit evidence for a dispute; an empty value clears its field',
  description:
    `${SAFETY} Fields that the service has already are not sent again. Evidence can be changed until the ` +
    'deadline. The audit log has the names of the fields, not their values.',
  params,
  query,
  body: z.strictObject({
    ...seenFields,
    evidence,
    evidence_version: z
      .string()
      .max(100)
      .optional()
      .describe(
        'The version of the evidence that you read. If somebody changed it since, the request is refused with ' +
          '409 and both versions. Without it, the fields are set regardless of what they have.',
      ),
  }),
  maxBodyBytes: 128 * 1024,
  response: result,
  statuses: NOT_DONE_STATUSES,
  handle: async ({ disputes }, { params: { dispute_id: disputeId }, body, actor }) => {
    if (!disputes) return NO_SERVICE_KEY;
    const seen = seenOf(disputeId, body);
    const wanted = Object.fromEntries(
      Object.entries(body.evidence).filter(([, value]) => value !== undefined),
    );
    return toOutcome(
      seen,
      await submitEvidenceAs(disputes, actor, {
        ...seen,
        wanted,
        evidenceVersion: body.evidence_version,
      }),
    );
  },
});

export const getEvidence = defineEndpoint({
  id: 'getEvidence',
  method: 'get',
  path: '/api/v1/disputes/{dispute_id}/evidence',
  permission: 'move_money',
  summary: 'Get the evidence that the service has of a dispute',
  params,
  query,
  response: z
    .strictObject({
      dispute_id: z.string(),
      evidence: z.record(z.string(), z.string()).describe('By field; file fields have ids.'),
      version: z.string().describe('Changes with the evidence. Send it as `evidence_version`.'),
    })
    .meta({ id: 'DisputeEvidence' }),
  statuses: [404],
  handle: async ({ disputes }, { params: { dispute_id: disputeId } }) => {
    if (!disputes) return NO_SERVICE_KEY;
    const read = await disputes.service.readEvidence(disputeId);
    if (read.outcome === 'failed') return notRetrieved(disputeId, read);
    const values = Object.entries(read.values).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    return {
      outcome: 'ok',
      body: {
        dispute_id: disputeId,
        evidence: Object.fromEntries(values),
        version: evidenceVersion(read.values),
      },
    };
  },
});

export const uploadEvidence = defineEndpoint({
  id: 'uploadEvidence',
  method: 'post',
  path: '/api/v1/disputes/{dispute_id}/files',
  permission: 'move_money',
  summary: 'Upload a file for evidence: a PDF, JPEG or PNG of at most 4 MiB',
  description:
    'Returns the id for a file field of the evidence; nothing is submitted yet. Repeating it uploads the file ' +
    'again, which is harmless.',
  params,
  query,
  body: z.strictObject({
    name: z.string().min(1).max(200).describe('Name of the file.'),
    content: z.base64().min(1).describe('The file, in base64.'),
  }),
  maxBodyBytes: Math.ceil((MAX_FILE_BYTES * 4) / 3) + 4 * 1024,
  response: z
    .strictObject({ dispute_id: z.string(), file_id: z.string(), attempt: attemptNumber })
    .meta({ id: 'UploadedEvidence' }),
  statuses: NOT_DONE_STATUSES,
  handle: async ({ disputes }, { params: { dispute_id: disputeId }, body, actor }) => {
    if (!disputes) return NO_SERVICE_KEY;
    const content = Uint8Array.from(Buffer.from(body.content, 'base64'));
    const type = contentTypeOf(content);
    if (type === undefined || content.length > MAX_FILE_BYTES) {
      return { outcome: 'invalid', message: WRONG_FILE };
    }
    const file = new File([content], body.name, { type });
    return uploaded(disputeId, await uploadEvidenceAs(disputes, actor, { disputeId, file }));
  },
});

export const WRONG_FILE =
  'The file is not a PDF, JPEG or PNG of at most 4 MiB. Nothing was uploaded. Export it in one of these formats.';

function uploaded(
  disputeId: string,
  given: UploadedAs | { readonly outcome: 'claimed'; readonly attempt: number },
): Outcome<{ dispute_id: string; file_id: string; attempt: number }> {
  switch (given.outcome) {
    case 'done': {
      const { fileId, attempt: number } = given;
      return {
        outcome: 'ok',
        body: { dispute_id: disputeId, file_id: fileId, attempt: number },
      };
    }
    case 'changed':
    case 'claimed':
      return { outcome: 'conflict', message: notUploadedText(disputeId, given) };
    default:
      return notDoneOutcome(given.outcome, notUploadedText(disputeId, given));
  }
}

interface SeenBody {
  readonly expected_amount: number;
  readonly currency: string;
  readonly stage: string | null;
  readonly reason: string;
}

function seenOf(
  disputeId: string,
  { expected_amount: amountMinor, currency: of, stage, reason }: SeenBody,
): SeenDispute {
  return { disputeId, amountMinor, currency: of, stage, reason };
}

function toOutcome(
  { disputeId }: SeenDispute,
  acted: ActedOnDispute,
): Outcome<z.input<typeof result>> {
  switch (acted.outcome) {
    case 'done': {
      const { status, attempt: number } = acted;
      return { outcome: 'ok', body: { dispute_id: disputeId, status, attempt: number } };
    }
    case 'changed':
    case 'edited':
    case 'claimed':
      return { outcome: 'conflict', message: notActedText(disputeId, acted) };
    default:
      return notDoneOutcome(acted.outcome, notActedText(disputeId, acted));
  }
}
