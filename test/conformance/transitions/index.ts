/** Transitions of the four resources, as the service makes them. service-interface.md §3. */
export * from './dispute.ts';
export * from './payment.ts';
export * from './payout.ts';
export * from './refund.ts';
export * from './transition.ts';
