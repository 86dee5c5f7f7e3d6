/** @supabase/stripe-sync-engine behind a route of Express, as the bare route is. */
import express from 'express';
import { startHttpServer } from '../../src/platform/httpServer.ts';
import { WEBHOOK_PATH } from '../events.ts';
import { createStripeSync, STRIPE_SIGNATURE_HEADER } from './stripeSyncEngine.ts';

const { PEER_FOLDER = '', DATABASE_URL = '', WEBHOOK_SECRET = '' } = process.env;
const sync = createStripeSync({
  folder: PEER_FOLDER,
  databaseUrl: DATABASE_URL,
  webhookSecret: WEBHOOK_SECRET,
});
let hasFailed = false;

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.post(
  WEBHOOK_PATH,
  express.raw({ type: () => true, limit: 1_048_576, inflate: false }),
  async (request, response) => {
    try {
      await sync.processWebhook(request.body, request.header(STRIPE_SIGNATURE_HEADER));
      response.json({ received: true });
    } catch (error) {
      // The load counts the others.
      if (!hasFailed) console.error('peer:', error);
      hasFailed = true;
      response.status(400).json({ received: false });
    }
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
