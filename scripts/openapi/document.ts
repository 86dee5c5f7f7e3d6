/** Parts that the OpenAPI documents of both interfaces share. */
import { z } from 'zod';

export type Json = Readonly<Record<string, unknown>>;

/** One operation, with parameters of its path in braces. */
export interface Operation {
  readonly path: string;
  readonly method: string;
  readonly description: Json;
}

/** Groups operations by path. */
export function pathsOf(operations: readonly Operation[]): Json {
  const paths: Record<string, Json> = {};
  for (const { path, method, description } of operations) {
    paths[path] = { ...paths[path], [method]: description };
  }
  return paths;
}

export function refTo(kind: 'headers' | 'responses' | 'schemas', name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}

export function contentOf(schema: Json, type = 'application/json'): Json {
  return { [type]: { schema } };
}

export function parametersIn(
  place: 'path' | 'query',
  { shape }: z.ZodObject,
  toSchema: (field: z.ZodType) => Json,
): readonly Json[] {
  return Object.entries(shape).map(([name, field]) => {
    const { $schema, description, ...schema } = toSchema(field as z.ZodType);
    return {
      name,
      in: place,
      required: place === 'path' || !z.safeParse(field, undefined).success,
      ...(description !== undefined && { description }),
      // List values are separated by commas; see src/contract/query.ts.
      ...(schema.type === 'array' && { style: 'form', explode: false }),
      schema,
    };
  });
}

export function sortByName(schemas: Json): Json {
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}
