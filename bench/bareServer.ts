/**
 * What the receiver is measured against: an Express route that reads the body and verifies it with
 * the receiver's own code, and keeps nothing. Its reply has the same fields and length.
 */
import express from 'express';
import { SIGNATURE_HEADER } from '../src/contract/signature.ts';
import { startHttpServer } from '../src/platform/httpServer.ts';
import { readSignature, verifyDigest } from '../src/receiver/signature.ts';
import { WEBHOOK_PATH } from './events.ts';

const secrets = [process.env.WEBHOOK_SECRETS ?? ''];
const EVENT_ID = `evt_${'0'.repeat(32)}`;

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.post(
  WEBHOOK_PATH,
  express.raw({ type: () => true, limit: 1_048_576, inflate: false }),
  (request, response) => {
    const claim = readSignature(request.header(SIGNATURE_HEADER));
    const isVerified =
      claim.outcome === 'well_formed' &&
      verifyDigest(request.body, claim.digest, secrets).outcome === 'verified';
    response
      .status(isVerified ? 200 : 401)
      .json({ received: isVerified, event_id: EVENT_ID, duplicate: false });
  },
);

const server = await startHttpServer({
  host: '127.0.0.1',
  port: 0,
  handler: app,
  portSetting: 'PORT',
});
process.on('SIGTERM', () => process.exit(0));
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));
process.send?.({ port: server.port });
