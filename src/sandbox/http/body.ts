/** Takes a body in, as far as that goes without knowing what is in it. */
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Rejection } from '../domain/decision.ts';

const MAX_BODY = '1mb';
const MAX_UPLOAD = '5mb';

/** Any content type: what is no JSON is refused as such, in the contract's words. */
export const textParser: RequestHandler = express.text({
  type: () => true,
  limit: MAX_BODY,
  defaultCharset: 'utf-8',
});

/** The bytes of a form with parts; nothing of any other body. */
export const formParser: RequestHandler = express.raw({
  type: 'multipart/form-data',
  limit: MAX_UPLOAD,
});

/** @throws Error of the body parser, which bodyRejectionOf knows */
export function runParser(
  parser: RequestHandler,
  request: Request,
  response: Response,
): Promise<void> {
  return new Promise((resolve, reject) => {
    parser(request, response, (error?: unknown) => (error ? reject(error) : resolve()));
  });
}

/** Errors of the body parser by their `type`, which it documents. */
const BODY_ERRORS: Readonly<Record<string, string>> = {
  'entity.too.large': `request: larger than ${MAX_BODY}, or ${MAX_UPLOAD} with a file`,
  'encoding.unsupported': 'request: an encoding that is not supported',
  'charset.unsupported': 'request: a charset that is not supported',
  'request.size.invalid': 'request: not as long as it says',
  'parameters.too.many': 'request: more fields than any form has',
  'request.aborted': 'request: not sent to its end',
};

/** What is wrong with a body that could not be taken in; undefined for errors of other kinds. */
export function bodyRejectionOf(error: unknown): Rejection | undefined {
  const type = error instanceof Error && 'type' in error ? String(error.type) : '';
  const message = BODY_ERRORS[type];
  return message === undefined ? undefined : { status: 400, code: 'IR_04', message };
}
