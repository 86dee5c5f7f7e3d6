/** Carries out an action of a page through the endpoint that does the same, so that both have one course. */
import type { Endpoint, RawRequest } from '../console/endpoint.ts';
import type { Done, PageParts, Problem, Shown } from './page.ts';

/** @param done where to go, and what to show there, once the endpoint has done it; or a function of its response */
export async function throughEndpoint(
  endpoint: Endpoint,
  parts: PageParts,
  { actor, params = {}, body }: Pick<RawRequest, 'actor'> & Partial<RawRequest>,
  done: Pick<Done, 'to' | 'notice'> | ((body: unknown) => Done | Shown),
): Promise<Done | Shown | Problem> {
  const given = await endpoint.respond(parts, { params, query: {}, body, actor });
  switch (given.outcome) {
    case 'ok':
    case 'created':
    case 'accepted':
      return typeof done === 'function' ? done(given.body) : { outcome: 'done', ...done };
    default:
      return given;
  }
}
