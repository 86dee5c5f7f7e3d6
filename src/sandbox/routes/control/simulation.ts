/** Control routes that simulate the other parties: the customer, the processor, the banks. */
import type { Router } from 'express';
import { z } from 'zod';
import { DISPUTE_STAGES, DISPUTE_STATUSES } from '../../../contract/index.ts';
import { accept } from '../../domain/decision.ts';
import { moveDispute, openDispute } from '../../domain/dispute.ts';
import { CUSTOMER_ACTIONS, endAction, lapseAuthorization } from '../../domain/payment.ts';
import { movePayout, PAYOUT_MOVES } from '../../domain/payout.ts';
import { moveRefund, REFUND_MOVES } from '../../domain/refund.ts';
import { show } from '../../domain/resource.ts';
import { randomId } from '../../ids.ts';
import type { Services } from '../../services.ts';
import { changeDispute, disputeView } from '../disputes.ts';
import { alreadyExists } from '../existing.ts';
import { changePayment, fullView, unknownPayment } from '../payments.ts';
import { changePayout } from '../payouts.ts';
import { changeRefund } from '../refunds.ts';
import { addControlRoute } from './route.ts';

const text = z.string().min(1).max(255);

export function addSimulationRoutes(router: Router, services: Services): void {
  addControlRoute(router, {
    method: 'post',
    path: '/payments/:payment_id/action',
    input: z.strictObject({ payment_id: text, action: z.enum(CUSTOMER_ACTIONS) }),
    handle: ({ payment_id: id, action }) =>
      changePayment(services, id, fullView, (state, nowMs) => endAction(state, action, nowMs)),
  });
  addControlRoute(router, {
    method: 'post',
    path: '/payments/:payment_id/lapse',
    input: z.strictObject({ payment_id: text }),
    handle: ({ payment_id: id }) => changePayment(services, id, fullView, lapseAuthorization),
  });
  addControlRoute(router, {
    method: 'post',
    path: '/refunds/:refund_id/move',
    input: z.strictObject({ refund_id: text, status: z.enum(REFUND_MOVES) }),
    handle: ({ refund_id: id, status }) =>
      changeRefund(services, id, (state, nowMs) => moveRefund(state, status, nowMs)),
  });
  addControlRoute(router, {
    method: 'post',
    path: '/payouts/:payout_id/move',
    input: z.strictObject({ payout_id: text, status: z.enum(PAYOUT_MOVES) }),
    handle: ({ payout_id: id, status }) =>
      changePayout(services, id, (state, nowMs) => movePayout(state, status, nowMs)),
  });
  addControlRoute(router, {
    method: 'post',
    path: '/disputes',
    input: z.strictObject({
      payment_id: text,
      amount: z.int().min(1).optional(),
      stage: z.enum(DISPUTE_STAGES).optional(),
      reason: text.optional(),
      reason_code: text.optional(),
    }),
    handle: ({ payment_id: paymentId, ...input }) =>
      services.resources.write(async (transaction) => {
        const payment = await transaction.lock('payment', paymentId);
        if (payment === undefined) return unknownPayment(paymentId);
        const { refundedMinor } = await transaction.refundTotals(paymentId);
        const disputeId = randomId('dp_');
        const opened = openDispute(payment, input, {
          disputeId,
          refundedMinor,
          nowMs: transaction.nowMs,
        });
        if (opened.rejection) return opened;
        const made = await transaction.insert({ kind: 'dispute', state: opened.value });
        return made
          ? accept(show(made))
          : alreadyExists(services, `A dispute with dispute_id ${disputeId} exists already`);
      }),
  });
  addControlRoute(router, {
    method: 'post',
    path: '/disputes/:dispute_id/move',
    input: z.strictObject({
      dispute_id: text,
      stage: z.enum(DISPUTE_STAGES).optional(),
      status: z.enum(DISPUTE_STATUSES).optional(),
    }),
    handle: ({ dispute_id: id, ...move }) =>
      changeDispute(services, id, (state, nowMs) => moveDispute(state, move, nowMs), disputeView),
  });
}
