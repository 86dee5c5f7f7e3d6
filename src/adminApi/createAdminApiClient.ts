/**
 * The client of the admin API. Its methods are those of the generated table: each has the name, the fields
 * and the response of one endpoint in the OpenAPI document.
 */
import { AdminApiError } from './errors.ts';
import {
  type AdminApiCalls,
  type AdminApiLists,
  OPERATIONS,
  type OperationName,
  type Page,
} from './operations.ts';
import type { AdminApiCallOptions, AdminApiOptions } from './options.ts';
import { createSend, type Input, type Send } from './send.ts';

/** One method for each endpoint. Each call is one request, and rejects with an AdminApiError. */
export interface AdminApiClient extends AdminApiCalls {
  /** The lists row by row: each reads the next page when it is needed. */
  readonly iterate: AdminApiLists;
}

/**
 * Creates a client of the admin API of an installation.
 * @throws TypeError for options that are not valid; the message never contains the token
 */
export function createAdminApiClient(options: AdminApiOptions): AdminApiClient {
  const send = createSend(options);
  const calls: Record<string, unknown> = {};
  const iterate: Record<string, unknown> = {};
  for (const name of Object.keys(OPERATIONS) as OperationName[]) {
    calls[name] = (input: Input = {}, call?: AdminApiCallOptions) => send(name, input, call);
    const operation = OPERATIONS[name];
    if (!('page' in operation)) continue;
    const { page } = operation;
    iterate[name] = (input: Input = {}, call?: AdminApiCallOptions) =>
      walkPages(send, { name, page, input, call });
  }
  // The table and the types are generated together from the same endpoints.
  return { ...calls, iterate } as unknown as AdminApiClient;
}

interface Walk {
  readonly name: OperationName;
  readonly page: Page;
  readonly input: Input;
  readonly call: AdminApiCallOptions | undefined;
}

/** The most that the admin API returns at once. */
const MAX_ROWS = 100;

/** A page continues from the position of its last row, so rows that are added meanwhile shift nothing. */
async function* walkPages(
  send: Send,
  { name, page, input, call }: Walk,
): AsyncGenerator<unknown, void, undefined> {
  let place = input[page.send];
  for (;;) {
    const body = await send(name, { limit: MAX_ROWS, ...input, [page.send]: place }, call);
    const rows = body[page.rows];
    if (!Array.isArray(rows)) throw unreadable(name, `the page has no ${page.rows}`);
    yield* rows;
    const next = body[page.next];
    // The feed of changes has a position after its end, too.
    if (next === null || body.has_more === false) return;
    if (next === undefined || next === place) throw unreadable(name, 'the page names no next one');
    place = next;
  }
}

function unreadable(operation: OperationName, message: string): AdminApiError {
  return new AdminApiError('unreadable_response', { operation, message });
}
