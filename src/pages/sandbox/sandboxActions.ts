/** What the page of the sandbox does. Each use is an attempt in the audit log. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type SandboxUse, useSandboxAs } from '../../actions/useSandbox.ts';
import type { Actor } from '../../audit/domain/actor.ts';
import { startReconciliation } from '../../console/routes/reconciliations.ts';
import { id } from '../../console/schemas.ts';
import { formatMoney, parseDecimal } from '../../contract/money.ts';
import { RESOURCE_KINDS } from '../../contract/resources/index.ts';
import { CLOSED_AFTER_MS, MOST_AHEAD_MS } from '../../demo/clock.ts';
import { FAULT_NAMES, withShares } from '../../demo/namedFaults.ts';
import {
  CAPTURE_NAMES,
  MOVE_NAMES,
  MOVES,
  OUTCOME_NAMES,
  placePayment,
  placePayout,
} from '../../demo/play.ts';
import { SCENARIO_NAMES, SCENARIOS } from '../../demo/scenarios.ts';
import type { Purchase, Shop } from '../../demo/shop.ts';
import { createSeen } from '../../demo/watch.ts';
import { sandboxHref, scenarioHref } from '../links.ts';
import { type Done, defineAction, type PageParts, type Problem } from '../page.ts';
import { throughEndpoint } from '../throughEndpoint.ts';
import { CLOCK_STEPS, SANDBOX_CURRENCIES, SHARES } from './choices.ts';

const none = z.strictObject({});

export const isOffered = ({ sandbox }: PageParts): boolean => sandbox !== undefined;

/** Uses the sandbox in the name of the actor. */
async function use(
  { db, sandbox }: PageParts,
  actor: Actor,
  what: SandboxUse & { readonly run: (shop: Shop) => Promise<unknown>; readonly done: Done },
): Promise<Done | Problem> {
  if (!sandbox) return { outcome: 'not_found', message: 'No sandbox runs in this installation.' };
  const { run, done, ...intent } = what;
  const used = await useSandboxAs(db, actor, intent, () => run(sandbox));
  switch (used.outcome) {
    case 'done':
      return done;
    case 'refused':
      return { outcome: 'conflict', message: `The sandbox refused: ${used.reason}.` };
    case 'unavailable': {
      const message =
        `The sandbox did not respond as expected: ${used.reason}. It may have happened: look at the page of ` +
        'the sandbox. If a fault of requests is on, end it there.';
      return { outcome: 'unavailable', message };
    }
  }
}

const done = (to: string, notice: string): Done => ({ outcome: 'done', to, notice });

/** A new order of the shop. */
const newOrderId = (): string => `play-${randomUUID().slice(0, 8)}`;

const MAX_AMOUNT_MINOR = 10_000_000;

type PurchaseForm = { order_id?: string | undefined; amount: string; currency: string };

function purchaseOf({ order_id: orderId, amount, currency }: PurchaseForm): Purchase | Problem {
  const amountMinor = parseDecimal(amount, currency);
  if (amountMinor !== undefined && amountMinor > 0 && amountMinor <= MAX_AMOUNT_MINOR) {
    return { orderId: orderId ?? newOrderId(), amountMinor, currency };
  }
  const most = formatMoney(MAX_AMOUNT_MINOR, currency);
  const message = `The amount ${JSON.stringify(amount)} is not an amount of ${currency} above 0 and up to ${most}. Go back and correct it.`;
  return { outcome: 'invalid', message };
}

const purchaseForm = {
  order_id: z
    .string()
    .max(40)
    .regex(/^[\w.-]+$/, 'letters, digits, points and dashes only')
    .optional(),
  amount: z.string(),
  currency: z.enum(SANDBOX_CURRENCIES),
};

export const payInSandbox = defineAction({
  path: '/sandbox/payments',
  permission: 'operate',
  isOffered,
  params: none,
  form: z.strictObject({
    ...purchaseForm,
    outcome: z.enum(OUTCOME_NAMES),
    capture: z.enum(CAPTURE_NAMES),
  }),
  act: async (parts, { form: { outcome, capture, ...form }, actor }) => {
    const purchase = purchaseOf(form);
    if ('outcome' in purchase) return purchase;
    const { orderId } = purchase;
    // A second payment of the same order needs an id of its own.
    const paymentId = `${orderId}-${randomUUID().slice(0, 8)}`;
    return await use(parts, actor, {
      what: 'payment',
      orderId,
      detail: { ...form, outcome, capture },
      run: (shop) => placePayment(shop, { ...purchase, outcome, capture }, paymentId),
      done: done(sandboxHref(), `Payment ${paymentId} of order ${orderId} is placed.`),
    });
  },
});

export const payOutInSandbox = defineAction({
  path: '/sandbox/payouts',
  permission: 'operate',
  isOffered,
  params: none,
  form: z.strictObject(purchaseForm),
  act: async (parts, { form, actor }) => {
    const purchase = purchaseOf(form);
    if ('outcome' in purchase) return purchase;
    return await use(parts, actor, {
      what: 'payout',
      detail: form,
      run: (shop) => placePayout(shop, purchase),
      done: done(sandboxHref(), `A payout with the reference ${purchase.orderId} is sent.`),
    });
  },
});

export const moveResource = defineAction({
  path: '/sandbox/resources/{kind}/{id}',
  permission: 'operate',
  isOffered,
  params: z.strictObject({ kind: z.enum(RESOURCE_KINDS), id }),
  form: z.strictObject({
    move: z.enum(MOVE_NAMES),
    status: z.string().max(100),
    amount_minor: z.coerce.number().int().min(1),
    back: z.enum(SCENARIO_NAMES).optional(),
    order: z.string().max(255).optional(),
  }),
  act: async (parts, { params, form, actor }) => {
    const { label, run } = MOVES[form.move];
    const movable = { ...params, status: form.status, amountMinor: form.amount_minor };
    const to = form.back === undefined ? sandboxHref() : scenarioHref(form.back, form.order);
    return await use(parts, actor, {
      what: `${params.kind}:${params.id}`,
      detail: { move: form.move },
      run: (shop) => run(shop, movable),
      done: done(to, `${label}: done for ${params.kind} ${params.id}.`),
    });
  },
});

const share = z.enum(SHARES.map(({ value }) => value));

const FAULT_FIELDS = Object.fromEntries(FAULT_NAMES.map((name) => [name, share.optional()]));

export const setFaults = defineAction({
  path: '/sandbox/faults',
  permission: 'operate',
  isOffered,
  params: none,
  form: z.strictObject(FAULT_FIELDS),
  act: (parts, { form, actor }) => {
    const shares = Object.fromEntries(
      Object.entries(form).map(([name, value]) => [name, Number(value)]),
    );
    return use(parts, actor, {
      what: 'faults',
      detail: shares,
      run: async ({ control }) => control.setFaults(withShares(await control.faults(), shares)),
      done: done(sandboxHref(), 'The faults are set. They apply to what happens from now on.'),
    });
  },
});

export const endFaults = defineAction({
  path: '/sandbox/faults/end',
  permission: 'operate',
  isOffered,
  params: none,
  form: none,
  act: (parts, { actor }) =>
    use(parts, actor, {
      what: 'faults',
      detail: { ended: true },
      run: ({ control }) => control.endFaults(),
      done: done(sandboxHref(), 'All faults have ended.'),
    }),
});

export const advanceClock = defineAction({
  path: '/sandbox/clock',
  permission: 'operate',
  isOffered,
  params: none,
  form: z.strictObject({ by: z.enum(CLOCK_STEPS.map(({ value }) => value)) }),
  act: (parts, { form, actor }) =>
    use(parts, actor, {
      what: 'clock',
      detail: { advanced_ms: Number(form.by) },
      run: ({ control }) => control.advanceClock(Number(form.by)),
      done: done(sandboxHref(), 'The clock of the service has moved, and what fell due has run.'),
    }),
});

export const playScenario = defineAction({
  path: '/sandbox/scenarios/{scenario}',
  permission: 'operate',
  isOffered,
  params: z.strictObject({ scenario: z.enum(SCENARIO_NAMES) }),
  form: none,
  act: (parts, { params: { scenario }, actor }) => {
    const orderId = newOrderId();
    const { play, title } = SCENARIOS[scenario];
    return use(parts, actor, {
      what: 'scenario',
      orderId,
      detail: { scenario },
      run: (shop) =>
        play(shop, { orderId, amountMinor: 5_400, currency: 'EUR' }, createSeen(parts.db)),
      done: done(scenarioHref(scenario, orderId), `Played: ${title}. The order is ${orderId}.`),
    });
  },
});

export const reconcileSandbox = defineAction({
  path: '/sandbox/reconcile',
  permission: startReconciliation.permission,
  isOffered,
  params: none,
  form: z.strictObject({
    back: z.enum(SCENARIO_NAMES),
    order: z.string().max(255),
  }),
  act: async (parts, { form, actor }) => {
    const to = scenarioHref(form.back, form.order);
    const moved = await use(parts, actor, {
      what: 'clock',
      detail: { advanced_ms: CLOSED_AFTER_MS, purpose: 'reconciliation' },
      run: closeLists,
      done: done(to, ''),
    });
    if (moved.outcome !== 'done') return moved;
    const notice =
      'A reconcile run of all lists is enqueued. It compares what is older than a minute by the ' +
      "service's clock.";
    return await throughEndpoint(startReconciliation, parts, { actor, body: {} }, { to, notice });
  },
});

/** Puts the service's clock forward until the lists contain what just happened, if the ledger allows it. */
async function closeLists({ control }: Shop): Promise<void> {
  const { aheadMs } = await control.clock();
  if (aheadMs + CLOSED_AFTER_MS <= MOST_AHEAD_MS) await control.advanceClock(CLOSED_AFTER_MS);
}
