/** The order that a finding or an alert is about. */
import type { Queryable } from '../../platform/db/database.ts';
import { findResources } from './store/lookup.ts';

/**
 * The key of the order that a subject is, or belongs to.
 * @param subject as findings and alerts name it, such as `payment:pay_1`
 * @returns null for a subject without an order, such as an event or a channel
 */
export async function orderKeyOfSubject(db: Queryable, subject: string): Promise<string | null> {
  const separator = subject.indexOf(':');
  const [kind, id] = [subject.slice(0, separator), subject.slice(separator + 1)];
  if (kind === 'order') return id;
  const resources = await findResources(db, id);
  return resources.find((resource) => resource.kind === kind)?.orderKey ?? null;
}
