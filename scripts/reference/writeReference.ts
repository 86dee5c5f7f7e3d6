/**
 * Builds the client reference in Markdown from the docstrings and the table of endpoints.
 * `npm run generate` writes it to docs/client-reference.md.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { COMMON_ERRORS } from '../../src/contract/endpoints/index.ts';
import * as contract from '../../src/contract/index.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { type Context, declarationOf, describeCalls } from './calls.ts';
import { type Field, fieldsOf } from './fields.ts';
import { prose, table, tagged } from './markdown.ts';
import { probeAdminClient, probeClient } from './probeClient.ts';
import { type Declaration, type Member, readExports } from './readSources.ts';
import { createTypeWriter } from './typeWriter.ts';

/** Builds the reference. @throws Error for a public name without a docstring */
export async function writeReference(): Promise<string> {
  const declarations = readExports(join(packageRoot(), 'src/client/index.ts'));
  refuseUndocumented([...declarations.values()]);
  const write = createTypeWriter(new Set(declarations.keys()));
  const context: Context = { declarations, write };
  return [
    INTRODUCTION,
    '## Creating a client',
    ...MAKING.map((name) => describe(context, name)),
    '## Calls',
    BEFORE_CALLS,
    ...describeCalls(context, 'PaymentServiceClient', await probeClient()),
    '## Calls of the administrative client',
    ...describeCalls(context, 'AdminClient', await probeAdminClient()),
    '## Errors',
    ...['PaymentServiceError', 'ClientErrorKind', 'RequestProblem'].map((name) =>
      describe(context, name),
    ),
    '### Errors of every call',
    table(
      ['HTTP', 'code', 'when'],
      COMMON_ERRORS.map(({ status, code, when }) => [String(status), `\`${code}\``, when]),
    ),
    '## Declines',
    ...['declineAdvice', 'DeclineAdvice', 'RetryAdvice', 'DeclineFamily'].map((name) =>
      describe(context, name),
    ),
    ...declineTables(),
    '## Webhooks of Tallyhook',
    ...WEBHOOK_NAMES.map((name) => describe(context, name)),
    '## Time, rate and lists',
    ...OTHERS.map((name) => describe(context, name)),
    '## Requests',
    BEFORE_REQUESTS,
    ...schemasOf(context, /(Request|Query)$/).map((name) => describe(context, name)),
    '## Responses',
    BEFORE_RESPONSES,
    ...['CreatedPayment', 'CreatedRefund'].map((name) => describe(context, name)),
    ...schemasOf(context, /(?<!Request|Query)$/).map((name) => describe(context, name)),
    '',
  ].join('\n\n');
}

const INTRODUCTION = `# Reference of the client

<!-- Written by \`npm run generate\` from the docstrings and the table of endpoints. -->

Everything that \`@tallyhook/client\` exports. The guides [Use the client](guides/client.md) and [Integrate a shop](guides/shop-integration.md) show how to work with it. Section numbers refer to [service-interface.md](service-interface.md). \`@tallyhook/client/admin-api\` is another entry point: [Use the admin API](guides/admin-api.md).`;

const BEFORE_CALLS = `Every call takes [CallOptions](#calloptions) as its last parameter, and rejects with a [PaymentServiceError](#paymentserviceerror) and nothing else. A request that was certainly not executed, after a 429 or without a connection, is retried for every call, as the [RetryPolicy](#retrypolicy) allows. The table of a call has its retries after a lost response. Besides its own errors, every call can fail with the [errors of every call](#errors-of-every-call).`;

const BEFORE_REQUESTS =
  'Fields have the names of the contract. A field that is not listed is rejected before the request is sent. Amounts are integers in minor units.';

const BEFORE_RESPONSES =
  "Every field but a resource's own id may be missing or null. Fields that are not listed are kept. Amounts are integers in minor units, times are ISO 8601.";

const MAKING = [
  'createClient',
  'PaymentServiceClient',
  'createAdminClient',
  'AdminClient',
  'ClientOptions',
  'CallOptions',
  'CaptureOptions',
];

const WEBHOOK_NAMES = [
  'verifyTallyhookWebhook',
  'WebhookRequest',
  'WebhookHeaders',
  'VerifyOptions',
  'VerifiedWebhook',
  'WebhookVerificationError',
  'WebhookRefusal',
  'TallyhookWebhook',
  'OrderWebhook',
  'isOrderWebhook',
  'WebhookOf',
  'WebhookData',
  'WebhookType',
];

const OTHERS = [
  'RetryPolicy',
  'DEFAULT_RETRY_POLICY',
  'LANES',
  'Lane',
  'RateBudget',
  'createLocalBudget',
  'Admission',
  'RateReading',
  'ResponseMetadata',
  'ClientTime',
  'Clock',
  'Page',
];

/** @throws Error that names every public name, and every call, without a docstring */
export function refuseUndocumented(declarations: readonly Declaration[]): void {
  const calls = declarations.filter(({ name }) => name.endsWith('Calls'));
  const missing = [
    ...declarations.filter(({ docstring }) => docstring === '').map(({ name }) => name),
    ...calls.flatMap(({ name, members }) =>
      members.filter(({ docstring }) => docstring === '').map((call) => `${name}.${call.name}`),
    ),
  ];
  if (missing.length > 0) throw new Error(`without a docstring: ${missing.join(', ')}`);
}

function schemasOf({ declarations }: Context, pattern: RegExp): readonly string[] {
  return [...declarations.values()]
    .filter(({ name, schema }) => schema !== undefined && pattern.test(name))
    .map(({ name }) => name);
}

/** One exported name: its heading, its docstring, and its fields or its source. */
function describe(context: Context, name: string): string {
  const declaration = declarationOf(context, name);
  const { kind, docstring, members, schema, base } = declaration;
  const parts = [`### ${name}`, prose(docstring)];
  if (schema !== undefined) parts.push(schemaTable(schema, /(Request|Query)$/.test(name)));
  else if (members.length > 0) {
    if (base !== undefined) parts.push(`All fields of ${context.write(base)}.`);
    parts.push(memberTable(context, members));
  } else {
    if (kind === 'function') context.write(declaration.text.replace(/^export function \w+/, ''));
    parts.push(...tagged(docstring, 'throws').map((what) => `Throws ${what}`));
    parts.push(`\`\`\`ts\n${declaration.text.replace(/^export /, '')}\n\`\`\``);
  }
  return parts.join('\n\n');
}

function memberTable({ write }: Context, members: readonly Member[]): string {
  return table(
    ['field', 'type', ''],
    members.map(({ name, type, optional, docstring }) => [
      `\`${name}\`${optional ? ', optional' : ''}`,
      write(type),
      prose(docstring).replaceAll('\n', ' '),
    ]),
  );
}

function schemaTable(name: string, isRequest: boolean): string {
  const schema: unknown = Object.entries(contract).find(([exported]) => exported === name)?.[1];
  if (!(schema instanceof z.ZodType)) throw new Error(`${name} is not a schema of the contract`);
  const fields = fieldsOf(schema, isRequest ? 'input' : 'output');
  const row = ({ path, type, required }: Field) => [`\`${path}\``, type, required ? 'yes' : ''];
  return isRequest
    ? table(['field', 'type', 'required'], fields.map(row))
    : table(
        ['field', 'type'],
        fields.map((field) => row(field).slice(0, 2)),
      );
}

/** Every code with the advice of declineAdvice. */
function declineTables(): readonly string[] {
  const { RETRY_ADVICE, DECLINE_FAMILIES, DECLINE_CODES, LEGACY_DECLINE_CODES } = contract;
  const codes = [...Object.keys(DECLINE_CODES), ...Object.keys(LEGACY_DECLINE_CODES)];
  return [
    '### Retry advice',
    table(
      ['retry', 'what to do'],
      Object.entries(RETRY_ADVICE).map(([name, text]) => [`\`${name}\``, text]),
    ),
    table(
      ['family', 'meaning', 'retry'],
      Object.entries(DECLINE_FAMILIES).map(([name, { meaning, retry }]) => [
        `\`${name}\``,
        meaning,
        `\`${retry}\``,
      ]),
    ),
    table(
      ['unified_code', 'retry', 'another method', 'message for the customer'],
      codes.map((code) => {
        const { retry, mayUseAnotherMethod, customerMessage } = contract.declineAdvice(code);
        return [
          `\`${code}\``,
          `\`${retry}\``,
          mayUseAnotherMethod ? 'yes' : 'no',
          customerMessage ?? "the payment's `unified_message`",
        ];
      }),
    ),
  ];
}
