/** One alert: what happened, what to do, who handles it. */
import { z } from 'zod';
import { ruleTitle } from '../../alerts/domain/ruleTitles.ts';
import { type AlertRow, readAlert } from '../../alerts/store/alertRows.ts';
import { number } from '../../console/schemas.ts';
import { KeyValues, Section } from '../components/blocks.tsx';
import { ActionForm, Field, Reason, Select } from '../components/forms.tsx';
import { Badge, Id, Marked, Time } from '../components/values.tsx';
import { alertsHref, orderHref, resourceHref, subjectHref } from '../links.ts';
import { definePage, type Viewer } from '../page.ts';
import { Related, readRelated } from '../related/Related.tsx';
import { acknowledgeAlert, assignAlert, SNOOZE_CHOICES, snoozeAlert } from './alertActions.ts';
import { Severity, stateText } from './alertsPage.tsx';
import { type RunbookLine, runbookOf } from './runbook.ts';

export const alertPage = definePage({
  path: '/alerts/{alert_number}',
  permission: 'read',
  params: z.strictObject({ alert_number: number }),
  query: z.strictObject({}),
  load: async ({ db }, { params: { alert_number: id } }) => {
    const alert = await readAlert(db, id);
    if (alert) {
      const related = await readRelated(db, [alert.subject]);
      const alerts = related.alerts.filter(({ id: other }) => other !== id);
      const data = { alert, runbook: runbookOf(alert.rule), related: { ...related, alerts } };
      return { outcome: 'ok', data };
    }
    const message = `There is no alert ${id}. Retention removes resolved alerts after some time.`;
    return { outcome: 'not_found', message };
  },
  topics: ({ alert }) => [`alert:${alert.id}`],
  view: ({ alert, runbook, related }, viewer) => ({
    title: `Alert ${alert.id}: ${ruleTitle(alert.rule)}`,
    crumbs: [{ label: 'Alerts', href: alertsHref() }],
    body: (
      <>
        <p>{alert.sentence}</p>
        <Summary alert={alert} />
        <Section title="What to do">
          <p>{alert.nextStep}</p>
          <Runbook lines={runbook} />
        </Section>
        {alert.state === 'resolved' ? null : <Actions alert={alert} viewer={viewer} />}
        <Related related={related} />
      </>
    ),
  }),
});

function Summary({ alert }: { readonly alert: AlertRow }) {
  const { orderId, paymentId, subject } = alert;
  return (
    <KeyValues
      rows={[
        ['Severity', <Severity key="severity" severity={alert.severity} />],
        ['State', <Badge key="state">{stateText(alert)}</Badge>],
        ['Rule', <code key="rule">{alert.rule}</code>],
        ['About', <Id key="subject" id={subject} href={subjectHref(subject)} />],
        ...(orderId === null
          ? []
          : [
              [
                'Order',
                <Id
                  key="order"
                  id={orderId}
                  href={subject.startsWith('payout:') ? undefined : orderHref(orderId)}
                />,
              ] as const,
            ]),
        ...(paymentId === null
          ? []
          : [
              [
                'Payment',
                <Id key="payment" id={paymentId} href={resourceHref('payment', paymentId)} />,
              ] as const,
            ]),
        ['Deadline', <Time key="deadline" at={alert.deadlineAt} isRelative />],
        ['Opened', <Time key="opened" at={alert.openedAt} />],
        ['Resolved', <Time key="resolved" at={alert.resolvedAt} />],
        ...handling(alert),
      ]}
    />
  );
}

/** What people did about it. */
function handling(alert: AlertRow) {
  const { acknowledgedAt, snoozedUntil, assignedTo } = alert;
  return [
    ...(acknowledgedAt === null
      ? []
      : [['Acknowledged', `by ${alert.acknowledgedBy}: ${alert.acknowledgedReason}`] as const]),
    ...(assignedTo === null
      ? []
      : [
          ['Assigned', `to ${assignedTo} by ${alert.assignedBy}: ${alert.assignedReason}`] as const,
        ]),
    ...(snoozedUntil === null
      ? []
      : [
          [
            'Snoozed',
            <span key="snoozed">
              until <Time at={snoozedUntil} /> by {alert.snoozedBy}
              {alert.snoozedReason === null ? '' : `: ${alert.snoozedReason}`}
            </span>,
          ] as const,
        ]),
  ];
}

function Runbook({ lines }: { readonly lines: readonly RunbookLine[] }) {
  if (lines.length === 0) return null;
  return (
    <KeyValues
      rows={lines.map(({ label, text }) => [label, <Marked key={label} text={text} />] as const)}
    />
  );
}

function Actions({ alert, viewer }: { readonly alert: AlertRow; readonly viewer: Viewer }) {
  const params = { alert_number: alert.id };
  return (
    <Section title="Handle it">
      {alert.state === 'open' ? (
        <ActionForm viewer={viewer} action={acknowledgeAlert} params={params} label="Acknowledge">
          <Reason />
        </ActionForm>
      ) : null}
      <ActionForm viewer={viewer} action={snoozeAlert} params={params} label="Snooze">
        <Select name="for" label="For" value="4h" options={SNOOZE_CHOICES} />
        <Reason />
      </ActionForm>
      <ActionForm viewer={viewer} action={assignAlert} params={params} label="Assign">
        <Field
          name="to"
          label="To"
          value={alert.assignedTo ?? undefined}
          hint="Empty: to nobody."
        />
        <Reason />
      </ActionForm>
    </Section>
  );
}
