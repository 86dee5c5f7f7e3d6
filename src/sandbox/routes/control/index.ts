/**
 * Control routes, under `/_sandbox`: what the real service has no API for. No key is asked for: the
 * sandbox listens on loopback only, and http/guard.ts keeps browsers out. docs/sandbox.md lists them.
 */
import express, { type Router } from 'express';
import type { Services } from '../../services.ts';
import { addBankRoutes } from './bank.ts';
import { addLookingRoutes } from './looking.ts';
import { addSettingsRoutes } from './settings.ts';

export function createControl(services: Services): Router {
  const router = express.Router({ caseSensitive: true });
  addSettingsRoutes(router, services);
  addBankRoutes(router, services);
  addLookingRoutes(router, services);
  return router;
}
