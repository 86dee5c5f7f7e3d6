/**
 * Whether a response is about what was requested. A cache, a proxy or a pooled connection that mixes up
 * two responses returns a valid one of another resource, and nothing else in it shows that.
 *
 * 1. Every id, amount and currency of the request that the resource states under the same name is
 *    equal. Currencies are compared without case.
 * 2. A field that the resource leaves out or states as null proves nothing.
 * 3. Lists are not compared: some services ignore a filter, and each row states what it is about.
 *
 * The amount of a capture is not compared: the response states the sum of all captures.
 */

/** The request without its query, in the contract's names. */
export interface RequestedFields {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** The names of the fields in which a resource differs from the request, in the order of the request. */
export function differingFields(request: RequestedFields, resource: unknown): readonly string[] {
  if (!isRecord(resource)) return [];
  const body = isRecord(request.body) ? request.body : {};
  const requested = { ...body, ...request.params };
  return Object.entries(requested)
    .filter(([name, value]) => isCompared(name) && !agrees(name, value, resource[name]))
    .map(([name]) => name);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
