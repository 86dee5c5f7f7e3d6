/**
 * The rights of a database role as its file in `migrations/rights/` declares them: plain GRANT
 * statements, which an administrator can also run by hand.
 */

import { groupBy } from '../collections.ts';

/** A privilege on an object, as GRANT names both: `update (is_awaited)` on `public.order_expectations`. */
export interface Right {
  readonly privilege: string;
  /**
   * A table or view by its name, `sequence …`, `function …` with the types of its parameters, `schema …`
   * or `database …`; names have their schema.
   */
  readonly object: string;
}

/** A declared right; `all` is every table or sequence of a schema, also those that are added later. */
export type DeclaredRight =
  | (Right & { readonly all?: undefined })
  | {
      readonly privilege: string;
      readonly all: 'tables' | 'sequences';
      readonly schema: string;
    };

const STATEMENT =
  /^grant (?<privileges>[a-z_, ]+?(?: \([a-z_, ]+\))?) on (?<objects>function [a-z_]+\([a-z, [\]]*\)|[a-z_., ]+) to (?<role>[a-z_]+)$/;
const ALL_OF_SCHEMA = /^all (?<kind>tables|sequences) in schema (?<schema>[a-z_]+)$/;

/**
 * Reads the rights that the statements grant to a role.
 * @throws Error for a statement that is not a GRANT of the known form, or grants to another role
 */
export function parseGrants(sql: string, role: string): readonly DeclaredRight[] {
  return sql
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '')
    .flatMap((statement) => {
      const { privileges, objects, role: grantee } = STATEMENT.exec(statement)?.groups ?? {};
      if (privileges === undefined || objects === undefined || grantee !== role) {
        throw new Error(
          `the rights of ${role} have a statement that is not understood: ${statement}`,
        );
      }
      return splitPrivileges(privileges).flatMap((privilege) => rightsOn(objects, privilege));
    });
}

/** A list of columns belongs to its privilege: `update (a, b)` is one right for each column. */
function splitPrivileges(privileges: string): readonly string[] {
  const [, name, columns] = /^(\w+) \((.+)\)$/.exec(privileges) ?? [];
  if (name === undefined || columns === undefined) return privileges.split(', ');
  return columns.split(', ').map((column) => `${name} (${column})`);
}

function rightsOn(objects: string, privilege: string): readonly DeclaredRight[] {
  const { kind, schema } = ALL_OF_SCHEMA.exec(objects)?.groups ?? {};
  if (schema !== undefined) {
    return [{ privilege, all: kind === 'tables' ? 'tables' : 'sequences', schema }];
  }
  if (objects.startsWith('schema ')) return [{ privilege, object: objects }];
  if (objects.startsWith('function ')) {
    return [{ privilege, object: objects.replace('function ', 'function public.') }];
  }
  return objects
    .split(', ')
    .map((name) => ({ privilege, object: name.includes('.') ? name : `public.${name}` }));
}

/** The declared rights on objects that exist. */
export function expandRights(
  declared: readonly DeclaredRight[],
  objects: readonly string[],
): readonly Right[] {
  return declared.flatMap((right) => {
    if (right.all === undefined) return [right];
    const { privilege, all, schema } = right;
    const start = all === 'sequences' ? `sequence ${schema}.` : `${schema}.`;
    return objects
      .filter((object) => object.startsWith(start))
      .map((object) => ({ privilege, object }));
  });
}

/** Statements for rights, one for each object. */
export function statementsOf(
  verb: 'grant' | 'revoke',
  rights: readonly Right[],
  role: string,
): readonly string[] {
  const byObject = groupBy(rights, ({ object }) => object);
  return [...byObject].map(([object, some]) => {
    const privileges = some.map(({ privilege }) => privilege).join(', ');
    return `${verb} ${privileges} on ${object} ${verb === 'grant' ? 'to' : 'from'} ${role}`;
  });
}
