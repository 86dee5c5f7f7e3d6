/**
 * What each SQLSTATE means for the work that it interrupted. The classes are those of PostgreSQL's
 * list of error codes. A class has one verdict; a code that differs from its class has its own.
 *
 * Terms
 *   unavailable   the server, or this connection to it, cannot serve now; the connection is closed
 *   retry         this transaction cannot succeed now, another one may, and so may this one later
 *   installation  no transaction of this kind succeeds until an operator corrects something
 *   permanent     the same statement with the same data fails again
 *
 * Invariants
 *   1. Only `permanent` concerns the data. No other verdict counts as a failed attempt.
 *   2. `unavailable` and `installation` concern every transaction alike; `retry` may concern one
 *      event of a batch only, so a batch that keeps failing with it is split.
 *   3. A code that is not listed has the verdict of its class. An unknown class is `permanent`,
 *      because a dead-lettered event can be replayed, and one retried forever blocks others.
 */

/** Codes by their condition names in PostgreSQL's list. No other file spells one out. */
export const SQLSTATES = {
  warning: '01000',
  numeric_value_out_of_range: '22003',
  unique_violation: '23505',
  check_violation: '23514',
  read_only_sql_transaction: '25006',
  in_failed_sql_transaction: '25P02',
  idle_in_transaction_session_timeout: '25P03',
  transaction_timeout: '25P04',
  invalid_sql_statement_name: '26000',
  invalid_authorization_specification: '28000',
  invalid_password: '28P01',
  invalid_catalog_name: '3D000',
  invalid_schema_name: '3F000',
  transaction_integrity_constraint_violation: '40002',
  deadlock_detected: '40P01',
  insufficient_privilege: '42501',
  undefined_column: '42703',
  duplicate_object: '42710',
  undefined_function: '42883',
  undefined_table: '42P01',
  duplicate_prepared_statement: '42P05',
  disk_full: '53100',
  out_of_memory: '53200',
  configuration_limit_exceeded: '53400',
  object_not_in_prerequisite_state: '55000',
  cant_change_runtime_param: '55P02',
  lock_not_available: '55P03',
  operator_intervention: '57000',
  query_canceled: '57014',
  system_error: '58000',
} as const;

export type Verdict = 'unavailable' | 'retry' | 'installation' | 'permanent';

interface StateClass {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly except?: Readonly<Record<string, Verdict>>;
}

const DATA = 'the statement and its data cause it';
const STATEMENT = 'the program causes it every time';
const CONNECTION = 'the session is lost or was never opened';

export const SQLSTATE_CLASSES: Readonly<Record<string, StateClass>> = {
  '00': { verdict: 'permanent', reason: 'success; never an error' },
  '01': { verdict: 'permanent', reason: 'a warning; never an error' },
  '02': { verdict: 'permanent', reason: 'no data; never an error of a query' },
  '03': { verdict: 'permanent', reason: STATEMENT },
  '08': { verdict: 'unavailable', reason: CONNECTION },
  '09': { verdict: 'permanent', reason: DATA },
  '0A': { verdict: 'permanent', reason: STATEMENT },
  '0B': { verdict: 'permanent', reason: STATEMENT },
  '0F': { verdict: 'permanent', reason: STATEMENT },
  '0L': { verdict: 'permanent', reason: STATEMENT },
  '0P': { verdict: 'installation', reason: 'a role does not exist' },
  '0Z': { verdict: 'permanent', reason: STATEMENT },
  '10': { verdict: 'permanent', reason: DATA },
  '20': { verdict: 'permanent', reason: DATA },
  '21': { verdict: 'permanent', reason: DATA },
  '22': { verdict: 'permanent', reason: DATA },
  '23': { verdict: 'permanent', reason: DATA },
  '24': { verdict: 'permanent', reason: STATEMENT },
  '25': {
    verdict: 'permanent',
    reason: STATEMENT,
    except: {
      // A primary that became a standby: only another connection can lead to the new primary.
      [SQLSTATES.read_only_sql_transaction]: 'unavailable',
      // Both end the session.
      [SQLSTATES.idle_in_transaction_session_timeout]: 'unavailable',
      [SQLSTATES.transaction_timeout]: 'unavailable',
    },
  },
  // A pooler assigned a session without the statement.
  '26': { verdict: 'unavailable', reason: 'this session does not have the prepared statement' },
  '27': { verdict: 'permanent', reason: DATA },
  '28': { verdict: 'installation', reason: 'the role or its password is refused' },
  '2B': { verdict: 'permanent', reason: STATEMENT },
  '2D': { verdict: 'permanent', reason: STATEMENT },
  '2F': { verdict: 'permanent', reason: STATEMENT },
  '34': { verdict: 'permanent', reason: STATEMENT },
  '38': { verdict: 'permanent', reason: STATEMENT },
  '39': { verdict: 'permanent', reason: STATEMENT },
  '3B': { verdict: 'permanent', reason: STATEMENT },
  '3D': { verdict: 'installation', reason: 'the database does not exist' },
  '3F': { verdict: 'installation', reason: 'a schema does not exist' },
  '40': {
    verdict: 'retry',
    reason: 'rolled back in favor of other transactions',
    except: { [SQLSTATES.transaction_integrity_constraint_violation]: 'permanent' },
  },
  '42': {
    verdict: 'installation',
    reason: 'statements are fixed, so grants or the schema differ from what they expect',
    // A pooler assigned a session in which another client prepared a statement of this name.
    except: { [SQLSTATES.duplicate_prepared_statement]: 'unavailable' },
  },
  '44': { verdict: 'permanent', reason: DATA },
  '53': {
    verdict: 'unavailable',
    reason: 'the server has run out of disk, memory or connections',
    // The size of one transaction may be what exhausts these two.
    except: {
      [SQLSTATES.out_of_memory]: 'retry',
      [SQLSTATES.configuration_limit_exceeded]: 'retry',
    },
  },
  '54': { verdict: 'permanent', reason: DATA },
  '55': {
    verdict: 'retry',
    reason: 'something else holds what the statement needs, as with lock_timeout',
    except: { [SQLSTATES.cant_change_runtime_param]: 'installation' },
  },
  '57': {
    verdict: 'unavailable',
    reason: 'the server is starting, stopping or ended the session',
    // Canceled by statement_timeout or by an operator; the session continues.
    except: { [SQLSTATES.operator_intervention]: 'retry', [SQLSTATES.query_canceled]: 'retry' },
  },
  '58': {
    verdict: 'retry',
    reason: 'the operating system failed, perhaps for one file only',
    except: { [SQLSTATES.system_error]: 'unavailable' },
  },
  '72': { verdict: 'retry', reason: 'the snapshot was too old (before PostgreSQL 17)' },
  F0: { verdict: 'unavailable', reason: 'the server cannot use its configuration' },
  HV: { verdict: 'permanent', reason: 'no foreign tables are used' },
  P0: { verdict: 'permanent', reason: DATA },
  XX: {
    verdict: 'retry',
    reason:
      'damaged data, or an internal error, which poolers also send when they are full; not caused by the event',
  },
};

const FORM = /^[0-9A-Z]{5}$/;

/** The verdict on a SQLSTATE; undefined for any other code. */
export function verdictOf(code: string): Verdict | undefined {
  if (!FORM.test(code)) return undefined;
  const stateClass = SQLSTATE_CLASSES[code.slice(0, 2)];
  return stateClass?.except?.[code] ?? stateClass?.verdict ?? 'permanent';
}
