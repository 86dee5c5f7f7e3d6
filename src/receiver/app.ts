/** The Express app of the receiver: the webhook route, `/healthz` and `/readyz`. */
import express, { type ErrorRequestHandler, type Request, type Response } from 'express';
import { errorEnvelope } from '../contract/errors.ts';
import { SIGNATURE_HEADER } from '../contract/signature.ts';
import { type Clock, startStopwatch } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Intake } from './intake.ts';
import type { ReceiverMetrics } from './metrics.ts';
import { readBody } from './readBody.ts';
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
  /** Counts deliveries without a valid signature; their bodies are not stored. Must not block or throw. */
  readonly countRefusal: (reason: 'missing' | 'malformed' | 'mismatch') => void;
  readonly clock: Clock;
  readonly log: Log;
}

export function createReceiverApp(parts: ReceiverAppParts): express.Express {
  const { intake, metrics, readiness, webhookPath, webhookSecrets } = parts;
  const logUnverified = createUnverifiedLog(parts.clock, parts.log);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');

  const reply = (response: Response, outcome: WebhookOutcome): number => {
    metrics.outcome(outcome.outcome);
    const { status, headers, body } = replyFor(outcome);
    const text = JSON.stringify(body);
    // One write for head and body; `response.json` would make two.
    response.writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
      ...headers,
    });
    response.end(text);
    return status;
  };
  const verify = (body: Buffer, request: Request): Promise<WebhookOutcome> => {
    const verification = verifySignature(body, request.header(SIGNATURE_HEADER), webhookSecrets);
    if (verification.outcome !== 'verified') {
      logUnverified(verification.outcome);
      parts.countRefusal(verification.outcome);
      return Promise.resolve({ outcome: `signature_${verification.outcome}` });
    }
    metrics.secretUsed(verification.secretIndex);
    return intake.accept(body);
  };

  app.post(
    webhookPath,
    // Any content type: the signature covers bytes.
    async (request: Request, response: Response) => {
      const reading = await readBody(request, parts.maxBodyBytes);
      const elapsedSeconds = startStopwatch();
      const outcome = reading.outcome === 'read' ? await verify(reading.body, request) : reading;
      const httpStatus = reply(response, outcome);
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
    const message = `There is nothing at ${request.path}. Send events to ${webhookPath}.`;
    response.status(404).json(errorEnvelope('invalid_request', 'IR_05', message));
  });
  app.use(createErrorHandler(reply, parts.log));
  return app;
}

function createErrorHandler(
  reply: (response: Response, outcome: WebhookOutcome) => unknown,
  log: Log,
): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    log.error({ error }, 'receiver.request_failed');
    reply(response, { outcome: 'unavailable' });
  };
}

const LOG_INTERVAL_MS = 10_000;

/** At most one log line in ten seconds for unverified deliveries, because anybody can send them. */
function createUnverifiedLog(clock: Clock, log: Log): (reason: string) => void {
  let quietUntilMs = 0;
  let unlogged = 0;
  return (reason) => {
    unlogged += 1;
    if (clock.nowMs() < quietUntilMs) return;
    log.warn({ reason, deliveries: unlogged }, 'receiver.signature_refused');
    quietUntilMs = clock.nowMs() + LOG_INTERVAL_MS;
    unlogged = 0;
  };
}
