/**
 * An endpoint of the admin API as data. The app and the OpenAPI document are both built from it, so
 * they cannot differ.
 */
import type { z } from 'zod';
import type { Permission } from '../access/domain/roles.ts';
import type { DisputeParts } from '../actions/actOnDispute.ts';
import type { AuthorizationParts } from '../actions/captureOrCancel.ts';
import type { RefundParts } from '../actions/refundPayment.ts';
import type { PayoutParts } from '../actions/retryPayout.ts';
import type { TestedChannel } from '../actions/testChannels.ts';
import type { Actor } from '../audit/domain/actor.ts';
import type { ChangeFeed } from '../ledger/changeFeed.ts';
import type { BalanceReader } from '../ledger/read/balances.ts';
import type { QueueAccess } from '../monitor/read/queues.ts';
import type { ChannelTarget } from '../notify/domain/channel.ts';
import type { Installation } from '../notify/domain/links.ts';
import type { ChannelName } from '../notify/domain/message.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { OperatorRequest } from '../reconcile/jobs.ts';
import type { Refresher } from '../reconcile/refreshOnRead.ts';
import type { PlannedSchedule } from '../scheduler/domain/timetable.ts';
import { parseInput } from './parseInput.ts';

/** What endpoints depend on. */
export interface ApiParts {
  readonly db: Database;
  readonly feed: ChangeFeed;
  readonly clock: Clock;
  readonly balances: BalanceReader;
  /** Retrieves an order or a payment first; undefined if no API key is set. */
  readonly refresher: Refresher | undefined;
  /** Captures and cancels; undefined if no API key is set. */
  readonly authorizations: AuthorizationParts | undefined;
  /** Refunds; undefined if no API key is set. */
  readonly refunds: RefundParts | undefined;
  /** Contests and accepts disputes; undefined if no API key is set. */
  readonly disputes: DisputeParts | undefined;
  /** Pays payouts again, cancels and fulfills them; undefined if no API key is set. */
  readonly payouts: PayoutParts | undefined;
  /** Enqueues events by their inbox numbers. */
  readonly enqueueEvents: (numbers: readonly number[]) => Promise<void>;
  /** The configured channels. */
  readonly channels: readonly ChannelName[];
  /** Where they send. */
  readonly channelTargets: readonly ChannelTarget[];
  /** Sends a test message; undefined if the channel is not configured. */
  readonly testChannel: (channel: ChannelName, actor: Actor) => Promise<TestedChannel | undefined>;
  readonly installation: Installation;
  /** A session of the console ends when nobody used it for so long. */
  readonly sessionIdleMs: number;
  readonly queues: QueueAccess;
  /** The schedules of this installation. */
  readonly schedules: readonly PlannedSchedule[];
  /** Enqueues reconcile runs under the number of an attempt in the audit log. */
  readonly enqueueRuns: (request: OperatorRequest, attempt: number) => Promise<void>;
}

interface Refusal<Name> {
  readonly outcome: Name;
  readonly message: string;
  /** Of a reader of the change feed: the position from which it can continue. */
  readonly continueAfter?: number;
}

/** Every outcome of an endpoint; reply.ts turns it into HTTP. */
export type Outcome<Body> =
  | { readonly outcome: 'ok' | 'created' | 'accepted'; readonly body: Body }
  /** The request is invalid in a way that its schema does not express. */
  | { readonly outcome: 'invalid'; readonly message: string }
  | { readonly outcome: 'not_found'; readonly message: string }
  | Refusal<'conflict'>
  /** What the request names was removed by retention. */
  | Refusal<'gone'>
  /** The payment service was needed and did not respond. */
  | { readonly outcome: 'unavailable'; readonly message: string }
  /** The payment service may have done it, or may yet. */
  | { readonly outcome: 'unknown'; readonly message: string };

/** The request, parsed by the endpoint's schemas. */
export interface ApiRequest<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The holder of the caller's token. */
  readonly actor: Actor;
}

/** The request as received. */
export type RawRequest = ApiRequest<unknown, unknown, unknown>;

export interface EndpointDescription {
  /** The operation id in the OpenAPI document. */
  readonly id: string;
  readonly method: 'get' | 'put' | 'post';
  /** With parameters in braces, as in OpenAPI. */
  readonly path: `/api/v1/${string}`;
  /** What the caller's role needs. */
  readonly permission: Permission;
  /** What it needs besides, for each query parameter that does more than read. */
  readonly queryPermissions?: Readonly<Record<string, Permission>>;
  readonly summary: string;
  readonly description?: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  /** Undefined: the endpoint reads no body. */
  readonly body?: z.ZodObject;
  /** Where the body may be larger than a few fields. */
  readonly maxBodyBytes?: number;
  readonly response: z.ZodType;
  /** Statuses besides 200 and those that every endpoint can return. */
  readonly statuses: readonly (201 | 202 | 404 | 409 | 410 | 422 | 504)[];
}

export interface Endpoint extends EndpointDescription {
  /** Parses and handles a request. */
  readonly respond: (parts: ApiParts, raw: RawRequest) => Promise<Outcome<unknown>>;
}

interface Definition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Response extends z.ZodType,
> extends EndpointDescription {
  readonly params: Params;
  readonly query: Query;
  readonly body?: Body;
  readonly response: Response;
  readonly handle: (
    parts: ApiParts,
    request: ApiRequest<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => Promise<Outcome<z.input<Response>>>;
}

/** Ties a handler's types to its schemas. */
export function defineEndpoint<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Response extends z.ZodType,
>(definition: Definition<Params, Query, Body, Response>): Endpoint {
  const { handle, ...description } = definition;
  return {
    ...description,
    respond: async (parts, raw) => {
      const params = parseInput(definition.params, raw.params);
      if (!params.success) return invalid('path', params.error);
      const query = parseInput(definition.query, raw.query);
      if (!query.success) return invalid('query', query.error, Object.keys(definition.query.shape));
      // A missing body is parsed as an empty one, so that the error names the missing fields.
      const body = definition.body && parseInput(definition.body, raw.body ?? {});
      if (body && !body.success) return invalid('body', body.error);
      return await handle(parts, {
        params: params.data,
        query: query.data,
        body: body?.data as z.output<Body>,
        actor: raw.actor,
      });
    },
  };
}

function invalid(
  where: 'path' | 'query' | 'body',
  { issues }: z.ZodError,
  known: readonly string[] = [],
): Outcome<never> {
  const mistakes = issues.map((issue) => {
    if (issue.code === 'unrecognized_keys') {
      const names = issue.keys.map((key) => JSON.stringify(key)).join(', ');
      const instead = known.length > 0 ? `; the query accepts ${known.join(', ')}` : '';
      return `${names} is unknown${instead}`;
    }
    const name = issue.path.join('.');
    return name === '' ? issue.message : `${name}: ${issue.message}`;
  });
  return { outcome: 'invalid', message: `The ${where} is invalid: ${mistakes.join('; ')}.` };
}
