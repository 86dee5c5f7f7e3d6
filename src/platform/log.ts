/**
 * Structured logs: an event name, then identifiers, and never a body, a secret or a header.
 * Redaction is a second line of defense for objects with more fields than intended. A line is safe to read in
 * a terminal, regardless of its texts.
 */
import pino, { type Logger, type LoggerOptions } from 'pino';
import { errorCode, toError } from './errors.ts';
import { createOutageLines } from './outageLines.ts';
import { printableJson } from './printableJson.ts';
import { atMost } from './sleep.ts';

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
 * @param to receives the lines: a function, a file descriptor, or `stderr` for programs with another output of their own
 */
export function createLog(level: LogLevel, to?: 'stderr' | number | ((line: string) => void)): Log {
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
      streamWrite: printableJson,
    },
  };
  const log = open(options, to);
  return log;
}

function open(options: LoggerOptions, to: Parameters<typeof createLog>[1]): Log {
  if (typeof to === 'function') return pino(options, { write: to });
  return pino(options, to === 'stderr' ? openOutput(2, true) : openOutput(to ?? STDOUT, false));
}

const STDOUT = 1;

/** Lines that an output has not accepted. Beyond that, lines are dropped. */
const MAX_UNWRITTEN_BYTES = 4 * 1024 * 1024;

/** Outputs, each with a function that waits until all lines are written or one could not be. */
const outputs = new WeakMap<object, () => Promise<string | undefined>>();

/**
 * An output that may fail: its disk is full, or its reader has ended. The process goes on; pino would end it at once,
 * with a closed pipe write nothing more for good, and at the exit try forever. Lines are tried again with the next one,
 * also if that one is dropped, which by itself would write nothing.
 */
function openOutput(fd: number, sync: boolean): ReturnType<typeof pino.destination> {
  const output = pino.destination({ dest: fd, sync, maxLength: MAX_UNWRITTEN_BYTES });
  let problem: string | undefined;
  let isFull = false;
  const waiting: ((problem: string | undefined) => void)[] = [];
  const settle = (reason: string | undefined): void => {
    problem = reason;
    for (const resolve of waiting.splice(0)) resolve(reason);
  };
  output.removeAllListeners('error');
  output.on('error', (error) => settle(errorCode(error)));
  output.on('drop', () => {
    isFull = true;
    output.write('');
  });
  output.on('drain', () => {
    isFull = false;
    settle(undefined);
  });
  const flush = output.flushSync.bind(output);
  output.flushSync = () => {
    if (problem === undefined) flush();
  };
  outputs.set(output, () => {
    if (isFull) return Promise.resolve('nothing reads it');
    return sync ? Promise.resolve(problem) : new Promise((resolve) => waiting.push(resolve));
  });
  return output;
}

/**
 * Waits until the line that was just logged is written.
 * @returns why it could not be; undefined if it is, or if it goes to a function
 */
export async function whenWritten(log: Log, withinMs: number): Promise<string | undefined> {
  const output: unknown = Reflect.get(log, pino.symbols.streamSym);
  const settled = typeof output === 'object' && output !== null && outputs.get(output);
  if (!settled) return undefined;
  let reason: string | undefined = 'nothing reads it';
  await atMost(
    withinMs,
    settled().then((problem) => {
      reason = problem;
    }),
  );
  return reason;
}

/** An error without the fields that drivers attach, such as the statement's parameters or a client. */
function describeError(thrown: unknown): object {
  const error = toError(thrown);
  const code = 'code' in error ? { code: error.code } : {};
  return { type: error.name, message: error.message, ...code, stack: error.stack };
}
