/** Carries out an action of a page through the endpoint that does the same, so that both have one course. */
import type { Endpoint, RawRequest } from '../console/endpoint.ts';
import type { Done, PageParts, Problem } from './page.ts';

/** @param done where to go, and what to show there, once the endpoint has done it */
export async function throughEndpoint(
  endpoint: Endpoint,
  parts: PageParts,
  { actor, params = {}, body }: Pick<RawRequest, 'actor'> & Partial<RawRequest>,
  done: Pick<Done, 'to' | 'notice'>,
): Promise<Done | Problem> {
  const given = await endpoint.respond(parts, { params, query: {}, body, actor });
  switch (given.outcome) {
    case 'ok':
    case 'created':
    case 'accepted':
      return { outcome: 'done', ...done };
    default:
      return given;
  }
}
