/** The tables of a sandbox in memory, as those of migrations/sandbox/. Times in milliseconds since 1970. */
import type { ResourceKind } from '../../../contract/index.ts';
import type { ApiKeyState } from '../../domain/apiKey.ts';
import type { CustomerState } from '../../domain/customer.ts';
import type { PaymentLinkState } from '../../domain/paymentLink.ts';
import { idOf, type Resource, type SearchFields } from '../../domain/resource.ts';
import type { KeyKind } from '../account.ts';
import type { StoredFile } from '../files.ts';
import type { NewDelivery, NewEvent } from '../webhooks.ts';
import { createTable, type Journal, type Table } from './table.ts';

export interface KeyRow {
  /** Hexadecimal. */
  readonly sha256: string;
  readonly kind: KeyKind;
  readonly isRevoked: boolean;
  /** Undefined for keys of the settings and of control routes, which are none of the account's own. */
  readonly state?: ApiKeyState | undefined;
}

export interface ResourceRow {
  readonly resource: Resource;
  readonly fields: SearchFields;
  readonly createdMs: number;
  readonly modifiedMs: number;
  /** By the sandbox's own clock. */
  readonly recordedMs: number;
}

export interface PastRow extends ResourceRow {
  readonly number: number;
  readonly validUntilMs: number;
}

export interface CustomerRow {
  readonly state: CustomerState;
  readonly isDeleted: boolean;
}

export interface StoredEventRow extends NewEvent {
  readonly seq: number;
}

export interface StoredDelivery extends NewDelivery {
  readonly id: number;
  readonly objectId: string;
  /** ISO 8601; undefined while it is still to be sent. */
  readonly sentAt?: string;
  readonly httpStatus?: number | undefined;
  readonly error?: string | undefined;
}

export interface Tables {
  /** One row. */
  readonly account: Table<{ readonly advanceMs: number }>;
  readonly keys: Table<KeyRow, 'id'>;
  readonly resources: Table<ResourceRow, 'kind' | 'parent' | 'due'>;
  readonly pastResources: Table<PastRow, 'kind' | 'key'>;
  readonly customers: Table<CustomerRow>;
  readonly files: Table<StoredFile>;
  readonly paymentLinks: Table<PaymentLinkState>;
  readonly events: Table<StoredEventRow, 'id' | 'object' | 'once'>;
  readonly deliveries: Table<StoredDelivery, 'event' | 'waiting'>;
  /** @returns a number that no row has: ids of rows ascend in the order of their inserts */
  readonly nextNumber: () => number;
}

/** The one value of an index that only selects rows. */
export const YES = 'yes';

export function createTables(journal: Journal): Tables {
  let number = 0;
  return {
    account: createTable({ keyOf: () => '' }, journal),
    keys: createTable(
      { keyOf: ({ sha256 }) => sha256, indexes: { id: ({ state }) => state?.key_id } },
      journal,
    ),
    resources: createTable(
      {
        keyOf: ({ resource }) => keyOf(resource.kind, idOf(resource)),
        indexes: {
          kind: ({ resource }) => resource.kind,
          parent: ({ fields }) => fields.parentId,
          due: ({ fields }) => fields.dueAt && YES,
        },
      },
      journal,
    ),
    pastResources: createTable(
      {
        keyOf: ({ number: own }) => String(own),
        indexes: {
          kind: ({ resource }) => resource.kind,
          key: ({ resource }) => keyOf(resource.kind, idOf(resource)),
        },
      },
      journal,
    ),
    customers: createTable({ keyOf: ({ state }) => state.customer_id }, journal),
    files: createTable({ keyOf: ({ fileId }) => fileId }, journal),
    paymentLinks: createTable({ keyOf: ({ payment_link_id: id }) => id }, journal),
    events: createTable(
      {
        keyOf: ({ seq }) => String(seq),
        indexes: {
          id: ({ eventId }) => eventId,
          object: ({ objectId }) => objectId,
          once: ({ onceKey }) => onceKey,
        },
      },
      journal,
    ),
    deliveries: createTable(
      {
        keyOf: ({ id }) => String(id),
        indexes: {
          event: ({ eventSeq }) => String(eventSeq),
          waiting: ({ sentAt }) => (sentAt === undefined ? YES : undefined),
        },
      },
      journal,
    ),
    nextNumber: () => {
      number += 1;
      return number;
    },
  };
}

/** The key of a resource. */
export function keyOf(kind: ResourceKind, id: string): string {
  return `${kind}/${id}`;
}
