/** Plans and requests erasures. A plan counts; only a request erases. */
import { z } from 'zod';
import { requestErasure } from '../../../console/routes/erasures.ts';
import { reasonGiven } from '../../../console/schemas.ts';
import { parseId } from '../../../contract/identifiers.ts';
import { SUBJECT_KINDS } from '../../../erasure/domain/subjects.ts';
import { erasureHref, erasurePlanHref } from '../../links.ts';
import { defineAction } from '../../page.ts';
import { throughEndpoint } from '../../throughEndpoint.ts';

/** As many as the endpoint takes at once. */
export const MAX_SUBJECTS = 50;

export const planErasureAction = defineAction({
  path: '/system/erasures/plan',
  permission: 'erase',
  params: z.strictObject({}),
  form: z.strictObject({ kind: z.enum(SUBJECT_KINDS), ids: z.string().max(16_384) }),
  act: ({ system }, { form: { kind, ids } }) => {
    const named = [...new Set(ids.split(/\r?\n/).map((line) => line.trim()))].filter(Boolean);
    const wrong = named.find((id) => parseId(id) === undefined);
    if (named.length === 0 || named.length > MAX_SUBJECTS || wrong !== undefined) {
      const message = `Name 1 to ${MAX_SUBJECTS} ids, one a line. Nothing was planned.`;
      return Promise.resolve({ outcome: 'invalid', message });
    }
    const id = system.erasurePlans.begin(named.map((one) => ({ kind, id: one })));
    if (id === undefined) {
      const message =
        'Other plans are being made, and each reads every body. Try again in minutes.';
      return Promise.resolve({ outcome: 'conflict', message });
    }
    const notice = 'The plan is being made. Nothing is erased before you confirm it.';
    return Promise.resolve({ outcome: 'done', to: erasurePlanHref(id), notice });
  },
});

export const NO_PLAN =
  'There is no such plan: plans are kept in the memory of the console until it restarts. Nothing was erased. Plan again.';

const REQUESTED = z.object({ number: z.int() });

export const requestErasureAction = defineAction({
  path: '/system/erasures/plans/{plan_id}/erase',
  permission: 'erase',
  params: z.strictObject({ plan_id: z.string() }),
  form: z.strictObject({ reason: reasonGiven, confirm: z.literal('yes') }),
  act: async (parts, { params, form: { reason }, actor }) => {
    const plan = parts.system.erasurePlans.find(params.plan_id);
    if (plan?.now.state !== 'planned') return { outcome: 'not_found', message: NO_PLAN };
    const body = { subjects: plan.subjects, reason, confirm: true };
    return await throughEndpoint(requestErasure, parts, { actor, body }, (given) => ({
      outcome: 'done',
      to: erasureHref(REQUESTED.parse(given).number),
      notice: 'Requested. A process with the role scheduler begins within a minute.',
    }));
  },
});
