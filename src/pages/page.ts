/**
 * A page of the console as data, and what its forms do. The router and the tests of all pages are
 * built from these, as the admin API is from its endpoints.
 *
 * 1. `load` reads, through the same functions as the admin API; `view` is a pure function of what was
 *    read.
 * 2. An action is a POST. It calls the same function as the command line and the admin API, and ends in
 *    a redirect to a page.
 */
import type { ComponentChildren } from 'preact';
import type { z } from 'zod';
import type { Permission, Role } from '../access/domain/roles.ts';
import type { Actor } from '../audit/domain/actor.ts';
import type { ApiParts } from '../console/endpoint.ts';
import { parseInput } from '../console/parseInput.ts';
import type { Shop } from '../demo/shop.ts';
import type { Topic } from './live/topics.ts';
import type { SystemParts } from './system/systemParts.ts';

/** What pages and their actions depend on: the same as endpoints, what is known of the process, and the sandbox. */
export interface PageParts extends ApiParts {
  readonly system: SystemParts;
  /** Undefined: the payments are real, or no sandbox is known. */
  readonly sandbox: Shop | undefined;
}

/** Why there is no page, or why an action did nothing. Each message states the next step. */
export interface Problem {
  readonly outcome: 'invalid' | 'not_found' | 'conflict' | 'gone' | 'unavailable' | 'unknown';
  readonly message: string;
  /** The page that shows what the message is about. */
  readonly about?: Crumb;
}

/** Another page shows what the request names. */
export interface Elsewhere {
  readonly outcome: 'elsewhere';
  /** Made by a function of links.ts. */
  readonly to: string;
}

export type Loaded<Data> = { readonly outcome: 'ok'; readonly data: Data } | Elsewhere | Problem;

export interface PageRequest<Params, Query> {
  readonly params: Params;
  readonly query: Query;
  readonly actor: Actor;
  readonly role: Role;
  readonly sessionId: number;
  /** An open page fetches itself again: what costs more than its own rows is not started for it. */
  readonly isLive: boolean;
}

export interface ActionRequest<Params, Form> {
  readonly params: Params;
  readonly form: Form;
  readonly actor: Actor;
  readonly sessionId: number;
}

/** What a view knows of its viewer. */
export interface Viewer {
  readonly role: Role;
  readonly may: (permission: Permission) => boolean;
  /** Proves that a form was sent from a page of this session. */
  readonly formToken: string;
  /** Path and query of the page, for links that keep its filters. */
  readonly url: string;
  readonly nowMs: number;
}

export interface Crumb {
  readonly label: string;
  readonly href: string;
}

export interface PageView {
  readonly title: string;
  /** The pages above this one, without the overview. */
  readonly crumbs?: readonly Crumb[];
  readonly body: ComponentChildren;
}

/** A page that was loaded. */
export interface Opened {
  readonly outcome: 'ok';
  readonly view: (viewer: Viewer) => PageView;
  /** What an open page follows; none: it shows its state at the time of its request. */
  readonly topics: readonly Topic[];
}

export interface RawPageRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly actor: Actor;
  readonly role: Role;
  readonly sessionId: number;
  readonly isLive: boolean;
}

export interface Page {
  /** With parameters in braces, as in the admin API. */
  readonly path: `/${string}`;
  readonly permission: Permission;
  readonly query: z.ZodObject;
  /** Whether this installation has the page; every one has a page without it. */
  readonly isOffered?: ((parts: PageParts) => boolean) | undefined;
  readonly open: (parts: PageParts, raw: RawPageRequest) => Promise<Opened | Elsewhere | Problem>;
}

interface PageDefinition<Params extends z.ZodObject, Query extends z.ZodObject, Data> {
  readonly path: `/${string}`;
  readonly permission: Permission;
  readonly params: Params;
  /** Every value is text; an empty field of a form counts as absent. */
  readonly query: Query;
  readonly isOffered?: Page['isOffered'];
  readonly load: (
    parts: PageParts,
    request: PageRequest<z.output<Params>, z.output<Query>>,
  ) => Promise<Loaded<Data>>;
  readonly view: (data: Data, viewer: Viewer) => PageView;
  /**
   * What the page follows while it is open (live/topics.ts). Its live part is shared by all viewers of a
   * role (live/fragments.ts), so a page with topics shows nothing by `actor` or `sessionId`.
   */
  readonly topics?: (data: Data) => readonly Topic[];
}

/** Ties the types of a page to its schemas. */
export function definePage<Params extends z.ZodObject, Query extends z.ZodObject, Data>(
  definition: PageDefinition<Params, Query, Data>,
): Page {
  const { path, permission, query: querySchema, load, view, topics = () => [] } = definition;
  return {
    path,
    permission,
    isOffered: definition.isOffered,
    query: querySchema,
    open: async (parts, { params: rawParams, query: rawQuery, ...by }) => {
      const params = parseInput(definition.params, rawParams);
      if (!params.success) return invalid('address', params.error);
      const query = parseInput(querySchema, rawQuery);
      if (!query.success) return invalid('filter', query.error);
      const loaded = await load(parts, { params: params.data, query: query.data, ...by });
      if (loaded.outcome !== 'ok') return loaded;
      return {
        outcome: 'ok',
        view: (viewer) => view(loaded.data, viewer),
        topics: topics(loaded.data),
      };
    },
  };
}

/** An action that was carried out: where to go, and what to show there. */
export interface Done {
  readonly outcome: 'done';
  /** Made by a function of links.ts. */
  readonly to: string;
  readonly notice: string;
}

/** An action with a result that exists only in its response, such as the text of a new token. */
export interface Shown {
  readonly outcome: 'shown';
  readonly view: (viewer: Viewer) => PageView;
}

export interface RawActionRequest {
  readonly params: unknown;
  readonly form: unknown;
  readonly actor: Actor;
  readonly sessionId: number;
}

export interface PageAction {
  readonly path: `/${string}`;
  readonly permission: Permission;
  readonly isOffered?: Page['isOffered'];
  /** Set: the form has files, of at most this many bytes in all. */
  readonly maxFileBytes?: number;
  readonly act: (parts: PageParts, raw: RawActionRequest) => Promise<Done | Shown | Problem>;
}

interface ActionDefinition<Params extends z.ZodObject, Form extends z.ZodObject> {
  readonly path: `/${string}`;
  readonly permission: Permission;
  readonly params: Params;
  readonly isOffered?: Page['isOffered'];
  readonly maxFileBytes?: number;
  /** Every value is text, or a list of texts for fields that were sent more than once. */
  readonly form: Form;
  readonly act: (
    parts: PageParts,
    request: ActionRequest<z.output<Params>, z.output<Form>>,
  ) => Promise<Done | Shown | Problem>;
}

/** Ties the types of an action to its schemas. */
export function defineAction<Params extends z.ZodObject, Form extends z.ZodObject>(
  definition: ActionDefinition<Params, Form>,
): PageAction {
  const { path, permission, maxFileBytes, act } = definition;
  return {
    path,
    permission,
    isOffered: definition.isOffered,
    ...(maxFileBytes !== undefined && { maxFileBytes }),
    act: async (parts, { actor, sessionId, ...raw }) => {
      const params = parseInput(definition.params, raw.params);
      if (!params.success) return invalid('address', params.error);
      const form = parseInput(definition.form, raw.form);
      if (!form.success) return invalid('form', form.error);
      return await act(parts, { params: params.data, form: form.data, actor, sessionId });
    },
  };
}

export function invalid(where: 'address' | 'filter' | 'form', { issues }: z.ZodError): Problem {
  const mistakes = issues.map((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return `${issue.keys.map((key) => JSON.stringify(key)).join(', ')} is unknown`;
    }
    const name = issue.path.join('.').replaceAll('_', ' ');
    return name === '' ? issue.message : `${name}: ${issue.message}`;
  });
  const next = 'Go back, correct it, and try again';
  return {
    outcome: 'invalid',
    message: `The ${where} is invalid: ${mistakes.join('; ')}. ${next}.`,
  };
}
