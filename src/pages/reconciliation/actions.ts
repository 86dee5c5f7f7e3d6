/** What the pages of reconciliation do: start and stop runs, pause and resume background requests. */
import { z } from 'zod';
import { pause, resume } from '../../console/routes/pause.ts';
import { startReconciliation, stopReconciliation } from '../../console/routes/reconciliations.ts';
import { number } from '../../console/schemas.ts';
import { MODES } from '../../reconcile/store/runs.ts';
import { STREAMS } from '../../reconcile/streams.ts';
import { reconciliationHref, runHref } from '../links.ts';
import { defineAction } from '../page.ts';
import { throughEndpoint } from '../throughEndpoint.ts';

/** A field of type `datetime-local`, in UTC; empty if it was not filled in. */
const utcField = z
  .string()
  .transform((text) => (text === '' ? undefined : `${text.length === 16 ? `${text}:00` : text}Z`))
  .optional();

export const startRuns = defineAction({
  path: '/reconciliation/start',
  permission: startReconciliation.permission,
  params: z.strictObject({}),
  form: z.strictObject({
    stream: z.enum([...STREAMS, 'all']),
    mode: z.enum(MODES),
    from: utcField,
    to: utcField,
    dry_run: z.literal('yes').optional(),
  }),
  act: (parts, { form: { stream, mode, from, to, dry_run: dryRun }, actor }) =>
    throughEndpoint(
      startReconciliation,
      parts,
      { actor, body: { stream, mode, from, to, dry_run: dryRun !== undefined } },
      {
        to: reconciliationHref(),
        notice: 'The runs are enqueued. They are listed below once they have begun.',
      },
    ),
});

export const stopRun = defineAction({
  path: '/reconciliation/{run_number}/stop',
  permission: stopReconciliation.permission,
  params: z.strictObject({ run_number: number }),
  form: z.strictObject({}),
  act: (parts, { params: { run_number: id }, actor }) =>
    throughEndpoint(
      stopReconciliation,
      parts,
      { actor, params: { number: id } },
      {
        to: runHref(id),
        notice: 'The run is stopped. What it compared and repaired stays so.',
      },
    ),
});

export const pauseRequests = defineAction({
  path: '/reconciliation/pause',
  permission: pause.permission,
  params: z.strictObject({}),
  form: z.strictObject({ reason: z.string() }),
  act: (parts, { form, actor }) =>
    throughEndpoint(
      pause,
      parts,
      { actor, body: form },
      {
        to: reconciliationHref(),
        notice: 'Background requests are paused. Webhooks are still received and applied.',
      },
    ),
});

export const resumeRequests = defineAction({
  path: '/reconciliation/resume',
  permission: resume.permission,
  params: z.strictObject({}),
  form: z.strictObject({}),
  act: (parts, { actor }) =>
    throughEndpoint(
      resume,
      parts,
      { actor },
      { to: reconciliationHref(), notice: 'Background requests are sent again.' },
    ),
});
