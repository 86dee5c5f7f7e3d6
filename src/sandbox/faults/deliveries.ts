/** Plans the deliveries of one event under the active faults: how many, when, and with which body. */
import type { SeededRandom } from './seededRandom.ts';
import type { WebhookFaults } from './settings.ts';

/** Why an event is delivered. */
export type DeliveryReason =
  | 'first'
  | 'retry'
  | 'duplicate'
  | 'late_copy'
  | 'changed_copy'
  | 'manual';

export interface PlannedDelivery {
  readonly reason: DeliveryReason;
  /** After the event's time. */
  readonly delayMs: number;
  readonly corrupts?: 'signature' | 'body' | undefined;
}

/**
 * Plans the deliveries of one event. An empty plan is a lost event.
 * @param subject names the event the same way in every run, so not by its random id
 */
export function planDeliveries(
  faults: WebhookFaults,
  random: SeededRandom,
  subject: string,
): readonly PlannedDelivery[] {
  const happens = (fault: string, share: number): boolean => random(fault, subject) < share;
  if (happens('drop', faults.drop)) return [];
  let delayMs = 0;
  if (happens('delay', faults.delay)) {
    delayMs = Math.ceil(random('delay_ms', subject) * faults.delay_ms);
  }
  if (happens('reorder', faults.reorder)) delayMs += faults.reorder_ms;
  const isCorrupt = happens('corrupt_signature', faults.corrupt_signature);
  const plan: PlannedDelivery[] = [
    { reason: 'first', delayMs, corrupts: isCorrupt ? 'signature' : undefined },
  ];
  if (happens('duplicate', faults.duplicate)) plan.push({ reason: 'duplicate', delayMs });
  if (happens('changed_copy', faults.changed_copy)) {
    plan.push({ reason: 'changed_copy', delayMs, corrupts: 'body' });
  }
  if (happens('late_copy', faults.late_copy)) {
    plan.push({ reason: 'late_copy', delayMs: delayMs + faults.late_copy_ms });
  }
  return plan;
}
