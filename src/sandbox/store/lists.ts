/** What the list endpoints read. */
import type { ResourceKind } from '../../contract/index.ts';
import type { Resource } from '../domain/resource.ts';
import type { Page } from './page.ts';

export interface ListStatements {
  /** One page, newest first. */
  listResources(filter: ListFilter, page: ListPage): Promise<readonly Resource[]>;
  /** How many the filter selects in all. @param asOf ISO 8601: the state of that time */
  countResources(filter: ListFilter, asOf: string | undefined): Promise<number>;
}

/** Restrictions of a list; both bounds of created time are inclusive, and undefined restricts nothing. */
export interface ListFilter {
  readonly kind: ResourceKind;
  readonly statuses?: readonly string[] | undefined;
  readonly currencies?: readonly string[] | undefined;
  readonly customerId?: string | undefined;
  readonly id?: string | undefined;
  readonly parentId?: string | undefined;
  readonly createdFrom?: string | undefined;
  readonly createdTo?: string | undefined;
  /** Minor units, both included. */
  readonly amountFrom?: number | undefined;
  readonly amountTo?: number | undefined;
  /** Fields of the resource that are not columns, by name, with the values allowed. */
  readonly others?: Readonly<Record<string, readonly string[]>> | undefined;
}

export type ListOrder = 'created' | 'modified' | 'created_unstable' | 'modified_unstable';

export interface ListPage extends Page {
  readonly order: ListOrder;
  /** Changes the order of rows with the same time, where it is unstable. */
  readonly salt: string;
  /** ISO 8601: shows the state of that time. */
  readonly asOf?: string | undefined;
}
