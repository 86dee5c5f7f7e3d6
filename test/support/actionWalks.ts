/**
 * How a person carries out each action of the console, from the page that offers it to its effect. Each walk
 * makes what it needs, so that it can be walked by one role after the other.
 */
import { expect } from 'vitest';
import { syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { actionHref } from '../../src/pages/links.ts';
import { insertRun } from '../../src/reconcile/store/runs.ts';
import { alertOf } from './alerts.ts';
import { setUpAuthorizations } from './authorizations.ts';
import { unique } from './events.ts';
import type { Fields } from './filledForm.ts';
import { applyEach, receive, testApplier } from './ledger.ts';
import { openPages, type PageViewer } from './pages.ts';
import { paymentEvent, refundEvent } from './payments.ts';
import type { SandboxConsole } from './sandboxConsole.ts';
import { cardPayment } from './sandboxRequests.ts';
import { waitFor } from './waitFor.ts';

export interface Walk {
  /** The page with the form. */
  readonly at: string;
  /** Where the form is sent. */
  readonly action: string;
  readonly fields?: Fields;
  /** Selectors of boxes to check. */
  readonly check?: readonly string[];
  /** The name of a field for a file. */
  readonly file?: string;
  /** The text of the button, where the form has several. */
  readonly button?: string;
  /** The page before, and what is checked and clicked there. */
  readonly from?: { readonly at: string; readonly check: string; readonly button: string };
  /** The notice at the end; undefined: `shows` is there instead. */
  readonly notice?: RegExp;
  /** What the page at the end shows besides. */
  readonly shows?: RegExp;
  /** The entries of the audit log, as `action subject`. */
  readonly audit: readonly string[];
  /** Fails unless the action was carried out. */
  readonly effect?: (after: URL) => Promise<void>;
}

/** What every walk states where a reason is recorded. */
export const REASON = 'walked in a test';

/**
 * @param viewer an administrator, who prepares
 * @returns by the path of each action
 */
export function createActionWalks(
  all: SandboxConsole,
  viewer: PageViewer,
): Readonly<Record<string, () => Promise<Walk>>> {
  const prepare = createPreparation(all, viewer);
  return {
    ...orderWalks(prepare),
    ...moneyWalks(prepare),
    ...disputeWalks(prepare),
    ...payoutWalks(prepare),
    ...reconciliationWalks(prepare),
    ...eventWalks(prepare),
    ...closingWalks(prepare),
    ...findingWalks(prepare),
    ...alertWalks(prepare),
    ...systemWalks(prepare),
    ...accessWalks(prepare),
    ...sandboxWalks(prepare),
    ...lastWalks(),
  };
}

type Preparation = ReturnType<typeof createPreparation>;
type Walks = Readonly<Record<string, () => Promise<Walk>>>;

function createPreparation(all: SandboxConsole, viewer: PageViewer) {
  const { db, sandbox } = all;
  const refreshed = async (kind: string, id: string): Promise<string> => {
    await viewer.post(`/resources/${kind}/${id}/refresh`, {});
    return id;
  };
  const payment = async (fields: object = {}): Promise<{ id: string; orderId: string }> => {
    const orderId = unique('walk');
    const request = cardPayment({ metadata: { order_id: orderId }, ...fields });
    const { body } = await sandbox.call('POST', '/payments', request);
    return { id: await refreshed('payment', body.payment_id), orderId };
  };
  const newest = async (table: 'alerts' | 'findings' | 'console_sessions'): Promise<number> => {
    const [row] = await db.query<{ id: number }>(`select max(id)::int as id from ${table}`);
    return row?.id ?? 0;
  };
  return {
    all,
    viewer,
    payment,
    newest,
    /** At the service. */
    stateOf: async (path: string) => (await sandbox.call('GET', path)).body.status,
    /** The columns of one row in the database. */
    row: async (sql: string, values: readonly unknown[] = []) =>
      (await db.query<Record<string, unknown>>(sql, values))[0],
    dispute: async (): Promise<string> => {
      const { id } = await payment();
      const opened = { payment_id: id, amount: 5400, reason_code: '13.1' };
      const { body } = await sandbox.call('POST', '/_sandbox/disputes', opened);
      return refreshed('dispute', body.dispute_id);
    },
    payout: async (status?: string): Promise<string> => {
      const stored = { payout_type: 'bank', payout_method_id: 'pm_stored' };
      const request = { amount: 2500, currency: 'EUR', confirm: true, ...stored };
      const { body } = await sandbox.call('POST', '/payouts/create', request);
      const move = `/_sandbox/payouts/${body.payout_id}/move`;
      if (status !== undefined) await sandbox.call('POST', move, { status });
      return refreshed('payout', body.payout_id);
    },
    alert: async (): Promise<number> => {
      const subject = `payment:${unique('pay')}`;
      const active = [alertOf({ rule: 'authorization_expiring', subject, severity: 'warning' })];
      const synced = [{ subject, rules: ['authorization_expiring' as const], active }];
      await db.transaction((tx) => syncAlerts(tx, synced));
      return newest('alerts');
    },
    finding: async (): Promise<number> => {
      const paymentId = unique('pay');
      await applyEach(db, testApplier(db), [
        paymentEvent({ payment_id: paymentId }),
        refundEvent(paymentId, { amount: 900_000 }),
      ]);
      return newest('findings');
    },
    deadEvent: async (): Promise<number> => {
      const [id = 0] = await receive(db, [paymentEvent({})]);
      await testApplier(db).markDead(id, 5, 'connection reset');
      return id;
    },
    /** Where an action leads. */
    locationOf: async (path: string, fields: Readonly<Record<string, string>>) => {
      const { status, location, html } = await viewer.post(path, fields);
      if (status !== 303 || location === null) throw new Error(`${path}: ${status} ${html}`);
      return location.replace(/[?&]notice=.*/, '');
    },
  };
}

function orderWalks({ payment, row }: Preparation): Walks {
  const actionOn = (path: string, orderId: string) =>
    actionHref(path, { order_key: `order:${orderId}` });
  return {
    '/orders/{order_key}/expectation': async () => {
      const { orderId } = await payment();
      return {
        at: `/orders/${orderId}`,
        action: actionOn('/orders/{order_key}/expectation', orderId),
        fields: { amount: '1.00', currency: 'USD' },
        notice: /1\.00 USD/,
        audit: [`order.register order:${orderId}`],
        effect: async () => {
          const expected = 'select amount_minor from order_expectations where order_id = $1';
          expect(await row(expected, [orderId])).toEqual({ amount_minor: 100 });
        },
      };
    },
    '/orders/{order_key}/refresh': async () => {
      const { orderId } = await payment();
      return {
        at: `/orders/${orderId}`,
        action: actionOn('/orders/{order_key}/refresh', orderId),
        notice: /Every payment was retrieved/,
        audit: [`resource.refresh order:${orderId}`],
        shows: /Refresh/,
      };
    },
    '/orders/{order_key}/replay': async () => {
      const event = 'select replayed_at from event_replays order by replayed_at desc limit 1';
      const before = await row(event);
      return {
        at: '/orders/ord_plain',
        action: actionOn('/orders/{order_key}/replay', 'ord_plain'),
        notice: /1 event is applied again/,
        audit: ['event.replay event:2'],
        effect: async () => expect(await row(event)).not.toEqual(before),
      };
    },
    '/resources/{kind}/{id}/refresh': async () => {
      const { id } = await payment();
      return {
        at: `/payments/${id}`,
        action: `/resources/payment/${id}/refresh`,
        notice: /Retrieved/,
        audit: [`resource.refresh payment:${id}`],
        shows: /Refresh/,
      };
    },
  };
}

function moneyWalks({ all, payment, stateOf }: Preparation): Walks {
  const decideHold = async (action: 'capture' | 'cancel', status: string): Promise<Walk> => {
    const { id } = await payment({ capture_method: 'manual' });
    await (await setUpAuthorizations(all.sandbox, all.db)).check.run();
    const button = action === 'capture' ? 'Capture' : 'Release';
    return {
      from: {
        at: '/authorizations',
        check: `input[name="hold"][value*="${id}"]`,
        button: `${button} the selected`,
      },
      at: `/authorizations/confirm?action=${action}&hold=6540:USD:${id}`,
      action: `/authorizations/${action}`,
      fields: { reason: REASON, confirmed: true },
      notice: /./,
      audit: [`authorization.${action} payment:${id}`],
      effect: async () => expect(await stateOf(`/payments/${id}`)).toBe(status),
    };
  };
  return {
    '/authorizations/capture': () => decideHold('capture', 'succeeded'),
    '/authorizations/cancel': () => decideHold('cancel', 'cancelled'),
    '/payments/{payment_id}/refund': async () => {
      const { id } = await payment();
      return {
        at: `/payments/${id}`,
        action: `/payments/${id}/refund`,
        fields: { amount: '1.00', reason: REASON },
        notice: /took the refund of 1\.00 USD/,
        audit: [`payment.refund payment:${id}`],
        effect: async () => {
          const { body } = await all.sandbox.call('POST', '/refunds/list', { payment_id: id });
          expect(body.data).toMatchObject([{ amount: 100 }]);
        },
      };
    },
  };
}

function disputeWalks({ all, dispute, row }: Preparation): Walks {
  const atService = async (id: string) => (await all.sandbox.call('GET', `/disputes/${id}`)).body;
  return {
    '/disputes/{dispute_id}/accept': async () => {
      const id = await dispute();
      return {
        at: `/disputes/${id}`,
        action: `/disputes/${id}/accept`,
        fields: { amount: '54.00', reason: REASON },
        notice: /Accepted/,
        audit: [`dispute.accept dispute:${id}`],
        effect: async () => expect((await atService(id)).dispute_status).toMatch(/accepted|lost/),
      };
    },
    '/disputes/{dispute_id}/evidence': async () => {
      const id = await dispute();
      return {
        at: `/disputes/${id}/evidence`,
        action: `/disputes/${id}/evidence`,
        fields: { shipping_carrier: 'DHL', reason: REASON },
        notice: /Submitted/,
        audit: [`dispute.evidence dispute:${id}`],
        effect: async () => expect((await atService(id)).dispute_status).toBe('dispute_challenged'),
      };
    },
    '/disputes/{dispute_id}/files': async () => {
      const id = await dispute();
      return {
        at: `/disputes/${id}/evidence`,
        action: `/disputes/${id}/files`,
        file: 'file',
        button: 'Upload',
        notice: /Uploaded/,
        audit: [`dispute.upload dispute:${id}`],
        effect: async () => {
          const uploaded = `select count(*)::int as files from audit
                             where action = 'dispute.upload' and subject_id = $1 and result = 'done'`;
          expect(await row(uploaded, [id])).toEqual({ files: 1 });
        },
      };
    },
  };
}

function payoutWalks({ all, payout, stateOf }: Preparation): Walks {
  return {
    '/payouts/{payout_id}/retry': async () => {
      const id = await payout('failed');
      return {
        at: `/payouts/${id}/retry`,
        action: `/payouts/${id}/retry`,
        fields: { amount: '25.00', reason: REASON },
        notice: /Paid again/,
        audit: [`payout.retry payout:${id}`],
        effect: async ({ pathname: next }) => {
          expect(next).not.toBe(`/payouts/${id}`);
          expect((await all.sandbox.call('GET', next)).body).toMatchObject({ amount: 2500 });
        },
      };
    },
    '/payouts/{payout_id}/cancel': async () => {
      const id = await payout();
      return {
        at: `/payouts/${id}`,
        action: `/payouts/${id}/cancel`,
        fields: { reason: REASON },
        notice: /Cancelled/,
        audit: [`payout.cancel payout:${id}`],
        effect: async () => expect(await stateOf(`/payouts/${id}`)).toBe('cancelled'),
      };
    },
    '/payouts/{payout_id}/fulfill': async () => {
      const id = await payout();
      return {
        at: `/payouts/${id}`,
        action: `/payouts/${id}/fulfill`,
        fields: { amount: '25.00', reason: REASON },
        notice: /sends the money/,
        audit: [`payout.fulfill payout:${id}`],
        effect: async () =>
          expect(await stateOf(`/payouts/${id}`)).not.toBe('requires_fulfillment'),
      };
    },
  };
}

function reconciliationWalks({ all, row, viewer }: Preparation): Walks {
  const pause = 'select resumed_by from reconcile_pauses order by id desc limit 1';
  return {
    '/reconciliation/start': () =>
      Promise.resolve({
        at: '/reconciliation',
        action: '/reconciliation/start',
        fields: { stream: 'refunds' },
        notice: /enqueued/,
        audit: ['reconciliation.start reconciliation:refunds'],
        effect: () =>
          waitFor('the run', async () => {
            const runs = `select count(*)::int as runs from reconcile_runs
                           where stream = 'refunds' and cause = 'operator'`;
            return Number((await row(runs))?.runs) > 0;
          }),
      }),
    '/reconciliation/{run_number}/stop': async () => {
      const { id } = await insertRun(all.db, {
        stream: 'payments',
        mode: 'full',
        cause: 'operator',
        isDryRun: false,
        fromAt: new Date('2026-11-01T00:00:00Z'),
        toAt: new Date('2026-11-02T00:00:00Z'),
      });
      return {
        at: `/reconciliation/${id}`,
        action: `/reconciliation/${id}/stop`,
        notice: /stopped/,
        audit: [`reconciliation.stop reconciliation:${id}`],
        effect: async () => {
          const run = 'select state from reconcile_runs where id = $1';
          expect(await row(run, [id])).toEqual({ state: 'stopped' });
        },
      };
    },
    '/reconciliation/pause': async () => {
      await viewer.post('/reconciliation/resume', {});
      return {
        at: '/reconciliation',
        action: '/reconciliation/pause',
        fields: { reason: REASON },
        notice: /paused/,
        audit: ['reconciliation.pause reconciliation:background'],
        effect: async () => expect(await row(pause)).toEqual({ resumed_by: null }),
      };
    },
    '/reconciliation/resume': async () => {
      await viewer.post('/reconciliation/pause', { reason: REASON });
      return {
        at: '/reconciliation',
        action: '/reconciliation/resume',
        notice: /sent again/,
        audit: ['reconciliation.resume reconciliation:background'],
        effect: async () => expect(await row(pause)).not.toEqual({ resumed_by: null }),
      };
    },
  };
}

function eventWalks({ deadEvent, locationOf, row }: Preparation): Walks {
  return {
    '/inbox/{event}/replay': async () => {
      const event = await deadEvent();
      return {
        at: `/inbox/${event}`,
        action: `/inbox/${event}/replay`,
        notice: /will be applied again/,
        audit: [`event.replay event:${event}`],
        effect: async () => {
          const dead = 'select count(*)::int as dead from dead_events where webhook_event_id = $1';
          expect(await row(dead, [event])).toEqual({ dead: 0 });
        },
      };
    },
    '/inbox/{event}/discard': async () => {
      const event = await deadEvent();
      return {
        at: `/inbox/${event}`,
        action: `/inbox/${event}/discard`,
        fields: { reason: REASON },
        notice: /discarded/,
        audit: [`event.discard event:${event}`],
        effect: async () => {
          const dead = 'select discarded_reason from dead_events where webhook_event_id = $1';
          expect(await row(dead, [event])).toEqual({ discarded_reason: REASON });
        },
      };
    },
    '/replays/start': async () => {
      await deadEvent();
      const latest = 'select id::int, reason from replay_runs order by id desc limit 1';
      const next = Number((await row(latest))?.id) + 1;
      return {
        at: '/replays/new?state=dead',
        action: '/replays/start',
        fields: { reason: REASON, confirmed: true },
        notice: /begins within seconds/,
        audit: [`replay.start replay:${next}`],
        effect: async () => expect(await row(latest)).toEqual({ id: next, reason: REASON }),
      };
    },
    '/replays/{replay_number}/stop': async () => {
      await deadEvent();
      const form = { state: 'dead', reason: REASON, confirmed: 'yes' };
      const at = await locationOf('/replays/start', form);
      const number = at.split('/').at(-1);
      return {
        at,
        action: `${at}/stop`,
        notice: /is stopped/,
        audit: [`replay.stop replay:${number}`],
        effect: async () => {
          const replay = 'select state from replay_runs where id = $1';
          expect(await row(replay, [number])).toEqual({ state: 'stopped' });
        },
      };
    },
  };
}

function closingWalks({ row, viewer }: Preparation): Walks {
  const month = '/ledger/statements/2024-01';
  const closed = `select count(*)::int as closed from period_closings
                 where month = '2024-01' and reopened_at is null`;
  return {
    '/ledger/statements/{month}/close': async () => {
      await viewer.post(`${month}/reopen`, { reason: REASON });
      return {
        at: `${month}/closing`,
        action: `${month}/close`,
        fields: { reason: REASON, with_exceptions: true },
        notice: /2024-01 is closed/,
        audit: ['period.close month:2024-01'],
        effect: async () => expect(await row(closed)).toEqual({ closed: 1 }),
      };
    },
    '/ledger/statements/{month}/reopen': async () => {
      const form = { time_zone: 'UTC', reason: REASON, with_exceptions: 'yes' };
      await viewer.post(`${month}/close`, form);
      return {
        at: `${month}/closing`,
        action: `${month}/reopen`,
        fields: { reason: REASON },
        notice: /2024-01 is open again/,
        audit: ['period.reopen month:2024-01'],
        effect: async () => expect(await row(closed)).toEqual({ closed: 0 }),
      };
    },
  };
}

function findingWalks({ finding, row }: Preparation): Walks {
  const effectOn = (number: number) => async () => {
    const accepted = 'select accepted_reason from findings where id = $1';
    expect(await row(accepted, [number])).toEqual({ accepted_reason: REASON });
  };
  return {
    '/findings/{finding_number}/accept': async () => {
      const number = await finding();
      return {
        at: `/findings/${number}`,
        action: `/findings/${number}/accept`,
        fields: { reason: REASON },
        notice: /is accepted/,
        audit: [`finding.accept finding:${number}`],
        effect: effectOn(number),
      };
    },
    '/findings/accept': async () => {
      const number = await finding();
      return {
        from: {
          at: '/findings',
          check: `input[name="finding"][value="${number}"]`,
          button: 'Accept the checked findings',
        },
        at: `/findings/accept?finding=${number}`,
        action: '/findings/accept',
        fields: { reason: REASON, confirmed: true },
        notice: /1 finding accepted/,
        audit: [`finding.accept finding:${number}`],
        effect: effectOn(number),
      };
    },
  };
}

function alertWalks({ alert, row }: Preparation): Walks {
  const columnOf = async (number: number, column: string) =>
    Object.values((await row(`select ${column} from alerts where id = $1`, [number])) ?? {})[0];
  const handle = async (what: string, fields: Fields, check: (n: number) => Promise<void>) => {
    const number = await alert();
    return {
      at: `/alerts/${number}`,
      action: `/alerts/${number}/${what}`,
      fields: { ...fields, reason: REASON },
      notice: new RegExp(what),
      audit: [`alert.${what} alert:${number}`],
      effect: () => check(number),
    };
  };
  return {
    '/alerts/{alert_number}/acknowledge': () =>
      handle('acknowledge', {}, async (number) =>
        expect(await columnOf(number, 'acknowledged_reason')).toBe(REASON),
      ),
    '/alerts/{alert_number}/snooze': () =>
      handle('snooze', { for: '1d' }, async (number) =>
        expect(await columnOf(number, 'snoozed_reason')).toBe(REASON),
      ),
    '/alerts/{alert_number}/assign': () =>
      handle('assign', { to: 'ada' }, async (number) =>
        expect(await columnOf(number, 'assigned_to')).toBe('ada'),
      ),
    '/alerts/handle': async () => {
      const numbers = [await alert(), await alert()];
      return {
        at: '/alerts',
        action: '/alerts/handle',
        check: numbers.map((number) => `input[name="alert"][value="${number}"]`),
        fields: { reason: REASON },
        button: 'Acknowledge',
        notice: /2 alerts are acknowledged/,
        // As the page lists them: newest first.
        audit: numbers.toReversed().map((number) => `alert.acknowledge alert:${number}`),
        effect: async () => {
          for (const number of numbers) {
            expect(await columnOf(number, 'acknowledged_reason')).toBe(REASON);
          }
        },
      };
    },
    '/alerts/channels/{channel}/test': () =>
      Promise.resolve({
        at: '/alerts/channels',
        action: '/alerts/channels/log/test',
        notice: /accepted the test message/,
        audit: ['alert.test channel:log'],
        shows: /No channel fails\./,
      }),
    '/messages/{message_number}/resend': async () => {
      // Until it is delivered, it cannot be sent again.
      await waitFor('message 1', async () => {
        const state = (await row('select state from messages where number = 1'))?.state;
        return state !== 'due';
      });
      const resent = 'select resent_at from messages where number = 1';
      const before = await row(resent);
      return {
        at: '/messages/1',
        action: '/messages/1/resend',
        fields: { reason: REASON },
        notice: /sent again/,
        audit: ['message.resend message:1'],
        effect: async () => expect(await row(resent)).not.toEqual(before),
      };
    },
  };
}

function systemWalks({ locationOf, payment, row, viewer }: Preparation): Walks {
  return {
    '/system/check': () =>
      Promise.resolve({
        at: '/system',
        action: '/system/check',
        notice: /run again/,
        // Reads only.
        audit: [],
        shows: /checks? passed/,
      }),
    '/system/schedule/run': async () => {
      await row('delete from schedule_requests');
      return {
        at: '/system/schedule',
        action: '/system/schedule/run',
        fields: { name: 'verify', reason: REASON },
        notice: /is requested/,
        audit: ['schedule.run schedule:verify'],
        effect: async () => {
          const requests = 'select reason from schedule_requests where schedule = $1';
          expect(await row(requests, ['verify'])).toEqual({ reason: REASON });
        },
      };
    },
    '/system/erasures/plan': async () => {
      const { orderId } = await payment();
      return {
        at: '/system/erasures',
        action: '/system/erasures/plan',
        fields: { kind: 'order', ids: orderId },
        notice: /The plan is being made/,
        // Nothing is erased before a request.
        audit: [],
        effect: async ({ pathname }) => expect(pathname).toMatch(/^\/system\/erasures\/plans\//),
      };
    },
    '/system/erasures/plans/{plan_id}/erase': async () => {
      const { orderId } = await payment();
      const at = await locationOf('/system/erasures/plan', { kind: 'order', ids: orderId });
      await waitFor('the plan', async () => (await viewer.get(at)).html.includes('name="confirm"'));
      const latest = 'select id::int, reason from erasures order by id desc limit 1';
      const next = Number((await row(latest))?.id ?? 0) + 1;
      return {
        at,
        action: `${at}/erase`,
        fields: { reason: REASON, confirm: true },
        notice: /Requested/,
        audit: [`erasure.request erasure:${next}`],
        effect: async () => expect(await row(latest)).toEqual({ id: next, reason: REASON }),
      };
    },
  };
}

function accessWalks({ all, newest, row, viewer }: Preparation): Walks {
  return {
    '/sessions/{session_id}/end': async () => {
      await openPages(all.tallyhook);
      const session = await newest('console_sessions');
      return {
        at: `/sessions/${session}`,
        action: `/sessions/${session}/end`,
        fields: { reason: REASON },
        notice: /has ended/,
        audit: [`session.end session:${session}`],
        effect: async () => {
          const ended =
            'select ended_at is not null as "isEnded" from console_sessions where id = $1';
          expect(await row(ended, [session])).toEqual({ isEnded: true });
        },
      };
    },
    '/system/tokens/create': () => {
      const name = unique('walk');
      return Promise.resolve({
        at: '/system/tokens',
        action: '/system/tokens/create',
        fields: { name, role: 'viewer' },
        audit: [`token.create token:${name}`],
        shows: /Copy it now/,
        effect: async () => {
          const token = 'select role from tokens where name = $1';
          expect(await row(token, [name])).toEqual({ role: 'viewer' });
        },
      });
    },
    '/system/tokens/{name}/revoke': async () => {
      const name = unique('walk');
      await viewer.post('/system/tokens/create', { name, role: 'viewer' });
      return {
        at: '/system/tokens',
        action: `/system/tokens/${name}/revoke`,
        fields: { confirm: true },
        notice: /is revoked/,
        audit: [`token.revoke token:${name}`],
        effect: async () => {
          const token = 'select revoked_at is not null as "isRevoked" from tokens where name = $1';
          expect(await row(token, [name])).toEqual({ isRevoked: true });
        },
      };
    },
  };
}

function sandboxWalks({ all, locationOf, payment, stateOf }: Preparation): Walks {
  const { sandbox } = all;
  const at = '/sandbox';
  const use = (walk: Omit<Walk, 'at' | 'audit'> & { readonly of: string }): Promise<Walk> =>
    Promise.resolve({ at, audit: [`sandbox.use sandbox:${walk.of}`], ...walk });
  const faults = async () => JSON.stringify(await sandbox.control('GET', '/faults'));
  const listed = async (order: string) =>
    (await sandbox.call('POST', '/payments/list', {})).body.data.filter(
      ({ metadata }: { metadata?: { order_id?: string } }) => metadata?.order_id === order,
    ).length;
  return {
    '/sandbox/scenarios/{scenario}': () =>
      use({
        action: '/sandbox/scenarios/webhook_lost',
        notice: /Played/,
        of: 'scenario',
        effect: async ({ searchParams }) => {
          const order = searchParams.get('order') ?? '';
          expect(await listed(order)).toBe(1);
        },
      }),
    '/sandbox/payments': () => {
      const order = unique('walk');
      return use({
        action: '/sandbox/payments',
        fields: { amount: '12.00', order_id: order },
        notice: /is placed/,
        of: 'payment',
        effect: async () => expect(await listed(order)).toBe(1),
      });
    },
    '/sandbox/payouts': () =>
      use({
        action: '/sandbox/payouts',
        fields: { amount: '12.00' },
        notice: /is sent/,
        of: 'payout',
        effect: async () => {
          const { body } = await sandbox.call('POST', '/payouts/list', { limit: 1 });
          expect(body.data).toMatchObject([{ amount: 1200 }]);
        },
      }),
    '/sandbox/resources/{kind}/{id}': async () => {
      const { id } = await payment({ capture_method: 'manual' });
      return await use({
        action: `/sandbox/resources/payment/${id}`,
        fields: { move: 'cancel' },
        notice: /done for/,
        of: `payment:${id}`,
        effect: async () => expect(await stateOf(`/payments/${id}`)).toBe('cancelled'),
      });
    },
    '/sandbox/faults': async () => {
      await sandbox.control('DELETE', '/faults');
      const before = await faults();
      return await use({
        action: '/sandbox/faults',
        fields: { doubled: '0.1' },
        notice: /are set/,
        of: 'faults',
        effect: async () => expect(await faults()).not.toBe(before),
      });
    },
    '/sandbox/faults/end': async () => {
      await sandbox.control('DELETE', '/faults');
      const before = await faults();
      await sandbox.control('PUT', '/faults', { webhooks: { duplicate: 0.1 } });
      return await use({
        action: '/sandbox/faults/end',
        notice: /have ended/,
        of: 'faults',
        effect: async () => expect(await faults()).toBe(before),
      });
    },
    '/sandbox/reconcile': async () => ({
      at: await locationOf('/sandbox/scenarios/webhook_lost', {}),
      action: '/sandbox/reconcile',
      notice: /enqueued/,
      audit: [
        'sandbox.use sandbox:clock',
        'reconciliation.start reconciliation:payments,refunds,disputes,payouts',
      ],
    }),
    '/sandbox/clock': async () => {
      const now = async () => Date.parse((await sandbox.control('GET', '/clock')).now);
      const before = await now();
      return await use({
        action: '/sandbox/clock',
        fields: { by: '60000' },
        notice: /has moved/,
        of: 'clock',
        effect: async () => expect(await now()).toBeGreaterThanOrEqual(before + 60_000),
      });
    },
  };
}

function lastWalks(): Walks {
  return {
    '/account/sign-out-everywhere': () =>
      Promise.resolve({
        at: '/account',
        action: '/account/sign-out-everywhere',
        audit: [expect.stringMatching(/^session\.end session:\d+$/)],
        shows: /ADMIN_TOKEN of this installation/,
      }),
  };
}
