import type { Service } from '../service.ts';

/** Checks one statement, or several equivalent ones. */
export type Scenario = (service: Service) => Promise<void> | void;
export type Scenarios = Readonly<Record<string, Scenario>>;
