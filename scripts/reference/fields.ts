/** The fields of a schema, one row each; nested fields by their path. */
import { z } from 'zod';

/** One field. */
export interface Field {
  /** For example `billing.address.zip`, or `order_details[].name`. */
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
}

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly maxProperties?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly $ref?: string;
}

/**
 * @param use whether the schema describes a request or a response
 * @throws Error for a kind of schema that is not supported
 */
export function fieldsOf(schema: z.ZodType, use: 'input' | 'output'): readonly Field[] {
  return rowsOf(z.toJSONSchema(schema, { io: use }) as JsonSchema, '', false);
}

function rowsOf(schema: JsonSchema, path: string, required: boolean): readonly Field[] {
  const own = path === '' ? [] : [{ path, type: wordsFor(schema), required }];
  const open = unwrap(schema);
  if (open.items?.properties) return [...own, ...childrenOf(open.items, `${path}[].`)];
  return open.properties ? [...own, ...childrenOf(open, path === '' ? '' : `${path}.`)] : own;
}

function childrenOf({ properties = {}, required = [] }: JsonSchema, before: string) {
  return Object.entries(properties).flatMap(([name, field]) =>
    rowsOf(field, `${before}${name}`, required.includes(name)),
  );
}

/** Without null, which responses may contain anywhere. */
function unwrap(schema: JsonSchema): JsonSchema {
  const { type, anyOf = schema.oneOf } = schema;
  const types = typeof type === 'string' ? [type] : type?.filter((name) => name !== 'null');
  if (types?.length === 1 && types[0] !== undefined) return { ...schema, type: types[0] };
  const kinds = anyOf?.filter((kind) => kind.type !== 'null');
  return kinds?.length === 1 && kinds[0]
    ? unwrap(kinds[0])
    : { ...schema, ...(kinds && { anyOf: kinds }) };
}

function wordsFor(schema: JsonSchema): string {
  const open = unwrap(schema);
  const { anyOf, enum: values, items, properties, type } = open;
  if (open.$ref) return 'any JSON';
  if (open.const !== undefined) return JSON.stringify(open.const);
  if (values) return values.map((value) => JSON.stringify(value)).join(', ');
  if (anyOf) return [...new Set(anyOf.map((part) => formOf(part)))].join(' or ');
  if (items) return `list of ${items.properties ? 'objects' : wordsFor(items)}`;
  if (properties) return open.maxProperties === 1 ? 'object with exactly one of' : 'object';
  if (typeof type === 'string') return `${type}${boundsOf(open)}`;
  if (Object.keys(open).every((key) => key === '$schema')) return 'any JSON';
  throw new Error(`unsupported field: ${JSON.stringify(open)}`);
}

/** One of several forms. An object is written by its fields, because it has no rows of its own. */
function formOf(schema: JsonSchema): string {
  if (!schema.properties) return wordsFor(schema);
  const names = Object.entries(schema.properties).map(([name, { const: value }]) => {
    const mark = schema.required?.includes(name) ? '' : '?';
    return `${name}${mark}${value === undefined ? '' : `: ${JSON.stringify(value)}`}`;
  });
  return `{ ${names.join(', ')} }`;
}

function boundsOf({ minLength, maxLength, minimum, maximum, type }: JsonSchema): string {
  if (type === 'string') {
    return maxLength === undefined ? '' : ` of ${minLength ?? 0} to ${maxLength} characters`;
  }
  const from = isBound(minimum) ? ` from ${minimum}` : '';
  return `${from}${isBound(maximum) ? ` to ${maximum}` : ''}`;
}

/** The bounds of a safe integer carry no information. */
function isBound(value: number | undefined): value is number {
  return value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;
}
