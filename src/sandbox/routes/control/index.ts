/**
 * Control routes, under `/_sandbox`: what the real service has no API for. They need no key: the sandbox
 * listens on loopback only, and http/guard.ts rejects browser pages. docs/reference/sandbox.md lists them.
 */
import express, { type Router } from 'express';
import { textParser } from '../../http/body.ts';
import type { Services } from '../../services.ts';
import { addInspectionRoutes } from './inspection.ts';
import { CONTROL_PATH } from './route.ts';
import { addSettingsRoutes } from './settings.ts';
import { addSimulationRoutes } from './simulation.ts';

export function createControl(services: Services): Router {
  const router = express.Router({ caseSensitive: true });
  router.use(CONTROL_PATH, textParser);
  addSettingsRoutes(router, services);
  addSimulationRoutes(router, services);
  addInspectionRoutes(router, services);
  return router;
}
