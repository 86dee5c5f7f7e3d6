/** Who is signed in to the console, and the end of a session. */
import { z } from 'zod';
import { readSessionRows, type SessionRow } from '../../access/store/sessions.ts';
import { endSessionAs } from '../../actions/endSession.ts';
import { number, reasonGiven } from '../../console/schemas.ts';
import { type Column, DataTable } from '../components/blocks.tsx';
import { ActionForm, Reason } from '../components/forms.tsx';
import { Time } from '../components/values.tsx';
import { sessionsHref } from '../links.ts';
import { defineAction, definePage, type Viewer } from '../page.ts';

export const endSessionAction = defineAction({
  path: '/sessions/{session_id}/end',
  permission: 'manage_tokens',
  params: z.strictObject({ session_id: number }),
  form: z.strictObject({ reason: reasonGiven }),
  act: async ({ db }, { params, form, actor }) => {
    const ended = await endSessionAs({ db }, actor, {
      id: params.session_id,
      reason: form.reason,
    });
    if (ended === undefined) {
      return {
        outcome: 'not_found',
        message: 'There is no such session, or it has ended already.',
      };
    }
    return { outcome: 'done', to: sessionsHref(), notice: `A session of ${ended} has ended.` };
  },
});

export const sessionsPage = definePage({
  path: '/sessions',
  permission: 'manage_tokens',
  params: z.strictObject({}),
  query: z.strictObject({}),
  load: async ({ db }) => ({ outcome: 'ok', data: await readSessionRows(db) }),
  view: (sessions, viewer) => ({
    title: 'Sessions',
    body: (
      <DataTable
        caption="Who is signed in, newest first"
        columns={columnsFor(viewer)}
        rows={sessions}
        keyOf={({ id }) => String(id)}
        empty="Nobody is signed in."
      />
    ),
  }),
});

const columnsFor = (viewer: Viewer): readonly Column<SessionRow>[] => [
  { title: 'Token', cell: ({ holder }) => holder },
  { title: 'Address', cell: ({ origin }) => origin },
  { title: 'Browser', cell: ({ userAgent }) => userAgent },
  { title: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
  { title: 'Last used', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
  { title: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  {
    title: 'Action',
    cell: ({ id }) => (
      <ActionForm
        viewer={viewer}
        action={endSessionAction}
        params={{ session_id: id }}
        label="End session"
        isDangerous
      >
        <Reason />
      </ActionForm>
    ),
  },
];
