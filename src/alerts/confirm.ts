import type { ResourceKind } from '../contract/resources/index.ts';

/**
 * Retrieves resources from the service and applies the responses, before people are alerted about them.
 * @returns the subjects of those that were retrieved, such as `dispute:dp_1`; undefined if the process is shutting down
 */
export type Confirm = (
  refs: readonly { readonly kind: ResourceKind; readonly id: string }[],
) => Promise<ReadonlySet<string> | undefined>;
