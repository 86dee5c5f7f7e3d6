/** The published description of what Tallyhook sends: the reference, the JSON Schemas and OpenAPI. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildAdminOpenApi } from '../../../scripts/openapi/admin.ts';
import { exampleOf } from '../../../scripts/reference/webhookExamples.ts';
import { buildWebhookSchema, writeWebhooks } from '../../../scripts/writeWebhooks.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';
import { ORDER_STATUSES, REGISTERED } from '../../../src/webhooks/orderStatuses.ts';
import { WEBHOOKS, type WebhookType, webhookSchema } from '../../../src/webhooks/webhooks.ts';

const TYPES = Object.keys(WEBHOOKS) as readonly WebhookType[];
const read = (file: string) => readFileSync(join(packageRoot(), 'docs', file), 'utf8');

test('the documents are current; `npm run generate` writes them', () => {
  expect(read('reference/webhooks.md')).toBe(writeWebhooks());
  expect(read('webhooks.schema.json')).toBe(`${JSON.stringify(buildWebhookSchema(), null, 2)}\n`);
});

test('each status of an order has its published name and precedence, and a type; nothing else has', () => {
  expect([...ORDER_STATUSES, REGISTERED].join(' ')).toBe(
    'charged_back disputed refunded partially_refunded paid partially_captured authorized pending ' +
      'expired cancelled failed moved registered',
  );
  expect(TYPES.filter((type) => type.startsWith('order.')).toSorted()).toEqual(
    [...ORDER_STATUSES, 'updated'].map((status) => `order.${status}`).toSorted(),
  );
});

test.each(TYPES)('the example of %s has the fields of its schema', (type) => {
  expect(webhookSchema(type).safeParse(exampleOf(type)).error?.issues ?? []).toEqual([]);
});

test('OpenAPI and the JSON Schemas name every type', () => {
  const { webhooks } = buildAdminOpenApi() as { readonly webhooks: object };
  expect(Object.keys(webhooks)).toEqual(TYPES);
  const { $defs } = buildWebhookSchema() as { readonly $defs: object };
  expect(Object.keys($defs)).toEqual(expect.arrayContaining([...TYPES]));
});
