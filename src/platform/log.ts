/**
 * Structured logs. An event name first, then identifiers; never a body, a secret or a header.
 * Redaction is a second line of defence for objects that carry more than was meant.
 */
import pino, { type Logger } from 'pino';
import { toError } from './errors.ts';

export type Log = Logger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const REDACTED = [
  'authorization',
  'api_key',
  'apiKey',
  'client_secret',
  'password',
  'secret',
  'secrets',
  'token',
].flatMap((key) => [key, `*.${key}`]);

/** Creates the root log, which writes JSON lines to standard output. */
export function createLog(level: LogLevel): Log {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: REDACTED, censor: '[redacted]' },
    serializers: { error: describeError },
  });
}

/** An error without what drivers attach to it: some carry the statement's parameters or a client. */
function describeError(thrown: unknown): object {
  const error = toError(thrown);
  const code = 'code' in error ? { code: error.code } : {};
  return { type: error.name, message: error.message, ...code, stack: error.stack };
}
