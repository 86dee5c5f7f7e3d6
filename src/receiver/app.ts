/** The Express app of the receiver: the webhook route, and two that tell how the process is. */
import express, { type ErrorRequestHandler, type Request, type Response } from 'express';
import { errorEnvelope } from '../contract/errors.ts';
import { SIGNATURE_HEADER } from '../contract/signature.ts';
import { type Clock, startStopwatch } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Intake } from './intake.ts';
import type { ReceiverMetrics } from './metrics.ts';
import { replyFor, type WebhookOutcome } from './reply.ts';
import { verifySignature } from './signature.ts';

/** What `/readyz` reports. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

export interface ReceiverAppParts {
  readonly webhookPath: string;
  readonly webhookSecrets: readonly string[];
  readonly maxBodyBytes: number;
  readonly intake: Intake;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: ReceiverMetrics;
  /** Counts deliveries without a valid signature, of which nothing is kept. Must not block or throw. */
  readonly countRefusal: (reason: 'missing' | 'malformed' | 'mismatch') => void;
  readonly clock: Clock;
  readonly log: Log;
}

export function createReceiverApp(parts: ReceiverAppParts): express.Express {
  const { intake, metrics, readiness, webhookPath, webhookSecrets } = parts;
  const noteUnverified = createUnverifiedNote(parts.clock, parts.log);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');

  const reply = (response: Response, outcome: WebhookOutcome): number => {
    metrics.outcome(outcome.outcome);
    const { status, headers, body } = replyFor(outcome);
    const text = JSON.stringify(body);
    // Head and body of a reply ended with a string leave in one write; `response.json` makes two.
    response.writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
      ...headers,
    });
    response.end(text);
    return status;
  };
  const judge = (request: Request): Promise<WebhookOutcome> => {
    const body: Buffer = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const verification = verifySignature(body, request.header(SIGNATURE_HEADER), webhookSecrets);
    if (verification.outcome !== 'verified') {
      noteUnverified(verification.outcome);
      parts.countRefusal(verification.outcome);
      return Promise.resolve({ outcome: `signature_${verification.outcome}` });
    }
    metrics.secretUsed(verification.secretIndex);
    return intake.accept(body);
  };

  app.post(
    webhookPath,
    // Any content type: the signature covers bytes, and an encoded body is refused, not inflated.
    express.raw({ type: () => true, limit: parts.maxBodyBytes, inflate: false }),
    async (request: Request, response: Response) => {
      const elapsedSeconds = startStopwatch();
      const httpStatus = reply(response, await judge(request));
      metrics.replied(httpStatus, elapsedSeconds());
    },
  );
  app.all(webhookPath, (_request, response) => {
    reply(response, { outcome: 'wrong_method' });
  });

  app.get('/healthz', (_request, response) => {
    response.json({ status: 'alive' });
  });
  app.get('/readyz', async (_request, response) => {
    const state = await readiness();
    response.status(state.ready ? 200 : 503).json(state);
  });
  app.use((request, response) => {
    const message = `There is nothing at ${request.path}. Events go to ${webhookPath}.`;
    response.status(404).json(errorEnvelope('invalid_request', 'IR_05', message));
  });
  app.use(createErrorHandler(reply, parts.log));
  return app;
}

/** Errors of the body parser by their `type`, which it documents. */
const BODY_ERRORS: Readonly<Record<string, WebhookOutcome>> = {
  'entity.too.large': { outcome: 'too_large' },
  'encoding.unsupported': { outcome: 'encoded_body' },
  'request.size.invalid': { outcome: 'incomplete_body' },
  'request.aborted': { outcome: 'incomplete_body' },
};

function createErrorHandler(
  reply: (response: Response, outcome: WebhookOutcome) => unknown,
  log: Log,
): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const type = error instanceof Error && 'type' in error ? String(error.type) : '';
    const outcome = BODY_ERRORS[type];
    if (outcome) {
      reply(response, outcome);
      return;
    }
    log.error({ error }, 'receiver.request_failed');
    reply(response, { outcome: 'unavailable' });
  };
}

const NOTE_EVERY_MS = 10_000;

/** One log line in ten seconds for unverified deliveries: anybody can send as many as they like. */
function createUnverifiedNote(clock: Clock, log: Log): (reason: string) => void {
  let quietUntilMs = 0;
  let unsaid = 0;
  return (reason) => {
    unsaid += 1;
    if (clock.nowMs() < quietUntilMs) return;
    log.warn({ reason, deliveries: unsaid }, 'receiver.signature_refused');
    quietUntilMs = clock.nowMs() + NOTE_EVERY_MS;
    unsaid = 0;
  };
}
