import type { Service } from '../service.ts';

/** Checks one statement, or several of which each says the same. */
export type Scenario = (service: Service) => Promise<void> | void;
export type Scenarios = Readonly<Record<string, Scenario>>;
