/**
 * Structured logs: an event name, then identifiers, and never a body, a secret or a header.
 * Redaction is a second line of defense for objects with more fields than intended.
 */
import pino, { type Logger, type LoggerOptions } from 'pino';
import { toError } from './errors.ts';
import { createOutageLines } from './outageLines.ts';

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

/**
 * Creates the root log, which writes JSON lines to standard output. While a server is unreachable, it
 * writes one line a minute about the outage (outageLines.ts).
 * @param to receives the lines; `stderr` for programs with another output of their own
 */
export function createLog(level: LogLevel, to?: 'stderr' | ((line: string) => void)): Log {
  let isReport = false;
  const outages = createOutageLines((unlogged) => {
    isReport = true;
    log.warn(unlogged, 'outage.continues');
    isReport = false;
  });
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: REDACTED, censor: '[redacted]' },
    serializers: { error: describeError },
    hooks: {
      logMethod(args, method) {
        const [facts, event]: readonly unknown[] = args;
        if (isReport || !outages.isCounted(facts, event)) method.apply(this, args);
      },
    },
  };
  const log = open(options, to);
  return log;
}

function open(options: LoggerOptions, to: Parameters<typeof createLog>[1]): Log {
  if (to === undefined) return pino(options);
  if (to === 'stderr') return pino(options, pino.destination({ fd: 2, sync: true }));
  return pino(options, { write: to });
}

/** An error without the fields that drivers attach, such as the statement's parameters or a client. */
function describeError(thrown: unknown): object {
  const error = toError(thrown);
  const code = 'code' in error ? { code: error.code } : {};
  return { type: error.name, message: error.message, ...code, stack: error.stack };
}
