/**
 * Whether a response is about what was requested. A cache, a proxy or a pooled connection that mixes up
 * two responses returns a valid one of another resource, and nothing else in it shows that.
 *
 * 1. Every id, amount and currency of the request that the resource states under the same name is
 *    equal. Currencies are compared without case.
 * 2. A field that the resource leaves out or states as null proves nothing.
 * 3. Lists are not compared: some services ignore a filter, and each row states what it is about.
 * 4. The response to a capture states the sum of all captures. If its status means that money was
 *    captured, the sum is at least what was requested, and exactly that for the only capture: that of a
 *    payment with `capture_method` manual, or of one of which nothing was captured before.
 */
import type { CapturePaymentRequest } from '../../contract/requests/payments.ts';
import type { Payment } from '../../contract/resources/payment.ts';
import { captureClaim } from '../../contract/statuses.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The request without its query, in the contract's names. */
export interface RequestedFields {
  readonly params?: Fields;
  readonly body?: unknown;
}

/** The names of the fields in which a resource differs from the request, in the order of the request. */
export function differingFields(request: RequestedFields, resource: unknown): readonly string[] {
  const body: Fields = Object(request.body);
  const stated: Fields = Object(resource);
  return Object.entries({ ...body, ...request.params })
    .filter(([name, value]) => isCompared(name) && !agrees(name, value, stated[name]))
    .map(([name]) => name);
}

/**
 * The names of the fields that contradict a capture (4).
 * @param before the payment, if it was retrieved just before the request
 */
export function contradictedFields(
  { amount_to_capture: requested }: CapturePaymentRequest,
  { before, response }: { readonly before: Payment | undefined; readonly response: Payment },
): readonly string[] {
  const fields: string[] = [];
  const { amount_received: received, currency } = response;
  if (captureClaim(response.status) === 'captured' && isStated(received)) {
    const expected = requested ?? before?.amount_capturable;
    const isOnly = before ? (before.amount_received ?? 0) === 0 : isManual(response);
    const isPossible =
      !isStated(expected) || (isOnly ? received === expected : received >= expected);
    if (!isPossible) fields.push('amount_received');
  }
  if (before && !agrees('currency', before.currency, currency)) fields.push('currency');
  return fields;
}

/** Of such a payment only one capture is possible. */
function isManual({ capture_method: method }: Payment): boolean {
  return method === 'manual';
}

function isCompared(name: string): boolean {
  return name === 'amount' || name === 'currency' || name.endsWith('_id');
}

function agrees(name: string, requested: unknown, stated: unknown): boolean {
  if (!isStated(requested) || !isStated(stated)) return true;
  const [one, other] = [String(requested), String(stated)];
  return name === 'currency' ? one.toUpperCase() === other.toUpperCase() : one === other;
}

function isStated(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
