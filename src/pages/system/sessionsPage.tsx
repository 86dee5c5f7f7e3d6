/** Who is signed in to the console, and the end of their sessions. */
import { z } from 'zod';
import { readSessionRows, type SessionRow } from '../../access/store/sessions.ts';
import { endSessionAs } from '../../actions/endSession.ts';
import { cursor, number, reasonGiven } from '../../console/schemas.ts';
import { cutPage, numberPlace, readCursor } from '../../representation/cursor.ts';
import { type Column, DataTable, KeyValues, Pager, Section } from '../components/blocks.tsx';
import { ActionForm, Check, Reason } from '../components/forms.tsx';
import { Badge, Time } from '../components/values.tsx';
import { sessionHref, sessionsHref } from '../links.ts';
import { defineAction, definePage } from '../page.ts';
import { browserName } from './browserName.ts';
import { SYSTEM_CRUMB, SystemNav } from './SystemNav.tsx';

const PAGE_SIZE = 50;
/** More than a person has. */
const MAX_OF_PERSON = 200;

export const endSessionAction = defineAction({
  path: '/sessions/{session_id}/end',
  permission: 'manage_tokens',
  params: z.strictObject({ session_id: number }),
  form: z.strictObject({ reason: reasonGiven, everywhere: z.literal('yes').optional() }),
  act: async ({ db }, { params, form, actor }) => {
    const ended = await endSessionAs({ db }, actor, {
      id: params.session_id,
      everywhere: form.everywhere === 'yes',
      reason: form.reason,
    });
    if (ended === undefined) {
      return {
        outcome: 'not_found',
        message: 'There is no such session, or it has ended already.',
      };
    }
    const { holder, sessions } = ended;
    const notice =
      sessions === 1
        ? `A session of ${holder} has ended.`
        : `${sessions} sessions of ${holder} have ended.`;
    return { outcome: 'done', to: sessionsHref(), notice };
  },
});

export const sessionsPage = definePage({
  path: '/sessions',
  permission: 'manage_tokens',
  params: z.strictObject({}),
  query: z.strictObject({ cursor }),
  load: async ({ db, sessionIdleMs: idleMs }, { query: { cursor: current } }) => {
    const from = readCursor(current, numberPlace);
    if (from.outcome !== 'read') return from;
    const page = { idleMs, below: from.place?.[0], limit: PAGE_SIZE + 1 };
    const { shown, next } = cutPage(await readSessionRows(db, page), PAGE_SIZE, ({ id }) => [id]);
    return { outcome: 'ok', data: { sessions: shown, next, current } };
  },
  view: ({ sessions, next, current }, viewer) => ({
    title: 'Sessions',
    crumbs: [SYSTEM_CRUMB],
    body: (
      <>
        <SystemNav viewer={viewer} current={sessionsHref()} />
        <DataTable
          caption="Who is signed in, newest first"
          columns={[
            { title: 'Person', cell: ({ id, holder }) => <a href={sessionHref(id)}>{holder}</a> },
            ...COLUMNS,
          ]}
          rows={sessions}
          keyOf={({ id }) => String(id)}
          empty="Nobody is signed in."
        />
        <Pager
          first={current === undefined ? undefined : sessionsHref()}
          next={next === null ? undefined : sessionsHref({ cursor: next })}
        />
      </>
    ),
  }),
});

export const sessionPage = definePage({
  path: '/sessions/{session_id}',
  permission: 'manage_tokens',
  params: z.strictObject({ session_id: number }),
  query: z.strictObject({}),
  load: async ({ db, sessionIdleMs: idleMs }, { params: { session_id: id }, sessionId }) => {
    const [session] = await readSessionRows(db, { idleMs, only: id, limit: 1 });
    if (session) return { outcome: 'ok', data: { session, isOwn: id === sessionId } };
    const message = `Session ${id} has ended, or never existed. The audit log has who signed in, and when.`;
    return { outcome: 'not_found', message };
  },
  view: ({ session, isOwn }, viewer) => ({
    title: `Session of ${session.holder}`,
    crumbs: [SYSTEM_CRUMB, { label: 'Sessions', href: sessionsHref() }],
    body: (
      <>
        {isOwn ? <p>This is the session that you are using.</p> : null}
        <KeyValues
          rows={[
            ['Sign-in', SIGN_INS[session.signIn]],
            ['Address', session.origin],
            ['Browser', session.userAgent],
            ['Started', <Time key="started" at={session.startedAt} />],
            ['Last seen', <Time key="seen" at={session.lastSeenAt} isRelative />],
            ['Ends at the latest', <Time key="ends" at={session.expiresAt} />],
          ]}
        />
        <Section title="End the session">
          <p>Its pages stop working within five seconds.</p>
          <ActionForm
            viewer={viewer}
            action={endSessionAction}
            params={{ session_id: session.id }}
            label="End session"
            isDangerous
          >
            <Reason />
            <Check name="everywhere" value="yes" label="All sessions of this person" />
          </ActionForm>
        </Section>
      </>
    ),
  }),
});

/** Signs the viewer out of every browser. */
export const signOutEverywhere = defineAction({
  path: '/account/sign-out-everywhere',
  permission: 'read',
  params: z.strictObject({}),
  form: z.strictObject({}),
  act: async ({ db }, { actor, sessionId }) => {
    await endSessionAs({ db }, actor, { id: sessionId, everywhere: true, reason: undefined });
    return { outcome: 'done', to: '/sign-in', notice: 'Signed out everywhere.' };
  },
});

export const accountPage = definePage({
  path: '/account',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({}),
  load: async ({ db, sessionIdleMs: idleMs }, { sessionId, actor }) => {
    const page = { idleMs, samePersonAs: sessionId, limit: MAX_OF_PERSON };
    const sessions = await readSessionRows(db, page);
    return { outcome: 'ok', data: { sessions, sessionId, name: actor.name } };
  },
  view: ({ sessions, sessionId, name }, viewer) => ({
    title: 'Your sessions',
    body: (
      <>
        <p>{`You are signed in as ${name} with the role ${viewer.role}.`}</p>
        <DataTable
          caption="Where you are signed in, newest first"
          columns={[
            {
              title: 'Session',
              cell: ({ id }) => (id === sessionId ? <Badge>this one</Badge> : `${id}`),
            },
            ...COLUMNS,
          ]}
          rows={sessions}
          keyOf={({ id }) => String(id)}
          empty="You are signed in nowhere else."
        />
        <Section title="Sign out everywhere">
          <p>Every session above ends within five seconds, also this one.</p>
          <ActionForm
            viewer={viewer}
            action={signOutEverywhere}
            label="Sign out everywhere"
            isDangerous
          />
        </Section>
      </>
    ),
  }),
});

const SIGN_INS: Readonly<Record<SessionRow['signIn'], string>> = {
  token: 'token',
  link: 'link',
  provider: 'identity provider',
};

const COLUMNS: readonly Column<SessionRow>[] = [
  { title: 'Sign-in', cell: ({ signIn }) => SIGN_INS[signIn] },
  { title: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} isRelative /> },
  { title: 'Address', cell: ({ origin }) => origin },
  { title: 'Browser', cell: ({ userAgent }) => browserName(userAgent ?? '') },
  { title: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
];
