/** Reads what a receiver got as a shop does: with the client's helper, and the schema of its type. */
import { verifyTallyhookWebhook } from '../../src/webhooks/verify.ts';
import { type TallyhookWebhook, webhookSchema } from '../../src/webhooks/webhooks.ts';
import { type ReceivedPost, SIGNING_SECRET } from './receivers.ts';

/** @throws Error if it is not signed, or has a field that its type does not have */
export function readReceived({ body, headers }: ReceivedPost): TallyhookWebhook {
  // By the time of the attempt: tests move the clock between it and the reading.
  const nowMs = Number(headers['webhook-timestamp']) * 1000;
  const { webhook } = verifyTallyhookWebhook({ body, headers }, { secret: SIGNING_SECRET, nowMs });
  webhookSchema(webhook.type).parse(webhook);
  return webhook;
}
