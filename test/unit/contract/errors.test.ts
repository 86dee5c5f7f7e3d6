import { describe, expect, it } from 'vitest';
import {
  ERROR_CODES,
  ERROR_TYPES,
  errorEnvelope,
  errorEnvelopeSchema,
  HTTP_STATUSES,
} from '../../../src/contract/errors.ts';

describe('the error envelope', () => {
  it('built for sending is read back unchanged', () => {
    const sent = errorEnvelope('authentication_error', 'AU_01', 'The key is not valid.');
    expect(sent).toEqual({
      error: { type: 'authentication_error', code: 'AU_01', message: 'The key is not valid.' },
    });
    expect(errorEnvelopeSchema.parse(sent)).toEqual(sent);
  });

  it('passes unknown types, codes and extra keys through', () => {
    const body = {
      error: {
        type: 'connector',
        code: 'WE_05',
        message: 'No such thing',
        reason: 'pay_1 already exists',
        fields: ['amount'],
      },
      request_id: 'req_1',
    };
    expect(errorEnvelopeSchema.parse(body)).toEqual(body);
  });

  it.each([
    ['no error', {}],
    ['an error of text', { error: 'bad gateway' }],
    ['an error without a code', { error: { type: 'api_error', message: 'm' } }],
    ['a code that is no text', { error: { type: 'api_error', code: 500, message: 'm' } }],
  ])('is not seen in a body with %s', (_, body) => {
    expect(errorEnvelopeSchema.safeParse(body).success).toBe(false);
  });
});

describe('the error tables', () => {
  it('list every type of the contract', () => {
    expect([...ERROR_TYPES].sort()).toEqual([
      'api_error',
      'authentication_error',
      'connector_error',
      'invalid_request',
      'processing_error',
      'rate_limit_error',
    ]);
  });

  it('give every code of the contract its type, and none where that is left open', () => {
    const types = Object.fromEntries(
      Object.entries(ERROR_CODES).map(([code, { type }]) => [code, type ?? null]),
    );
    expect(types).toEqual({
      AU_01: 'authentication_error',
      AU_02: 'authentication_error',
      IR_01: 'invalid_request',
      IR_04: 'invalid_request',
      IR_05: 'invalid_request',
      PE_01: 'processing_error',
      PE_02: 'processing_error',
      PE_03: 'processing_error',
      CE_01: 'connector_error',
      RL_01: 'rate_limit_error',
      HE_01: null,
      HE_00: null,
    });
  });

  it('list every HTTP status of the contract', () => {
    expect(Object.keys(HTTP_STATUSES).map(Number)).toEqual([
      200, 201, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503,
    ]);
  });
});
