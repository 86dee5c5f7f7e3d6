/**
 * The payment service's interface as data and schemas: one source for every client and for the
 * sandbox. Nothing here does I/O, and nothing here is a rule of Tallyhook's.
 */
export * from './authentication.ts';
export * from './declines.ts';
export * from './endpoints/index.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './familyErrors.ts';
export * from './identifiers.ts';
export * from './limits.ts';
export * from './lists.ts';
export * from './money.ts';
export * from './problems.ts';
export * from './query.ts';
export * from './requests/index.ts';
export * from './resources/index.ts';
export * from './signature.ts';
export * from './statuses.ts';
