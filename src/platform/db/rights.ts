/**
 * The database roles that processes log in through, and the rights that each has.
 *
 * 1. The files in `migrations/rights/` are the only list of rights: one file a role, by its name.
 * 2. `applyRights` makes the database agree with it, in both directions. It runs after the migrations of
 *    every `migrate`, so that it covers new tables, the queue's schema and a role that is created later.
 * 3. What the migrating user may not grant does not stop a migration: it is returned as statements for
 *    an administrator.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../errors.ts';
import type { Queryable } from './database.ts';
import { isForbidden } from './failures.ts';
import { expandRights, parseGrants, type Right, statementsOf } from './grants.ts';
import { oneRow } from './oneRow.ts';
import { migrationsFolder } from './pendingMigrations.ts';
import { SQLSTATES } from './sqlStates.ts';

/** A role, and how its rights differ from its file. */
export interface RoleRights {
  readonly role: string;
  readonly exists: boolean;
  /** GRANT statements that are missing. */
  readonly missing: readonly string[];
  /** REVOKE statements for rights that the role does not need. */
  readonly surplus: readonly string[];
}

/** What the user of a connection may do. */
export interface UserRights {
  readonly user: string;
  /** GRANT statements that the user lacks of each role's rights, whether it is a member or not. */
  readonly missing: Readonly<Record<string, readonly string[]>>;
}

/** The names of the roles, in the order of their files. */
export function databaseRoles(): readonly string[] {
  return readdirSync(rightsFolder())
    .toSorted()
    .flatMap((file) => (file.endsWith('.sql') ? [file.slice(0, -'.sql'.length)] : []));
}

/** Compares the rights that each role has with its file. Any user may read them. */
export async function readRoleRights(db: Queryable): Promise<readonly RoleRights[]> {
  const roles = databaseRoles();
  const existing = new Set(await readExisting(db, roles));
  const facts = await readFacts(db, roles);
  return roles.map((role) => {
    if (!existing.has(role)) return { role, exists: false, missing: [], surplus: [] };
    const own = facts.filter((fact) => fact.role === role);
    const declared = declaredRights(role, own);
    const keys = new Set(declared.map(keyOf));
    return {
      role,
      exists: true,
      missing: statementsOf('grant', notHeld(declared, own), role),
      surplus: statementsOf(
        'revoke',
        own.filter((fact) => fact.isGranted && !keys.has(keyOf(fact))).toSorted(byObject),
        role,
      ),
    };
  });
}

/** Compares the rights of this connection's user, from all sources, with each role's file. */
export async function readUserRights(db: Queryable): Promise<UserRights> {
  const rows = await db.query<{ user: string }>('select current_user::text as user');
  const { user } = oneRow(rows);
  const facts = await readFacts(db, [user]);
  const missing = databaseRoles().map((role): [string, readonly string[]] => [
    role,
    statementsOf('grant', notHeld(declaredRights(role, facts), facts), user),
  ]);
  return { user, missing: Object.fromEntries(missing) };
}

/**
 * Creates the roles, revokes what their files do not declare and grants what they do.
 * @param connection one connection, outside a transaction
 * @returns the statements that this user may not run
 */
export async function applyRights(connection: Queryable): Promise<readonly string[]> {
  const roles = databaseRoles();
  const refused: string[] = [];
  const attempt = async (statements: readonly string[]) => {
    for (const statement of statements) {
      if (!(await isPermitted(connection, statement))) refused.push(statement);
    }
  };
  await connection.query('begin');
  try {
    await connection.query(`select pg_advisory_xact_lock(hashtext('tallyhook rights'))`);
    const existing = new Set(await readExisting(connection, roles));
    await attempt(
      roles.filter((role) => !existing.has(role)).map((role) => `create role ${role} nologin`),
    );
    const before = await readRoleRights(connection);
    const surplus = before.flatMap((role) => role.surplus);
    await attempt(surplus);
    // Read again: to revoke a right on a table revokes it on its columns, too.
    const after = surplus.length === 0 ? before : await readRoleRights(connection);
    await attempt(after.flatMap(({ missing }) => missing));
    await connection.query('commit');
    return refused;
  } catch (error) {
    await connection.query('rollback');
    throw error;
  }
}

/** Another database of the cluster created the role just now. */
const ALREADY_THERE: ReadonlySet<string> = new Set([
  SQLSTATES.duplicate_object,
  SQLSTATES.unique_violation,
]);

/** Runs a statement, unless this user may not. */
async function isPermitted(connection: Queryable, statement: string): Promise<boolean> {
  await connection.query('savepoint attempt');
  try {
    await connection.query(statement);
    await connection.query('release savepoint attempt');
    return true;
  } catch (error) {
    await connection.query('rollback to savepoint attempt');
    if (isForbidden(error)) return false;
    if (ALREADY_THERE.has(errorCode(error))) return true;
    throw error;
  }
}

interface Fact extends Right {
  readonly role: string;
  /** By itself, or through another role or PUBLIC. */
  readonly isHeld: boolean;
  /** By a grant to the role itself. */
  readonly isGranted: boolean;
}

const keyOf = ({ privilege, object }: Right) => `${privilege} on ${object}`;

/** The order of the few that are surplus: PostgreSQL would sort all that were read, which takes half of the statement. */
function byObject(a: Right, b: Right): number {
  return `${a.object} ${a.privilege}` < `${b.object} ${b.privilege}` ? -1 : 1;
}

/** A privilege on a table covers all of its columns. */
function notHeld(declared: readonly Right[], facts: readonly Fact[]): readonly Right[] {
  const held = new Set(facts.filter(({ isHeld }) => isHeld).map(keyOf));
  return declared.filter(({ privilege, object }) => {
    const ofTable = privilege.replace(/ \(.+\)$/, '');
    return (
      !held.has(keyOf({ privilege, object })) && !held.has(keyOf({ privilege: ofTable, object }))
    );
  });
}

function rightsFolder(): string {
  return join(migrationsFolder(), 'rights');
}

function declaredRights(role: string, facts: readonly Fact[]): readonly Right[] {
  const sql = readFileSync(join(rightsFolder(), `${role}.sql`), 'utf8');
  const objects = [...new Set(facts.map(({ object }) => object))].toSorted();
  const database = objects.filter((object) => object.startsWith('database '));
  return [
    ...expandRights(parseGrants(sql, role), objects),
    // The name of the database is not known to a file. Bulk additions to the queue use temporary tables.
    ...database.flatMap((object) => [
      { privilege: 'connect', object },
      { privilege: 'temporary', object },
    ]),
  ];
}

async function readExisting(db: Queryable, roles: readonly string[]): Promise<readonly string[]> {
  const rows = await db.query<{ role: string }>(
    'select rolname as role from pg_roles where rolname = any ($1)',
    [roles],
  );
  return rows.map(({ role }) => role);
}

/**
 * The rights that the roles have or could have, in the schemas of the ledger and of the queue. Those on a column are
 * read where there is a grant on it, because there are ten times as many columns as tables.
 */
async function readFacts(db: Queryable, roles: readonly string[]): Promise<readonly Fact[]> {
  return await db.query<Fact>(
    `with roles as (select oid, rolname from pg_roles where rolname = any ($1)),
          schemas as (select oid, nspname, nspacl from pg_namespace where nspname in ('public', 'bullmq')),
          relations as (
            select c.oid, c.relkind = 'S' as is_sequence, c.relacl,
                   format(case when c.relkind = 'S' then 'sequence %I.%I' else '%I.%I' end,
                          s.nspname, c.relname) as object
              from pg_class c join schemas s on s.oid = c.relnamespace
             where c.relkind in ('r', 'p', 'v', 'S')),
          granted as (
            select o.oid, g.grantee, lower(g.privilege_type) as privilege
              from relations o cross join aclexplode(o.relacl) g),
          -- Functions that run with the rights of their owner; everybody may run the others.
          definers as (
            select p.oid, p.proacl,
                   format('function %I.%I(%s)', s.nspname, p.proname, oidvectortypes(p.proargtypes))
                     as object
              from pg_proc p join schemas s on s.oid = p.pronamespace
             where p.prosecdef)
     select r.rolname as role, p.privilege, o.object,
            case when o.is_sequence then has_sequence_privilege(r.oid, o.oid, p.privilege)
                 else has_table_privilege(r.oid, o.oid, p.privilege) end as "isHeld",
            (o.oid, r.oid, p.privilege) in (select oid, grantee, privilege from granted) as "isGranted"
       from roles r cross join relations o
      cross join lateral unnest(
        case when o.is_sequence then array['usage', 'select', 'update']
             else array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']
             end) as p(privilege)
     union all
     select r.rolname, format('%s (%I)', p.privilege, a.attname), o.object,
            has_column_privilege(r.oid, o.oid, a.attnum, p.privilege),
            exists (select from aclexplode(a.attacl) g
                     where g.grantee = r.oid and lower(g.privilege_type) = p.privilege)
       from roles r cross join relations o
       join pg_attribute a on a.attrelid = o.oid and a.attnum > 0 and a.attacl is not null
      cross join unnest(array['select', 'insert', 'update']) as p(privilege)
      where not o.is_sequence
     union all
     select r.rolname, 'execute', o.object, has_function_privilege(r.oid, o.oid, 'execute'),
            exists (select from aclexplode(o.proacl) g where g.grantee = r.oid)
       from roles r cross join definers o
     union all
     select r.rolname, p.privilege, format('schema %I', s.nspname),
            has_schema_privilege(r.oid, s.oid, p.privilege),
            exists (select from aclexplode(s.nspacl) g
                     where g.grantee = r.oid and lower(g.privilege_type) = p.privilege)
       from roles r cross join schemas s cross join unnest(array['usage', 'create']) as p(privilege)
     union all
     select r.rolname, p.privilege, format('database %I', d.datname),
            has_database_privilege(r.oid, d.oid, p.privilege),
            exists (select from aclexplode(d.datacl) g
                     where g.grantee = r.oid and lower(g.privilege_type) = p.privilege)
       from roles r cross join pg_database d
      cross join unnest(array['connect', 'temporary', 'create']) as p(privilege)
      where d.datname = current_database()`,
    [roles],
  );
}
