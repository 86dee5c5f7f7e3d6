/** Parses a multipart form with the parser that Node has for `Response`. */
import type { Request } from 'express';
import { type Decision, rejectValue } from '../domain/decision.ts';
import { isStorable } from './json.ts';

/** Text and files by the names of their parts; a repeated name becomes an array, which schemas reject. */
export async function readMultipart(request: Request): Promise<Decision<unknown>> {
  const type = request.header('content-type') ?? '';
  if (!Buffer.isBuffer(request.body)) return rejectValue('request: expected multipart/form-data');
  let form: FormData;
  try {
    const body = new Uint8Array(request.body);
    form = await new Response(body, { headers: { 'content-type': type } }).formData();
  } catch {
    return rejectValue('request: not a valid multipart form');
  }
  const parts: Record<string, unknown> = {};
  for (const name of new Set(form.keys())) {
    const sent = form.getAll(name);
    const texts = sent.map((part) => (typeof part === 'string' ? part : part.name));
    if (![name, ...texts].every(isStorable)) {
      return rejectValue('request: contains text with a NUL or an unpaired surrogate');
    }
    Object.defineProperty(parts, name, {
      value: sent.length === 1 ? sent[0] : sent,
      enumerable: true,
    });
  }
  return { value: parts };
}
