/**
 * Control routes, under `/_sandbox`: what the real service has no API for. No key is asked for: the
 * sandbox listens on loopback only, and http/guard.ts keeps browsers out. docs/reference/sandbox.md lists them.
 */
import express, { type Router } from 'express';
import { takeText } from '../../http/body.ts';
import type { Services } from '../../services.ts';
import { addBankRoutes } from './bank.ts';
import { addLookingRoutes } from './looking.ts';
import { CONTROL_PATH } from './route.ts';
import { addSettingsRoutes } from './settings.ts';

export function createControl(services: Services): Router {
  const router = express.Router({ caseSensitive: true });
  router.use(CONTROL_PATH, takeText);
  addSettingsRoutes(router, services);
  addBankRoutes(router, services);
  addLookingRoutes(router, services);
  return router;
}
