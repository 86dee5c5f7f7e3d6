/** Types of TypeScript for the JSON Schemas of the OpenAPI document. */

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly description?: string;
}

/** @param indent what the lines after the first begin with */
export function typeOf(schema: JsonSchema, indent: string): string {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  if (alternatives) return union(alternatives.map((one) => typeOf(one, indent)));
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  return types.length === 0 ? 'unknown' : union(types.map((type) => named(type, schema, indent)));
}

/** The names of the schemas that a schema refers to. */
export function refsIn(schema: object): readonly string[] {
  return [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name = '']) => name,
  );
}

/** A docstring: its paragraphs, with what would end it taken apart. */
export function comment(text: string, indent: string): string {
  const safe = text.replaceAll('*/', '* /');
  const lines = safe.split('\n').map((line) => `${indent} *${line === '' ? '' : ` ${line}`}`);
  return lines.length === 1
    ? `${indent}/** ${safe} */`
    : [`${indent}/**`, ...lines, `${indent} */`].join('\n');
}

function named(type: string, schema: JsonSchema, indent: string): string {
  switch (type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `readonly ${parenthesized(typeOf(schema.items ?? {}, indent))}[]`;
    case 'object':
      return objectOf(schema, indent);
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    default:
      throw new Error(`the type ${type} is not known here`);
  }
}

function objectOf(schema: JsonSchema, indent: string): string {
  const { properties, required = [], additionalProperties } = schema;
  if (!properties) {
    const values = typeof additionalProperties === 'object' ? additionalProperties : {};
    return `Readonly<Record<string, ${typeOf(values, indent)}>>`;
  }
  const inner = `${indent}  `;
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const isOptional = !required.includes(name);
    const type = typeOf(field, inner);
    // Callers may pass an optional field through as undefined.
    const whole = isOptional ? union([type, 'undefined']) : type;
    return [
      ...(field.description === undefined ? [] : [comment(field.description, inner)]),
      `${inner}readonly ${name}${isOptional ? '?' : ''}: ${whole};`,
    ];
  });
  return ['{', ...fields, `${indent}}`].join('\n');
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

function parenthesized(type: string): string {
  return type.includes(' ') && !type.startsWith('{') ? `(${type})` : type;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);
}
