/** The tables of docs/service-interface.md that are generated from src/contract. */
import { z } from 'zod';
import * as contract from '../../src/contract/index.ts';
import { API_KEY_FAMILY_FIELDS } from '../../src/contract/resources/apiKey.ts';
import { CUSTOMER_FAMILY_FIELDS } from '../../src/contract/resources/customer.ts';
import { PAYMENT_FAMILY_FIELDS } from '../../src/contract/resources/payment.ts';
import { PAYOUT_FAMILY_FIELDS } from '../../src/contract/resources/payout.ts';
import { REFUND_FAMILY_FIELDS } from '../../src/contract/resources/refund.ts';
import { type Field, fieldsOf } from '../reference/fields.ts';
import { table } from '../reference/markdown.ts';

const code = (text: string | number): string => `\`${text}\``;

/** A request's own fields; objects are described once, in a table of their own. */
function request(schema: z.ZodType): string {
  return requestTable(fieldsOf(schema, 'input').filter(({ path }) => !/[.[]/.test(path)));
}

/** Every field of an object that requests contain, nested ones included. */
function requestObject(schema: z.ZodType, prefix: string): string {
  const fields = fieldsOf(schema, 'input');
  return requestTable(fields.map((field) => ({ ...field, path: `${prefix}${field.path}` })));
}

function requestTable(fields: readonly Field[]): string {
  return table(
    ['field', 'type', 'required'],
    fields.map(({ path, type, required }) => [code(path), type, required ? 'yes' : '']),
  );
}

/** The fields of a response, without those that only the family sends. */
function response(schema: z.ZodType, familyFields: object = {}): string {
  const fields = fieldsOf(schema, 'output').filter(
    ({ path }) => !Object.hasOwn(familyFields, path.split(/[.[]/)[0] ?? ''),
  );
  return table(
    ['field', 'type'],
    fields.map(({ path, type }) => [code(path), type]),
  );
}

function endpoints(): string {
  const rows = Object.values(contract.ENDPOINTS).map(({ method, path, summary }) => [
    method,
    code(path),
    summary,
  ]);
  return table(['method', 'path', ''], rows);
}

function evidence(): string {
  const files = new Set<string>(contract.EVIDENCE_FILE_FIELDS);
  const rows = Object.entries(contract.EVIDENCE_GROUPS).flatMap(([group, fields]) =>
    fields.map((field) => [code(field), files.has(field) ? 'file' : 'text', code(group)]),
  );
  return table(['field', 'type', 'group'], rows);
}

function bankTransfer(): string {
  const rows = contract.bankTransferRequest.options.map((option) => {
    const type = option.shape.payout_method_type.value;
    const fields = fieldsOf(option, 'input').filter(({ path }) => path !== 'payout_method_type');
    const named = (required: boolean) =>
      fields.filter((field) => field.required === required).map(({ path }) => code(path));
    return [code(type), named(true).join(', '), named(false).join(', ')];
  });
  return table(['type', 'required', 'optional'], rows);
}

function payoutMethodData(): string {
  const fields = fieldsOf(contract.payoutMethodDataRequest, 'input');
  // The fields of a bank transfer depend on its type and have a table of their own.
  return requestTable(
    fields.map((field) =>
      field.path === 'bank_transfer'
        ? { ...field, type: 'object, by its payout_method_type' }
        : field,
    ),
  );
}

function keyKinds(): string {
  const { admin, ...prefixes } = contract.API_KEY_PREFIXES;
  const rows = Object.entries(prefixes).map(([kind, prefix]) => [
    code(prefix),
    kind.startsWith('sandbox') ? 'sandbox' : 'production',
    kind.endsWith('Secret') ? 'secret: on the server' : 'publishable: in the browser',
  ]);
  return table(['prefix', 'environment', 'kind'], rows);
}

function limits(): string {
  const { min, max, default: size } = contract.PAGE_SIZE;
  const { maxPairs, maxKeyLength, maxValueLength } = contract.METADATA_LIMITS;
  const days = contract.MANUAL_AUTHORIZATION_VALIDITY_MS / (24 * 60 * 60 * 1000);
  return table(
    ['limit', 'value'],
    [
      ['`limit` of a list', `${min} to ${max}, default ${size}`],
      ['`offset` of a list', `from 0, default ${contract.DEFAULT_OFFSET}`],
      [
        'payment id',
        `1 to ${contract.PAYMENT_ID_MAX_LENGTH} letters, digits, ${code('_')} or ${code('-')}`,
      ],
      ['customer id', `at most ${contract.CUSTOMER_ID_MAX_LENGTH} characters`],
      [
        'merchant order reference of a payout',
        `at most ${contract.MERCHANT_ORDER_REFERENCE_ID_MAX_LENGTH} characters`,
      ],
      [
        'metadata of customers and payouts',
        `${maxPairs} pairs, keys of ${maxKeyLength} and values of ${maxValueLength} characters`,
      ],
      [
        'prefix and suffix of a statement descriptor',
        `${contract.STATEMENT_DESCRIPTOR_MAX_LENGTH} characters together`,
      ],
      ['validity of a manual authorization', `${days} days`],
    ],
  );
}

/** A table by the name that the document's markers use. */
export const TABLES: Readonly<Record<string, () => string>> = {
  payment: () => response(contract.paymentSchema, PAYMENT_FAMILY_FIELDS),
  billing: () => requestObject(contract.billingRequest, 'billing.'),
  browser_info: () => requestObject(contract.browserInfoRequest, 'browser_info.'),
  payment_method_data: () =>
    requestObject(contract.paymentMethodDataRequest, 'payment_method_data.'),
  order_details: () => requestObject(contract.orderDetailRequest, 'order_details.0.'),
  customer: () => response(contract.customerSchema, CUSTOMER_FAMILY_FIELDS),
  refund: () => response(contract.refundSchema, REFUND_FAMILY_FIELDS),
  // The form of `billing` is with the other nested objects.
  payout: () =>
    response(contract.payoutSchema.extend({ billing: z.looseObject({}) }), PAYOUT_FAMILY_FIELDS),
  api_key: () => response(contract.createdApiKeySchema, API_KEY_FAMILY_FIELDS),
  endpoints,
  createApiKey: () => request(contract.createApiKeyRequest),
  createPayment: () => request(contract.createPaymentRequest),
  updatePayment: () => request(contract.updatePaymentRequest),
  confirmPayment: () => request(contract.confirmPaymentRequest),
  listPayments: () => request(contract.listPaymentsRequest),
  capturePayment: () => request(contract.capturePaymentRequest),
  'capturePayment.response': () => response(contract.ENDPOINTS.capturePayment.response),
  'cancelPayment.response': () => response(contract.ENDPOINTS.cancelPayment.response),
  'approvePayment.response': () => response(contract.ENDPOINTS.approvePayment.response),
  createCustomer: () => request(contract.createCustomerRequest),
  'createCustomer.response': () => response(contract.ENDPOINTS.createCustomer.response),
  createRefund: () => request(contract.createRefundRequest),
  updateRefund: () => request(contract.updateRefundRequest),
  evidence,
  createPaymentLink: () => requestObject(contract.createPaymentLinkRequest, ''),
  createPayout: () => request(contract.createPayoutRequest),
  payout_method_data: payoutMethodData,
  bank_transfer: bankTransfer,
  refundMetrics: () => requestObject(contract.refundMetricsRequest.element, ''),
  key_kinds: keyKinds,
  http_statuses: () =>
    table(
      ['status', 'meaning'],
      Object.entries(contract.HTTP_STATUSES).map(([status, meaning]) => [status, meaning]),
    ),
  error_types: () =>
    table(
      ['type'],
      contract.ERROR_TYPES.map((type) => [code(type)]),
    ),
  error_codes: () =>
    table(
      ['code', 'type', 'meaning'],
      Object.entries(contract.ERROR_CODES).map(([name, { type, meaning }]) => [
        code(name),
        type === undefined ? '' : code(type),
        meaning,
      ]),
    ),
  decline_families: () =>
    table(
      ['family', 'meaning', 'retry'],
      Object.entries(contract.DECLINE_FAMILIES).map(([name, { meaning, retry }]) => [
        code(name),
        meaning,
        contract.RETRY_ADVICE[retry],
      ]),
    ),
  decline_codes: () =>
    table(
      ['code', 'message'],
      Object.entries(contract.DECLINE_CODES).map(([name, { message }]) => [code(name), message]),
    ),
  legacy_decline_codes: () =>
    table(
      ['code', 'meaning'],
      Object.entries(contract.LEGACY_DECLINE_CODES).map(([name, { meaning }]) => [
        code(name),
        meaning,
      ]),
    ),
  limits,
};
