/** Captures or releases holds, one after another, through the endpoint that does one. */
import { z } from 'zod';
import type { Endpoint } from '../../console/endpoint.ts';
import { cancelAuthorization, captureAuthorization } from '../../console/routes/captureOrCancel.ts';
import { reasonGiven } from '../../console/schemas.ts';
import { formatMoney, parseDecimal } from '../../contract/money.ts';
import { OperatorError } from '../../platform/errors.ts';
import { authorizationsHref } from '../links.ts';
import {
  type ActionRequest,
  type Done,
  defineAction,
  type PageParts,
  type Problem,
} from '../page.ts';
import { shownList } from '../shownList.ts';
import { type Hold, holdsField } from './holds.ts';

const params = z.strictObject({});
const next = shownList(authorizationsHref());
/** Shows that a person read what would be done. */
const confirmed = z.literal('yes', 'check the box that confirms it');

export const captureHolds = defineAction({
  path: '/authorizations/capture',
  permission: 'move_money',
  params,
  form: z.strictObject({
    hold: holdsField,
    amount: z.string().optional(),
    reason: reasonGiven,
    confirmed,
    next,
  }),
  act: async (parts, request) => {
    const { hold: holds, amount } = request.form;
    const [first] = holds;
    if (amount === undefined || !first) return await actOnAll(captureAuthorization, parts, request);
    const amountMinor = parseDecimal(amount, first.currency);
    if (holds.length > 1 || amountMinor === undefined || amountMinor === 0) {
      const message = `The amount to capture must be a decimal of ${first.currency}, such as 54.00, and of one hold only. Go back and correct it.`;
      return { outcome: 'invalid', message };
    }
    return await actOnAll(captureAuthorization, parts, request, amountMinor);
  },
});

export const releaseHolds = defineAction({
  path: '/authorizations/cancel',
  permission: 'move_money',
  params,
  form: z.strictObject({ hold: holdsField, reason: reasonGiven, confirmed, next }),
  act: (parts, request) => actOnAll(cancelAuthorization, parts, request),
});

type Request = Pick<
  ActionRequest<
    unknown,
    { readonly hold: readonly Hold[]; readonly reason: string; readonly next: string }
  >,
  'form' | 'actor'
>;

/** The endpoint compares each hold with what the service has, so that none is acted on twice. */
async function actOnAll(
  endpoint: Endpoint,
  parts: PageParts,
  { form: { hold: holds, reason, next }, actor }: Request,
  amountMinor?: number,
): Promise<Done | Problem> {
  const done: Hold[] = [];
  const problems: HoldProblem[] = [];
  for (const hold of holds) {
    const { paymentId, currency } = hold;
    const body = { expected_amount: hold.amountMinor, currency, reason };
    const responding = endpoint.respond(parts, {
      params: { payment_id: paymentId },
      query: {},
      body: amountMinor === undefined ? body : { ...body, amount: amountMinor },
      actor,
    });
    const given = await (holds.length === 1 ? responding : responding.catch(interrupted));
    if (given.outcome === 'ok')
      done.push({ ...hold, amountMinor: amountMinor ?? hold.amountMinor });
    else if (!('message' in given)) throw new Error(`${endpoint.id} returned ${given.outcome}`);
    else if (holds.length === 1) return given;
    else {
      const { message, outcome } = given;
      problems.push({ hold, message, isUnknown: outcome === 'unknown' });
    }
  }
  const verb = endpoint === captureAuthorization ? 'Captured' : 'Released';
  return { outcome: 'done', to: next, notice: noticeOf(verb, done, problems) };
}

interface HoldProblem {
  readonly hold: Hold;
  readonly message: string;
  /** It may have been carried out. */
  readonly isUnknown: boolean;
}

/** The page of an error would not name the holds that were acted on before it. */
function interrupted(error: unknown): Problem {
  if (!(error instanceof OperatorError && error.problem === 'unknown')) throw error;
  return { outcome: 'unknown', message: error.message };
}

const MAX_SHOWN = 5;

function noticeOf(verb: string, done: readonly Hold[], problems: readonly HoldProblem[]): string {
  const listed = done
    .slice(0, MAX_SHOWN)
    .map(
      ({ paymentId, amountMinor, currency }) =>
        `${formatMoney(amountMinor, currency)} of ${paymentId}`,
    );
  const more = done.length > MAX_SHOWN ? ` and ${done.length - MAX_SHOWN} more` : '';
  const doneText = done.length === 0 ? `${verb} nothing.` : `${verb} ${listed.join(', ')}${more}.`;
  if (problems.length === 0) return doneText;
  const failed = problems
    .slice(0, MAX_SHOWN)
    .map(({ hold, message }) => `${hold.paymentId}: ${message}`);
  const unknown = problems.filter(({ isUnknown }) => isUnknown).length;
  const notDone = problems.length - unknown;
  const counts = [
    ...(notDone > 0 ? [`${notDone} not done.`] : []),
    ...(unknown > 0 ? [`${unknown} with an unknown outcome.`] : []),
  ];
  return [doneText, ...counts, ...failed].join(' ');
}
