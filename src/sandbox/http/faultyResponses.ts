/** Applies faults to requests and their responses. */
import type { Request, Response } from 'express';
import { ERROR_CODES, FAMILY_ERROR_CODES, RATE_LIMIT_HEADERS } from '../../contract/index.ts';
import type { RequestFault } from '../faults/settings.ts';
import { sendRejection, sendServiceError } from './respond.ts';

/** @returns true when the fault ended the request before it had an effect */
export function failRequest(fault: RequestFault, request: Request, response: Response): boolean {
  switch (fault.fault) {
    case 'rate_limit':
      response.set(RATE_LIMIT_HEADERS.remaining, '0');
      sendRejection(response, { status: 429, code: 'RL_01', message: 'Rate limit exceeded.' });
      return true;
    case 'retry_after':
      for (const header of Object.values(RATE_LIMIT_HEADERS)) response.removeHeader(header);
      response.set('Retry-After', String(Math.ceil(fault.hold_ms / 1000)));
      sendRejection(response, { status: 429, code: 'RL_01', message: 'Rate limit exceeded.' });
      return true;
    case 'server_error':
      sendServiceError(response, fault.status, 'Requested fault.');
      return true;
    case 'forbidden':
      sendRejection(response, {
        status: 403,
        code: 'IR_22',
        message: `${FAMILY_ERROR_CODES.IR_22.meaning}: requested fault.`,
      });
      return true;
    case 'processing_error':
      sendRejection(response, {
        status: 422,
        code: fault.code,
        message: `${ERROR_CODES[fault.code].meaning}: requested fault.`,
      });
      return true;
    case 'cut_before':
      request.socket.destroy();
      return true;
    case 'garbage':
      response.status(200).type('html').send('<!doctype html><title>Maintenance</title>');
      return true;
    case 'redirect':
      response.redirect(307, `/elsewhere${request.path}`);
      return true;
    case 'unknown_code': {
      const error = {
        type: 'invalid_request',
        code: 'ZZ_99',
        message: 'This code is not documented.',
      };
      response.status(400).json({ error });
      return true;
    }
    default:
      return false;
  }
}

/** Sends the response, or withholds or changes it as the fault requires. */
export function sendWithFault(
  fault: RequestFault | undefined,
  request: Request,
  response: Response,
  body: object | undefined,
): void {
  switch (fault?.fault) {
    case 'cut_after':
      request.socket.destroy();
      return;
    case 'timeout_after':
      hold(request, fault.hold_ms, () => request.socket.destroy());
      return;
    case 'slow':
      hold(request, fault.hold_ms, () => response.json(body));
      return;
    case 'extra_fields':
      response.json(withFields(body, { sandbox_extra: { nested: [1, 'two'] } }));
      return;
    case 'empty_body':
      response.end();
      return;
    case 'missing_fields':
      response.json(withoutFields(body, new Set(fault.fields)));
      return;
    case 'mixed_up':
      response.json(withOtherIds(body));
      return;
    default:
      response.json(body);
  }
}

/** Sends no response until `holdMs` have passed. */
function hold(request: Request, holdMs: number, then: () => void): void {
  const timer = setTimeout(then, holdMs);
  // The timer must not keep a stopping sandbox alive.
  timer.unref();
  request.socket.once('close', () => clearTimeout(timer));
}

/** An array has no fields, so lists in that envelope stay as they are. */
function isWithoutFields(body: object | undefined): body is undefined {
  return body === undefined || Array.isArray(body);
}

function withFields(body: object | undefined, fields: object): object | undefined {
  return isWithoutFields(body) ? body : { ...body, ...fields };
}

function withOtherIds(body: object | undefined): object | undefined {
  if (isWithoutFields(body)) return body;
  const isId = ([name, value]: [string, unknown]): boolean =>
    name.endsWith('_id') && typeof value === 'string';
  const other = Object.entries(body).map((field) =>
    isId(field) ? [field[0], `${field[1]}_other`] : field,
  );
  return Object.fromEntries(other);
}

function withoutFields(body: object | undefined, names: ReadonlySet<string>): object | undefined {
  if (isWithoutFields(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.has(name)));
}
