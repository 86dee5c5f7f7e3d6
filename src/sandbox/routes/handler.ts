/** The type of a handler: a function from a validated request to a response body, if it has one, or a rejection. */
import type { z } from 'zod';
import type { ENDPOINTS, EndpointName } from '../../contract/index.ts';
import type { Decision } from '../domain/decision.ts';
import type { Services } from '../services.ts';

type Table = typeof ENDPOINTS;

export type ParamsOf<Name extends EndpointName> = z.output<Table[Name]['params']>;

/** The body of an endpoint that takes one, else its query. */
export type InputOf<Name extends EndpointName> = Table[Name] extends {
  readonly body: infer Body extends z.ZodType;
}
  ? z.output<Body>
  : Table[Name] extends { readonly query: infer Query extends z.ZodType }
    ? z.output<Query>
    : undefined;

export interface Call<Name extends EndpointName> {
  readonly params: ParamsOf<Name>;
  readonly input: InputOf<Name>;
}

export type Handler<Name extends EndpointName> = (
  call: Call<Name>,
  services: Services,
) => Promise<Decision<object | undefined>>;

export type Handlers<Names extends EndpointName> = { readonly [Name in Names]: Handler<Name> };
