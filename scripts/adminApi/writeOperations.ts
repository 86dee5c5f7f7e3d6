/**
 * Writes src/adminApi/operations.ts, the types and the table of the client of the admin API, from the OpenAPI
 * document, and so from the table of endpoints that the app is built from.
 */
import { buildAdminOpenApi } from '../openapi/admin.ts';
import { comment, type JsonSchema, refsIn, typeOf } from './types.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

interface Content {
  readonly 'application/json'?: { readonly schema: JsonSchema };
}

interface OpenApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** One endpoint, as the client has it. */
interface Described {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly text: string;
  readonly parameters: readonly Parameter[];
  readonly body: JsonSchema | undefined;
  /** The name of the response's schema. */
  readonly response: string;
  readonly page: DescribedPage | undefined;
}

interface DescribedPage {
  readonly rows: string;
  readonly send: string;
  readonly next: string;
  readonly row: string;
}

/** The fields with which a list continues: what a request sends, and what a response names. */
const CONTINUATIONS = [
  { send: 'cursor', next: 'next_cursor' },
  { send: 'after', next: 'next_after' },
] as const;

export function writeOperations(): string {
  const document = buildAdminOpenApi() as unknown as OpenApi;
  const { schemas } = document.components;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // Metrics are text for Prometheus.
      .filter(([, { responses }]) => responseOf(responses) !== undefined)
      .map(([method, operation]) => describe({ path, method, operation }, schemas)),
  );
  const reached = reachedFrom(operations, schemas);
  const named = Object.entries(schemas).filter(([name]) => reached.has(name));
  return [
    '/**',
    ' * The endpoints of the admin API: their types, and the table that the client is built from. Written by',
    ' * `npm run generate` from the table of endpoints; change that.',
    ' */',
    "import type { AdminApiCallOptions } from './options.ts';",
    '',
    ...HEAD,
    ...operations.map(tableRow),
    '} as const satisfies Readonly<Record<string, Operation>>;',
    '',
    '/** The name of an endpoint: its method in the client, and its operation in the OpenAPI document. */',
    'export type OperationName = keyof typeof OPERATIONS;',
    '',
    '/** The calls of the client, one for each endpoint. */',
    'export interface AdminApiCalls {',
    ...operations.flatMap((one) => [comment(one.text, '  '), `  ${signature(one)}`]),
    '}',
    '',
    '/** The lists of the client, row by row. */',
    'export interface AdminApiLists {',
    ...operations.flatMap((one) =>
      one.page ? [comment(`${one.text}`, '  '), `  ${listSignature(one, one.page)}`] : [],
    ),
    '}',
    ...operations.flatMap(inputType),
    ...named.flatMap(([name, schema]) => [
      '',
      comment(schema.description ?? `\`${name}\` in the OpenAPI document.`, ''),
      `export type ${name} = ${typeOf(schema, '')};`,
    ]),
    '',
  ].join('\n');
}

const HEAD = [
  '/** An endpoint, as the client calls it. */',
  'export interface Operation {',
  "  readonly method: 'GET' | 'POST' | 'PUT';",
  '  /** With its fields in braces. */',
  '  readonly path: string;',
  '  /** Fields of the query. */',
  '  readonly query: readonly string[];',
  '  /** Whether all other fields are the body. */',
  '  readonly hasBody: boolean;',
  '  /** Of a list. */',
  '  readonly page?: Page;',
  '}',
  '',
  '/** How a list continues. */',
  'export interface Page {',
  '  /** The field of the response that has the rows. */',
  '  readonly rows: string;',
  '  /** The field of the request that has the position. */',
  '  readonly send: string;',
  '  /** The field of the response that has the next position. */',
  '  readonly next: string;',
  '}',
  '',
  '/** The endpoints by the name of their call. */',
  'export const OPERATIONS = {',
];

function describe(
  found: { readonly path: string; readonly method: string; readonly operation: OpenApiOperation },
  schemas: OpenApi['components']['schemas'],
): Described {
  const { path, method, operation } = found;
  const { operationId: name, summary, description, parameters = [], requestBody } = operation;
  const body = requestBody?.content['application/json']?.schema;
  const fields = [...parameters.map((one) => one.name), ...Object.keys(body?.properties ?? {})];
  if (new Set(fields).size < fields.length) {
    throw new Error(`${name}: two of its path, query and body have a field of one name`);
  }
  const response = nameIn(responseOf(operation.responses));
  if (response === undefined)
    throw new Error(`${name}: its response has no name; add .meta({ id })`);
  return {
    name,
    method: method.toUpperCase(),
    path,
    text: [`${summary}.`, ...(description === undefined ? [] : [description])].join('\n\n'),
    parameters,
    body,
    response,
    page: pageOf(parameters, schemas[response]),
  };
}

/** The schema of a success. */
function responseOf(responses: OpenApiOperation['responses']): JsonSchema | undefined {
  const [, good] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  return good?.content?.['application/json']?.schema;
}

function nameIn(schema: JsonSchema | undefined): string | undefined {
  return schema?.$ref?.split('/').at(-1);
}

function pageOf(
  parameters: readonly Parameter[],
  response: JsonSchema | undefined,
): DescribedPage | undefined {
  const fields = Object.entries(response?.properties ?? {});
  const names = new Set([...fields.map(([name]) => name), ...parameters.map(({ name }) => name)]);
  const found = CONTINUATIONS.find(({ send, next }) => names.has(send) && names.has(next));
  if (!found) return undefined;
  const lists = fields.filter(([, { type }]) => type === 'array');
  const [list] = lists;
  if (list === undefined || lists.length > 1) throw new Error('a page must have one list of rows');
  const [rows, { items = {} }] = list;
  return { ...found, rows, row: typeOf(items, '') };
}

function tableRow({ name, method, path, parameters, body, page }: Described): string {
  const query = parameters.filter((one) => one.in === 'query').map((one) => `'${one.name}'`);
  const parts = [
    `method: '${method}'`,
    `path: '${path}'`,
    `query: [${query.join(', ')}]`,
    `hasBody: ${body !== undefined}`,
    ...(page ? [`page: { rows: '${page.rows}', send: '${page.send}', next: '${page.next}' }`] : []),
  ];
  return `  ${name}: { ${parts.join(', ')} },`;
}

function signature(one: Described): string {
  return `${one.name}(${inputOf(one)}, options?: AdminApiCallOptions): Promise<${one.response}>;`;
}

function listSignature(one: Described, { send, row }: DescribedPage): string {
  const input =
    send === 'cursor' ? inputOf(one, `Omit<${inputName(one)}, 'cursor'>`) : inputOf(one);
  return `${one.name}(${input}, options?: AdminApiCallOptions): AsyncIterable<${row}>;`;
}

function inputOf(one: Described, type = inputName(one)): string {
  const needed = one.parameters.some(({ required }) => required) || hasRequired(one.body);
  return `input${needed ? '' : '?'}: ${type}`;
}

function hasRequired(body: JsonSchema | undefined): boolean {
  return (body?.required ?? []).length > 0;
}

function inputName({ name }: Described): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
}

function inputType(one: Described): readonly string[] {
  const fields: Record<string, JsonSchema> = { ...one.body?.properties };
  const required = [...(one.body?.required ?? [])];
  for (const { name, required: isRequired, description, schema } of one.parameters) {
    // A flag is sent as 1, or not at all.
    const isFlag = schema.const === '1';
    fields[name] = {
      ...(isFlag ? { type: 'boolean' } : schema),
      ...(description !== undefined && { description }),
    };
    if (isRequired) required.push(name);
  }
  const isEmpty = Object.keys(fields).length === 0;
  const type = isEmpty
    ? 'Readonly<Record<string, never>>'
    : typeOf({ type: 'object', properties: fields, required }, '');
  return ['', `/** The fields of \`${one.name}\`. */`, `export type ${inputName(one)} = ${type};`];
}

/** The names of all schemas that the calls use, also through others. */
function reachedFrom(
  operations: readonly Described[],
  schemas: OpenApi['components']['schemas'],
): ReadonlySet<string> {
  const inputs = operations.flatMap(({ parameters, body }) => [
    ...parameters.map(({ schema }) => schema),
    ...(body ? [body] : []),
  ]);
  const reached = new Set([
    ...operations.map(({ response }) => response),
    ...inputs.flatMap(refsIn),
  ]);
  for (const name of reached) for (const next of refsIn(schemas[name] ?? {})) reached.add(next);
  return reached;
}
