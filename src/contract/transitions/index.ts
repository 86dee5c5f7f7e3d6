/** Transitions of the four resources. Interface document, section States and transitions. */
export * from './dispute.ts';
export * from './moves.ts';
export * from './payment.ts';
export * from './payout.ts';
export * from './refund.ts';
