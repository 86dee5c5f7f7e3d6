/** The forms of pages: read, and known to come from a page of the same session. */
import express, { type Request, type RequestHandler } from 'express';
import type { Session } from '../../access/sessions.ts';
import type { Failure } from './problem.tsx';

/** Evidence of a dispute is the longest text. */
const MAX_FORM_BYTES = 256 * 1024;
/** Of the fields beside a file. */
const MAX_FIELD_BYTES = 64 * 1024;

/** Reads the text of a form, as its browser sent it. */
export const receiveForm: RequestHandler = express.text({
  type: 'application/x-www-form-urlencoded',
  limit: MAX_FORM_BYTES,
  inflate: false,
});

/** Reads a form with a file. */
export function receiveFile(maxFileBytes: number): RequestHandler {
  const limit = maxFileBytes + MAX_FIELD_BYTES;
  return express.raw({ type: 'multipart/form-data', limit, inflate: false });
}

export const FOREIGN_FORM: Failure = {
  outcome: 'forbidden',
  message:
    'The form was not sent from a page of this session, or the session has changed since. Nothing was ' +
    'changed. Go back, reload the page, and try again.',
};

/** Whether a form has no file: its text was read, and can be shown again. */
export function isTextForm({ body }: Request): boolean {
  return typeof body === 'string';
}

/** The fields of a form of this session; undefined if it was not sent from one of its pages. */
export async function readForm(request: Request, session: Session): Promise<Fields | undefined> {
  const sent = Buffer.isBuffer(request.body)
    ? await readMultipart(request.header('content-type') ?? '', request.body)
    : new URLSearchParams(typeof request.body === 'string' ? request.body : '');
  if (sent?.get('form_token') !== session.formToken) return undefined;
  sent.delete('form_token');
  return readFields(sent);
}

async function readMultipart(type: string, body: Buffer): Promise<FormData | undefined> {
  const parsed = new Response(new Uint8Array(body), { headers: { 'content-type': type } });
  return await parsed.formData().catch(() => undefined);
}

type Value = string | File;
type Fields = Readonly<Record<string, Value | readonly Value[]>>;

/**
 * Empty fields count as absent; a name that was sent more than once has all its values. Browsers send each line
 * break as two characters, also where the text that they were given has one.
 */
export function readFields(sent: URLSearchParams | FormData): Fields {
  const names = new Set(sent.keys());
  const fields = [...names].map((name) => [
    name,
    sent
      .getAll(name)
      .filter((one) => one !== '')
      .map((one) => (typeof one === 'string' ? one.replaceAll('\r\n', '\n') : one)),
  ]);
  return Object.fromEntries(
    fields
      .filter(([, values]) => values !== undefined && values.length > 0)
      .map(([name, values]) => [name, values?.length === 1 ? values[0] : values]),
  );
}
