/** A viewer of the console's pages, over HTTP, with cookies as a browser keeps them. */
import { ADMIN_TOKEN, type TestTallyhook } from './tallyhook.ts';

export interface ShownPage {
  readonly status: number;
  readonly html: string;
  /** Where a redirect leads; null if it is none. */
  readonly location: string | null;
  readonly headers: Headers;
}

/** A name with several values is sent once for each. */
type FormFields = Readonly<Record<string, string | readonly string[]>>;

export interface PageViewer {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<ShownPage>;
  /** Sends a form with the token of the session. */
  post(path: string, form: FormFields): Promise<ShownPage>;
  /** Sends a form with files, with the token of the session unless it has one. */
  postFiles(path: string, form: FormData): Promise<ShownPage>;
  /** Sends a form as it is. */
  postRaw(
    path: string,
    form: FormFields,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ShownPage>;
  /** The cookie of the session, as `name=value`. */
  cookie(): string;
}

/** @param token null: nobody signs in */
export async function openPages(
  { consolePort }: Pick<TestTallyhook, 'consolePort'>,
  token: string | null = ADMIN_TOKEN,
): Promise<PageViewer> {
  const base = `http://127.0.0.1:${consolePort}`;
  let cookie = '';
  /** Of the session: the same on each of its pages. */
  let formToken: string | undefined;
  const send = async (path: string, init: RequestInit): Promise<ShownPage> => {
    const headers = { ...init.headers, ...(cookie !== '' && { cookie }) };
    const response = await fetch(`${base}${path}`, { ...init, headers, redirect: 'manual' });
    for (const set of response.headers.getSetCookie()) {
      cookie = set.split(';')[0] ?? '';
      formToken = undefined;
    }
    return {
      status: response.status,
      html: await response.text(),
      location: response.headers.get('location'),
      headers: response.headers,
    };
  };
  const readFormToken = async (): Promise<string> => {
    formToken ??= formTokenIn((await viewer.get('/')).html);
    return formToken;
  };
  const viewer: PageViewer = {
    get: (path, headers = {}) => send(path, { headers }),
    postRaw: (path, form, headers = {}) =>
      send(path, { method: 'POST', body: encode(form), headers }),
    postFiles: async (path, form) => {
      if (!form.has('form_token')) form.set('form_token', await readFormToken());
      return send(path, { method: 'POST', body: form });
    },
    post: async (path, form) =>
      viewer.postRaw(path, { ...form, form_token: await readFormToken() }),
    cookie: () => cookie,
  };
  if (token !== null) {
    const { status, html } = await viewer.postRaw('/sign-in', { token });
    if (status !== 303) throw new Error(`the sign-in failed: ${status} ${html}`);
  }
  return viewer;
}

function encode(form: FormFields): URLSearchParams {
  const fields = Object.entries(form).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  return new URLSearchParams(fields);
}

export function formTokenIn(html: string): string {
  const [, token] = /name="form_token" value="([^"]+)"/.exec(html) ?? [];
  if (token === undefined) throw new Error('the page has no form');
  return token;
}
