/**
 * An OpenID Connect provider of another maker on this machine, with people who sign in there, and tokens that
 * it can be made to get wrong.
 */
import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export const CLIENT_ID = 'tallyhook';
const CLIENT_SECRET = 'client-secret-0123456789abcdefghijkl';
/** The address that people open. Tests map it to the port of the console. */
export const CONSOLE_URL = 'http://console.test';

type Claims = Readonly<Record<string, unknown>>;

/** The people, by the name that they sign in with. */
const PEOPLE: Readonly<Record<string, Claims>> = {
  ada: { email: 'ada@shop.example', groups: ['staff', 'payments-oncall'] },
  /** Two roles: the first one of the settings counts. */
  grace: { email: 'grace@shop.example', groups: ['payments-oncall', 'payments-admins'] },
  /** No value with a role. */
  eve: { email: 'eve@shop.example', groups: ['staff'] },
  /** No claim. */
  mallory: { email: 'mallory@shop.example' },
  /** A name that looks like that of another, with text that must not become code. */
  admin: { email: '<script>window.hostile=1</script>', groups: ['payments-oncall'] },
};

export interface IdentityProvider {
  readonly issuer: string;
  /** Settings of a console that uses it. */
  readonly env: Readonly<Record<string, string>>;
  /** Changes the ID token of the next sign-in: claims, or its signature. */
  alterNext(alter: (claims: Record<string, unknown>) => void, signature?: 'wrong' | 'none'): void;
  /** How many codes were presented. */
  readonly exchanges: () => number;
  close(): Promise<void>;
}

export async function startIdentityProvider({
  claimsIn = 'id_token',
}: {
  readonly claimsIn?: 'id_token' | 'userinfo';
} = {}): Promise<IdentityProvider> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let pending: ((token: string) => string) | undefined;
  let exchanges = 0;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [`${CONSOLE_URL}/sign-in/callback`],
        post_logout_redirect_uris: [`${CONSOLE_URL}/sign-in`],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'test', alg: 'RS256' }] },
    claims: { openid: ['sub'], profile: ['groups'], email: ['email'] },
    conformIdTokenClaims: claimsIn === 'userinfo',
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...PEOPLE[id] }),
    }),
    cookies: { keys: ['cookie-key'] },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  });
  provider.use(async (context, next) => {
    await next();
    if (context.oidc?.route !== 'token') return;
    exchanges += 1;
    const body = context.body as { id_token?: string };
    if (body.id_token === undefined || pending === undefined) return;
    context.body = { ...body, id_token: pending(body.id_token) };
    pending = undefined;
  });
  server.on('request', provider.callback());
  return {
    issuer,
    env: {
      PUBLIC_CONSOLE_URL: CONSOLE_URL,
      CONSOLE_OIDC_ISSUER: issuer,
      CONSOLE_OIDC_CLIENT_ID: CLIENT_ID,
      CONSOLE_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      CONSOLE_OIDC_ROLES: 'payments-admins=admin,payments-oncall=operator',
    },
    alterNext: (alter, signature) => {
      pending = (token) => {
        const [header = '', payload = ''] = token.split('.');
        const claims = decode(payload);
        alter(claims);
        const head = signature === 'none' ? encode({ alg: 'none' }) : header;
        const signed = `${head}.${encode(claims)}`;
        if (signature === 'none') return `${signed}.`;
        const key =
          signature === 'wrong'
            ? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
            : privateKey;
        return `${signed}.${createSign('sha256').update(signed).sign(key, 'base64url')}`;
      };
    },
    exchanges: () => exchanges,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (part: string) =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;

const MAX_STEPS = 12;

export type Wanderer = ReturnType<typeof createWanderer>;

/** A browser without a screen: it keeps cookies by origin, and follows redirects and forms of the provider. */
export function createWanderer(consolePort: number) {
  const jars = new Map<string, Map<string, string>>();
  const request = async (address: string, form?: Readonly<Record<string, string>>) => {
    const { origin, pathname, search } = new URL(address);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    const target = origin === CONSOLE_URL ? `http://127.0.0.1:${consolePort}` : origin;
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${target}${pathname}${search}`, {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';');
      const at = pair.indexOf('=');
      if (pair.slice(at + 1) === '' || /expires=Thu, 01 Jan 1970/i.test(set)) {
        jar.delete(pair.slice(0, at));
      } else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const location = response.headers.get('location');
    return {
      status: response.status,
      headers: response.headers,
      html: await response.text(),
      location: location === null ? null : new URL(location, address).href,
    };
  };
  type Seen = Awaited<ReturnType<typeof request>>;

  /** Goes to the provider and signs in there. @returns the address that leads back to the console */
  const wayBack = async (person: string, next = '/'): Promise<string> => {
    const start = `${CONSOLE_URL}/sign-in/provider?${new URLSearchParams({ next })}`;
    let seen: Seen = await request(start);
    for (let step = 0; step < MAX_STEPS; step += 1) {
      if (seen.location?.startsWith(`${CONSOLE_URL}/sign-in/callback`)) return seen.location;
      seen = seen.location === null ? await submit(seen, person) : await request(seen.location);
    }
    throw new Error(`the provider did not lead back: ${seen.status} ${seen.html}`);
  };

  /** Sends the form of a page of the provider: the sign-in, or the consent. */
  const submit = async ({ html, status }: Seen, person: string): Promise<Seen> => {
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(html) ?? [];
    if (action === undefined) throw new Error(`the provider has no form: ${status} ${html}`);
    const isLogin = html.includes('name="login"');
    const form = isLogin
      ? { prompt: 'login', login: person, password: 'any' }
      : { prompt: 'consent' };
    return await request(action, form);
  };

  return {
    request,
    wayBack,
    get: (path: string) => request(`${CONSOLE_URL}${path}`),
    signIn: async (person: string, next?: string): Promise<Seen> =>
      await request(await wayBack(person, next)),
    cookies: (origin: string) => jars.get(origin) ?? new Map<string, string>(),
  };
}
