/** Reads raw bodies. */
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Rejection } from '../domain/decision.ts';

const MAX_BODY = '1mb';
const MAX_UPLOAD = '5mb';

/** Accepts any content type; a body that is not JSON is rejected later with the contract's error. */
export const textParser: RequestHandler = express.text({
  type: () => true,
  limit: MAX_BODY,
  defaultCharset: 'utf-8',
});

/** The bytes of a multipart form; nothing of any other body. */
export const formParser: RequestHandler = express.raw({
  type: 'multipart/form-data',
  limit: MAX_UPLOAD,
});

/** @throws Error of the body parser, which bodyRejectionOf translates */
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
  'request.size.invalid': 'request: length differs from Content-Length',
  'parameters.too.many': 'request: too many form fields',
  'request.aborted': 'request: aborted before its end',
};

/** The rejection for an error of the body parser; undefined for other errors. */
export function bodyRejectionOf(error: unknown): Rejection | undefined {
  const type = error instanceof Error && 'type' in error ? String(error.type) : '';
  const message = BODY_ERRORS[type];
  return message === undefined ? undefined : { status: 400, code: 'IR_04', message };
}
