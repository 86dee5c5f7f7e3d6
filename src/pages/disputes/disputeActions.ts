/** What a person can do about a dispute: upload files, submit evidence, accept. */
import { z } from 'zod';
import {
  acceptDispute as acceptEndpoint,
  submitEvidence as submitEndpoint,
  uploadEvidence as uploadEndpoint,
  WRONG_FILE,
} from '../../console/routes/disputes.ts';
import { currency, id, reasonGiven } from '../../console/schemas.ts';
import { submitEvidenceRequest } from '../../contract/requests/evidence.ts';
import { EVIDENCE_FIELDS, MAX_FILE_BYTES } from '../../disputes/domain/evidence.ts';
import { confirmsAmount, seenMinor } from '../components/typedAmount.ts';
import { evidenceHref, resourceHref } from '../links.ts';
import { defineAction } from '../page.ts';
import { throughEndpoint } from '../throughEndpoint.ts';

const params = z.strictObject({ dispute_id: id });

const seen = {
  expected_amount: seenMinor,
  currency,
  /** Absent: the service sent none. */
  stage: z
    .string()
    .optional()
    .transform((stage) => stage ?? null),
  reason: reasonGiven,
};

export const acceptDispute = defineAction({
  path: '/disputes/{dispute_id}/accept',
  permission: 'move_money',
  params,
  form: z.strictObject({ ...seen, amount: z.string() }),
  act: async (parts, { params: named, form: { amount, ...body }, actor }) => {
    const refused = confirmsAmount(amount, body.currency, body.expected_amount);
    if (refused) return refused;
    const to = resourceHref('dispute', named.dispute_id);
    const notice = 'Accepted. The amount stays with the customer.';
    const request = { params: named, body, actor };
    return await throughEndpoint(acceptEndpoint, parts, request, { to, notice });
  },
});

const fields = submitEvidenceRequest.omit({ dispute_id: true });

export const submitEvidence = defineAction({
  path: '/disputes/{dispute_id}/evidence',
  permission: 'move_money',
  params,
  form: fields.extend({
    ...seen,
    had: z.string().optional(),
    evidence_version: z.string().max(100).optional(),
  }),
  act: async (parts, { params: named, form: { had = '', ...form }, actor }) => {
    const { expected_amount, currency: of, stage, reason, evidence_version, ...given } = form;
    // An empty field counts as absent; one that had a value is one to clear.
    const cleared = EVIDENCE_FIELDS.filter(
      (name) => had.split(' ').includes(name) && given[name] === undefined,
    );
    const evidence = { ...Object.fromEntries(cleared.map((name) => [name, ''])), ...given };
    const body = { expected_amount, currency: of, stage, reason, evidence, evidence_version };
    const to = resourceHref('dispute', named.dispute_id);
    const notice = 'Submitted. You can add and change evidence until the deadline.';
    const request = { params: named, body, actor };
    return await throughEndpoint(submitEndpoint, parts, request, { to, notice });
  },
});

export const uploadFile = defineAction({
  path: '/disputes/{dispute_id}/files',
  permission: 'move_money',
  params,
  maxFileBytes: MAX_FILE_BYTES,
  form: z.strictObject({ file: z.file(WRONG_FILE) }),
  act: async (parts, { params: named, form: { file }, actor }) => {
    const content = Buffer.from(await file.arrayBuffer()).toString('base64');
    const body = { name: file.name.slice(0, 200), content };
    const to = evidenceHref(named.dispute_id);
    const notice = 'Uploaded. Choose the file in a field below, then submit.';
    const request = { params: named, body, actor };
    return await throughEndpoint(uploadEndpoint, parts, request, { to, notice });
  },
});
