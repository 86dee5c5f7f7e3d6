/**
 * A form that was sent without a session, from a page of an earlier one, or while the database is unavailable. Nothing
 * is done, and what was typed is kept: the browser does not have it on the page before, which it loads again.
 *
 * 1. Without a session, the page has the form, and leads to the sign-in in another tab.
 * 2. With one, it shows what is sent. Only a person who presses its button sends it with the token of their session.
 * 3. Without the database, it shows the same, with the token that was sent. It is checked when the form is sent again.
 */
import type { Request, Response } from 'express';
import type { Session } from '../../access/sessions.ts';
import { KeyValues } from '../components/blocks.tsx';
import type { PageView } from '../page.ts';
import { ownPath } from '../session/ownPath.ts';
import type { Renderer } from './render.tsx';

interface Kept {
  /** Where the form is sent. */
  readonly action: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

interface KeptAt {
  readonly request: Request;
  readonly response: Response;
  readonly renderer: Pick<Renderer, 'render'>;
  /** Undefined: it has ended. */
  readonly session?: Session | undefined;
}

/** Shows a form that was not carried out because the database is unavailable. */
export function sendUnsentForm({ request, response, renderer, session }: KeptAt): void {
  const kept = { action: ownPath(request.originalUrl), fields: fieldsOf(request.body) };
  const body = typeof request.body === 'string' ? request.body : '';
  const view = unavailableView(kept, new URLSearchParams(body).get('form_token') ?? undefined);
  response.status(503).type('html').send(renderer.render(view, { request, response, session }));
}

/** More than any form of a page has. Anybody may send one without a session. */
const MAX_FIELDS = 2_000;

/** Shows a form that was not carried out, with what it contains. */
export function sendKeptForm({ request, response, renderer, session }: KeptAt): void {
  const kept = { action: ownPath(request.originalUrl), fields: fieldsOf(request.body) };
  const view = session ? checkView(kept, session.formToken) : endedView(kept);
  const html = renderer.render(view, { request, response, session });
  response
    .status(session ? 403 : 401)
    .type('html')
    .send(html);
}

function fieldsOf(body: unknown): Kept['fields'] {
  if (typeof body !== 'string' || body.split('&', MAX_FIELDS + 1).length > MAX_FIELDS) return [];
  const sent = new URLSearchParams(body);
  sent.delete('form_token');
  return [...sent];
}

function endedView(kept: Kept): PageView {
  const signIn = (
    <a href="/sign-in" target="_blank" rel="noopener">
      Sign in in another tab
    </a>
  );
  return {
    title: 'Your session has ended',
    body: (
      <>
        <p class="problem">Nothing was done.</p>
        {kept.fields.length === 0 ? (
          <p>{signIn}, then go back and do it again. Choose a file once more, if there was one.</p>
        ) : (
          <>
            <p>What you typed is below. {signIn}, then return to this one and continue.</p>
            <KeptForm kept={kept} label="Continue" />
          </>
        )}
      </>
    ),
  };
}

function unavailableView(kept: Kept, formToken: string | undefined): PageView {
  return {
    title: 'Unavailable',
    body: (
      <>
        <p class="problem">
          Nothing was done: the database is unavailable. <code>npx tallyhook doctor</code> shows
          why.
        </p>
        <p>Send it again when the database is available. This page keeps what you typed.</p>
        <KeptForm kept={kept} label="Send again" formToken={formToken} />
      </>
    ),
  };
}

function checkView(kept: Kept, formToken: string): PageView {
  return {
    title: 'Check what you send',
    body: (
      <>
        <p class="problem">
          Nothing was done yet: the form was opened in another session. What it shows may have
          changed since.
        </p>
        {kept.fields.length === 0 ? (
          <p>Go back, reload the page, and do it again.</p>
        ) : (
          <KeptForm kept={kept} label="Send" formToken={formToken} />
        )}
      </>
    ),
  };
}

function KeptForm({
  kept: { action, fields },
  label,
  formToken,
}: {
  readonly kept: Kept;
  readonly label: string;
  readonly formToken?: string | undefined;
}) {
  return (
    <>
      <div class="kept">
        <KeyValues
          rows={[
            // What is done, and to what: the page it was sent from showed it.
            ['sent to', action],
            ...fields.map(([name, value]) => [name.replaceAll('_', ' '), value] as const),
          ]}
        />
      </div>
      <form class="action" method="post" action={action}>
        {formToken === undefined ? null : (
          <input type="hidden" name="form_token" value={formToken} />
        )}
        {fields.map(([name, value], place) => (
          <input key={`${place} ${name}`} type="hidden" name={name} value={value} />
        ))}
        <button type="submit" class={formToken === undefined ? undefined : 'danger'}>
          {label}
        </button>
      </form>
    </>
  );
}
