/** What people do about alerts. */
import { z } from 'zod';
import { acknowledgeAlertAs, assignAlertAs, snoozeAlertAs } from '../../actions/actOnAlert.ts';
import type { ChangedAlert } from '../../alerts/actOnAlert.ts';
import type { Actor } from '../../audit/domain/actor.ts';
import { number, reasonGiven } from '../../console/schemas.ts';
import { DAY_MS, HOUR_MS } from '../../platform/time.ts';
import { alertHref, alertsHref } from '../links.ts';
import { type Done, defineAction, type PageParts, type Problem } from '../page.ts';
import { shownList } from '../shownList.ts';

const params = z.strictObject({ alert_number: number });

const SPANS_MS: Readonly<Record<string, number>> = {
  '1h': HOUR_MS,
  '4h': 4 * HOUR_MS,
  '1d': DAY_MS,
  '3d': 3 * DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
};

export const SNOOZE_CHOICES = Object.keys(SPANS_MS);

export const acknowledgeAlert = defineAction({
  path: '/alerts/{alert_number}/acknowledge',
  permission: 'operate',
  params,
  form: z.strictObject({ reason: reasonGiven }),
  act: async ({ db }, { params: { alert_number: id }, form: { reason }, actor }) => {
    const acknowledged = await acknowledgeAlertAs({ db }, actor, { number: id, reason });
    const { outcome } = acknowledged;
    if (outcome !== 'already') return outcomeOf(id, outcome, 'acknowledged');
    const by = acknowledged.alert.acknowledgedBy;
    const message = `Alert ${id} is already acknowledged by ${by}. Nothing was changed.`;
    return { outcome: 'conflict', message };
  },
});

export const snoozeAlert = defineAction({
  path: '/alerts/{alert_number}/snooze',
  permission: 'operate',
  params,
  form: z.strictObject({ for: z.enum(SNOOZE_CHOICES), reason: reasonGiven }),
  act: async ({ db, clock }, { params: { alert_number: id }, form, actor }) => {
    const until = new Date(clock.nowMs() + (SPANS_MS[form.for] ?? HOUR_MS));
    const input = { number: id, until, reason: form.reason };
    return outcomeOf(id, (await snoozeAlertAs({ db }, actor, input)).outcome, 'snoozed');
  },
});

export const assignAlert = defineAction({
  path: '/alerts/{alert_number}/assign',
  permission: 'operate',
  params,
  form: z.strictObject({ to: z.string().trim().max(100).optional(), reason: reasonGiven }),
  act: async ({ db }, { params: { alert_number: id }, form: { to, reason }, actor }) => {
    const input = { number: id, to: to === '' ? undefined : to, reason };
    return outcomeOf(id, (await assignAlertAs({ db }, actor, input)).outcome, 'assigned');
  },
});

/** What is done about several alerts at once. */
const HANDLINGS = ['acknowledge', 'snooze', 'assign'] as const;
type Handling = (typeof HANDLINGS)[number];

const DONE: Readonly<Record<Handling, string>> = {
  acknowledge: 'acknowledged',
  snooze: 'snoozed',
  assign: 'assigned',
};

/** As many as a page of alerts has. */
const MAX_HANDLED = 50;

const handlingForm = z.strictObject({
  alert: z
    .union([number, z.array(number).max(MAX_HANDLED)], { error: 'must name one alert or more' })
    .transform((value) => [value].flat()),
  what: z.enum(HANDLINGS),
  for: z.enum(SNOOZE_CHOICES).optional(),
  to: z.string().trim().max(100).optional(),
  reason: reasonGiven,
  next: shownList(alertsHref()),
});

/** Handles several alerts, each with an entry of its own in the audit log. */
export const handleAlerts = defineAction({
  path: '/alerts/handle',
  permission: 'operate',
  params: z.strictObject({}),
  form: handlingForm,
  act: async (parts, { form, actor }) => {
    let done = 0;
    for (const id of form.alert) {
      if ((await handleOne(parts, actor, { id, form })) === 'done') done += 1;
    }
    const unchanged = form.alert.length - done;
    const rest =
      unchanged === 0 ? '' : ` ${unchanged} did not change: they were already, or are resolved.`;
    const what = `${done} ${done === 1 ? 'alert is' : 'alerts are'} ${DONE[form.what]}.`;
    return { outcome: 'done', to: form.next, notice: `${what}${rest}` };
  },
});

async function handleOne(
  { db, clock }: Pick<PageParts, 'db' | 'clock'>,
  actor: Actor,
  { id, form }: { readonly id: number; readonly form: z.output<typeof handlingForm> },
): Promise<string> {
  const input = { number: id, reason: form.reason };
  switch (form.what) {
    case 'acknowledge':
      return (await acknowledgeAlertAs({ db }, actor, input)).outcome;
    case 'snooze': {
      const until = new Date(clock.nowMs() + (SPANS_MS[form.for ?? ''] ?? HOUR_MS));
      return (await snoozeAlertAs({ db }, actor, { ...input, until })).outcome;
    }
    case 'assign': {
      const to = form.to === '' ? undefined : form.to;
      return (await assignAlertAs({ db }, actor, { ...input, to })).outcome;
    }
  }
}

function outcomeOf(id: number, outcome: ChangedAlert['outcome'], what: string): Done | Problem {
  switch (outcome) {
    case 'done':
      return { outcome: 'done', to: alertHref(id), notice: `Alert ${id} is ${what}.` };
    case 'unknown':
      return { outcome: 'not_found', message: `There is no alert ${id}.` };
    case 'resolved':
      return {
        outcome: 'conflict',
        message: `Alert ${id} is already resolved. Nothing was changed.`,
      };
  }
}
