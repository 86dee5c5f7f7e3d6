/** The calls of a client: parameters, result, errors, and what happens after a lost response. */
import { SECRET_KEYS } from '../../src/contract/endpoints/endpoint.ts';
import {
  ENDPOINTS,
  type Endpoint,
  type EndpointName,
  type Repetition,
} from '../../src/contract/endpoints/index.ts';
import { prose, table, tagged } from './markdown.ts';
import type { EndpointOfCall } from './probeClient.ts';
import type { Declaration, Member } from './readSources.ts';
import type { TypeWriter } from './typeWriter.ts';

/** What every description needs. */
export interface Context {
  readonly declarations: ReadonlyMap<string, Declaration>;
  readonly write: TypeWriter;
}

/** @throws Error when `name` is not public */
export function declarationOf({ declarations }: Context, name: string): Declaration {
  const found = declarations.get(name);
  if (!found) throw new Error(`${name} is not exported`);
  return found;
}

/** One call, and the group that it belongs to. */
interface Call {
  /** For example `payments.create`. */
  readonly name: string;
  readonly member: Member;
  readonly group: Declaration;
}

/**
 * Describes every call of a client, by group.
 * @throws Error when the client has a call that its type does not name, or the other way round
 */
export function describeCalls(
  context: Context,
  client: string,
  used: EndpointOfCall,
): readonly string[] {
  const own = declarationOf(context, client);
  const described = new Set<string>();
  const call = (name: string, member: Member, group: Declaration) => {
    described.add(name);
    const endpoint = used.get(name);
    if (!endpoint) throw new Error(`${client} names ${name}, which its client does not have`);
    return describeCall(context, { name, member, group }, endpoint);
  };
  const parts = own.members.flatMap((member) => {
    if (!member.type.endsWith('Calls')) return [call(member.name, member, own)];
    const group = declarationOf(context, member.type);
    return [
      `### ${group.name}`,
      `\`client.${member.name}\`: ${prose(group.docstring)}`,
      ...group.members.map((one) => call(`${member.name}.${one.name}`, one, group)),
    ];
  });
  const unnamed = [...used.keys()].filter((name) => !described.has(name));
  if (unnamed.length > 0) throw new Error(`${client} does not name ${unnamed.join(', ')}`);
  return parts;
}

function describeCall({ write }: Context, { name, member, group }: Call, used: EndpointName) {
  const endpoint: Endpoint = ENDPOINTS[used];
  const { parameters, result } = readSignature(member.type);
  const { text, source } = splitSource(prose(member.docstring));
  const rows = [
    ['endpoint', `\`${endpoint.method} ${endpoint.path}\``],
    ...parameters.map(({ name: parameter, type, optional }) => [
      `\`${parameter}\`${optional ? ', optional' : ''}`,
      write(type),
    ]),
    [result.startsWith('AsyncIterable') ? 'yields' : 'resolves to', writeResult(result, write)],
    ['after a lost response', AFTER_LOSS[endpoint.repetition.kind](endpoint.repetition)],
    ['errors', refusals(endpoint)],
    ['throws', ['PaymentServiceError', ...tagged(member.docstring, 'throws')].join('; also ')],
    ['key', keyWords(endpoint.keys)],
    ['section', linkTo(source ?? splitSource(prose(group.fileDocstring)).source ?? '')],
  ];
  const names = parameters.map(
    ({ name: parameter, optional }) => `${parameter}${optional ? '?' : ''}`,
  );
  return `#### \`${name}(${names.join(', ')})\`\n\n${text}\n\n${table(
    ['', ''],
    rows.map((row) => row as string[]),
  )}`;
}

function keyWords(kinds: Endpoint['keys']): string {
  if (kinds.every((kind) => kind === 'admin')) return 'administrative';
  return kinds === SECRET_KEYS ? 'secret' : 'any';
}

const AFTER_LOSS: Readonly<Record<Repetition['kind'], (repetition: Repetition) => string>> = {
  safe: () => 'retried: a retry changes nothing',
  keyed: (repetition) =>
    `retried if \`${keyOf(repetition)}\` is given, and an existing resource with this id is retrieved; never retried without one`,
  findable: (repetition) =>
    `never retried; if \`${keyOf(repetition)}\` was given, a retrieve shows whether it was created`,
  once: () => 'never retried; retrieve the resource, then decide',
};

function keyOf(repetition: Repetition): string {
  return 'key' in repetition ? repetition.key : '';
}

function refusals({ errors }: Endpoint): string {
  const own = errors.map(({ status, code, when }) => `${status} \`${code}\`: ${when}`);
  return own.length === 0 ? 'the errors of every call' : own.join(' ');
}

/** A response with a part of a resource is written as the list of its fields. */
function writeResult(result: string, write: TypeWriter): string {
  const [, name] = /^Promise<ResultOf<'(\w+)'>>$/.exec(result) ?? [];
  if (name === undefined) return write(result.replace(/^Promise<(.*)>$/, '$1'));
  const { shape } = ENDPOINTS[name as EndpointName].response as unknown as { shape: object };
  return Object.keys(shape)
    .map((field) => `\`${field}\``)
    .join(', ');
}

/** A docstring without its citation of service-interface.md, and the sections that it cites. */
function splitSource(text: string): { readonly text: string; readonly source?: string } {
  const [whole, source] =
    /service-interface\.md (§[\d.]*\d(?:(?:, | and )§[\d.]*\d)*)\.?/.exec(text) ?? [];
  if (whole === undefined || source === undefined) return { text };
  return { text: text.replace(whole, '').trim(), source };
}

function linkTo(source: string): string {
  return source === '' ? '' : `[service-interface.md](service-interface.md) ${source}`;
}

interface Signature {
  readonly parameters: readonly {
    readonly name: string;
    readonly type: string;
    readonly optional: boolean;
  }[];
  readonly result: string;
}

/** @throws Error when the type is not that of a function */
function readSignature(type: string): Signature {
  const [, list, result] = /^\((.*)\) => (.+)$/.exec(type) ?? [];
  if (list === undefined || result === undefined) throw new Error(`no signature: ${type}`);
  const parameters = splitList(list).map((parameter) => {
    const [, name, mark, own] = /^(\w+)(\?)?: (.+)$/.exec(parameter) ?? [];
    if (name === undefined || own === undefined) throw new Error(`no parameter: ${parameter}`);
    return { name, type: own, optional: mark !== undefined };
  });
  return { parameters, result };
}

/** Splits at the commas between parameters, not at those within a type. */
function splitList(list: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (const [at, character] of [...list].entries()) {
    if ('([{<'.includes(character)) depth += 1;
    else if (')]}>'.includes(character) && list[at - 1] !== '=') depth -= 1;
    else if (character === ',' && depth === 0) {
      parts.push(list.slice(from, at).trim());
      from = at + 1;
    }
  }
  return [...parts, list.slice(from).trim()].filter((part) => part !== '');
}
