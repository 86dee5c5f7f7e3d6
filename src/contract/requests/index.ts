/** The requests. service-interface.md §4. */
export * from './analytics.ts';
export * from './apiKeys.ts';
export * from './customerContext.ts';
export * from './customers.ts';
export * from './disputes.ts';
export * from './evidence.ts';
export * from './paymentLinks.ts';
export * from './paymentMethod.ts';
export * from './payments.ts';
export * from './payoutMethod.ts';
export * from './payouts.ts';
export * from './refunds.ts';
