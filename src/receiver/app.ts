/** The Express app of the receiver: the webhook route, and nothing else. */
import express, { type Request, type Response } from 'express';
import { errorEnvelope } from '../contract/errors.ts';
import { SIGNATURE_HEADER } from '../contract/signature.ts';
import { type Clock, startStopwatch } from '../platform/clock.ts';
import { errorHandler } from '../platform/errorHandler.ts';
import type { Log } from '../platform/log.ts';
import { secretFingerprint } from '../platform/secretFingerprint.ts';
import { sleep } from '../platform/sleep.ts';
import type { Guard } from './guard.ts';
import type { Intake } from './intake.ts';
import type { ReceiverMetrics } from './metrics.ts';
import { discardBody, isDeclaredLonger, MAX_DISCARDED_BYTES, readBody } from './readBody.ts';
import { replyFor, type WebhookOutcome } from './reply.ts';
import { readSignature, verifyDigest } from './signature.ts';

export interface ReceiverAppParts {
  readonly webhookPath: string;
  readonly webhookSecrets: readonly string[];
  readonly maxBodyBytes: number;
  readonly guard: Guard;
  readonly intake: Intake;
  readonly metrics: ReceiverMetrics;
  /** Counts deliveries without a valid signature; their bodies are not stored. Must not block or throw. */
  readonly countRefusal: (reason: 'missing' | 'malformed' | 'mismatch') => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** A body that was read, and the digest that its header claims. */
interface SignedBody {
  readonly outcome: 'read';
  readonly body: Buffer;
  readonly digest: Buffer;
}

export function createReceiverApp(parts: ReceiverAppParts): express.Express {
  const { guard, intake, maxBodyBytes, metrics, webhookPath, webhookSecrets } = parts;
  const fingerprints = webhookSecrets.map(secretFingerprint);
  const logUnverified = createUnverifiedLog(parts.clock, parts.log);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');

  const reply = (response: Response, outcome: WebhookOutcome): number => {
    metrics.outcome(outcome.outcome);
    const { status, headers, body } = replyFor(outcome, parts.random());
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
  const unsigned = (reason: 'missing' | 'malformed' | 'mismatch'): WebhookOutcome => {
    logUnverified(reason);
    parts.countRefusal(reason);
    return { outcome: `signature_${reason}` };
  };
  const verify = ({ body, digest }: SignedBody, request: Request): Promise<WebhookOutcome> => {
    const verification = verifyDigest(body, digest, webhookSecrets);
    if (verification.outcome !== 'verified') return Promise.resolve(unsigned(verification.outcome));
    guard.verified(request);
    metrics.secretUsed(verification.secretIndex);
    return intake.accept(body, fingerprints[verification.secretIndex] ?? 0);
  };
  /** What can be refused without the body is refused before it is read. */
  const read = async (
    request: Request,
    response: Response,
  ): Promise<SignedBody | WebhookOutcome> => {
    const claim = readSignature(request.header(SIGNATURE_HEADER));
    if (claim.outcome !== 'well_formed') return unsigned(claim.outcome);
    if (intake.isFull()) return { outcome: 'overloaded' };
    if (expectsContinue(request)) {
      if (isDeclaredLonger(request, maxBodyBytes)) return { outcome: 'too_large' };
      response.writeContinue();
    }
    const origin = guard.originOf(request);
    const limit = { maxBytes: maxBodyBytes, budget: guard.bodies, origin };
    const reading = await readBody(request, limit);
    if (reading.outcome !== 'read') return reading;
    return { outcome: 'read', body: reading.body, digest: claim.digest };
  };

  app.use((request, response, next) => {
    if (guard.begin(request, response)) next();
  });
  app.post(
    webhookPath,
    // Any content type: the signature covers bytes.
    async (request: Request, response: Response) => {
      const reading = await read(request, response);
      const elapsedSeconds = startStopwatch();
      const outcome = reading.outcome === 'read' ? await verify(reading, request) : reading;
      const seconds = elapsedSeconds();
      if (outcome.outcome === 'over_budget') response.shouldKeepAlive = false;
      else if (outcome.outcome === 'overloaded') dropRest(request, response);
      else await holdBack(guard, request, response);
      metrics.replied(reply(response, outcome), seconds);
    },
  );
  app.all(webhookPath, async (request, response) => {
    await holdBack(guard, request, response);
    reply(response, { outcome: 'wrong_method' });
  });

  app.use(async (request: Request, response: Response) => {
    await holdBack(guard, request, response);
    const message = `There is nothing at ${request.path}. Send events to ${webhookPath}.`;
    response.status(404).json(errorEnvelope('invalid_request', 'IR_05', message));
  });
  app.use(
    errorHandler((error, _request, response) => {
      parts.log.error({ error }, 'receiver.request_failed');
      reply(response, { outcome: 'unavailable' });
    }),
  );
  return app;
}

const expectsContinue = ({ headers, httpVersion }: Request): boolean =>
  headers.expect !== undefined && httpVersion === '1.1';

/**
 * Prepares the reply to a request that may not be verified: drops what is left of its body, and delays
 * the reply if strangers send too much. Has no effect on a verified sender with a complete request.
 */
async function holdBack(guard: Guard, request: Request, response: Response): Promise<void> {
  dropRest(request, response);
  const delayMs = guard.replyDelayMs(request);
  if (delayMs === 0) return;
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  await sleep(delayMs, closed.signal);
}

/** Drops what is left of a body, so that the connection can serve further requests. */
function dropRest(request: Request, response: Response): void {
  if (request.complete) return;
  discardBody(request);
  // A sender that waits for 100 does not send its body now, so the next bytes may be either.
  if (expectsContinue(request) || isDeclaredLonger(request, MAX_DISCARDED_BYTES)) {
    response.shouldKeepAlive = false;
  }
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
