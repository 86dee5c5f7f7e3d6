/** Those who are told: servers as operators and shops have them, which can fail, be slow or be gone. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerEnvelope } from 'smtp-server';
import { Webhook } from 'standardwebhooks';

/** Made for tests; its key spells `test-secret-of-24-bytes!`. */
export const SIGNING_SECRET = `whsec_${Buffer.from('test-secret-of-24-bytes!').toString('base64')}`;

/** What a receiver does with a request. */
export type Behaviour =
  | { readonly does: 'accept' }
  | { readonly does: 'answer'; readonly status: number; readonly headers?: Record<string, string> }
  /** Takes all of it and says nothing. */
  | { readonly does: 'stay_silent' }
  /** Takes all of it and closes the connection: the sender cannot know that it arrived. */
  | { readonly does: 'take_and_hang_up' };

export const ACCEPT: Behaviour = { does: 'accept' };

export interface ReceivedPost {
  readonly id: string;
  /** Of the body, read as JSON. */
  readonly type: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly outcome: Behaviour['does'];
}

export interface HttpReceiver {
  readonly url: string;
  /** Every request, in its order, those that were not accepted included. */
  readonly posts: readonly ReceivedPost[];
  /** Those that were answered with 200. */
  accepted(): readonly ReceivedPost[];
  behave(behaviour: Behaviour | ((post: ReceivedPost) => Behaviour)): void;
  /** Closes the port; whoever connects is refused. */
  leave(): Promise<void>;
  /** Opens the same port again. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A receiver of Standard Webhooks, which verifies by the library and answers 401 to what it cannot
 * verify. Without a secret it takes anything, as a chat does.
 */
export async function startHttpReceiver(secret?: string): Promise<HttpReceiver> {
  const posts: ReceivedPost[] = [];
  let behaviour: Behaviour | ((post: ReceivedPost) => Behaviour) = ACCEPT;
  const sockets = new Set<Socket>();

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    if (secret !== undefined && !verifies(secret, body, headers)) {
      response.writeHead(401).end();
      return;
    }
    const { type = '' } = JSON.parse(body) as { readonly type?: string };
    const post = { id: headers['webhook-id'] ?? '', type, body, headers };
    const act =
      typeof behaviour === 'function' ? behaviour({ ...post, outcome: 'accept' }) : behaviour;
    posts.push({ ...post, outcome: act.does });
    switch (act.does) {
      case 'accept':
        response.writeHead(200).end('ok');
        return;
      case 'answer':
        response.writeHead(act.status, act.headers).end();
        return;
      case 'take_and_hang_up':
        request.socket.destroy();
        return;
      case 'stay_silent':
        return;
    }
  };
  const server = createServer((request, response) => void handle(request, response));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const leave = async (): Promise<void> => {
    if (!server.listening) return;
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return {
    url: `http://127.0.0.1:${port}/hook`,
    posts,
    accepted: () => posts.filter(({ outcome }) => outcome === 'accept'),
    behave: (next) => {
      behaviour = next;
    },
    leave,
    comeBack: async () => {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close: leave,
  };
}

function verifies(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came, headers and body. */
  readonly raw: string;
  readonly messageId: string;
}

type MailBehaviour = 'accept' | 'tempfail' | 'refuse' | 'stay_silent';

const REFUSALS = {
  accept: null,
  tempfail: Object.assign(new Error('not now'), { responseCode: 451 }),
  refuse: Object.assign(new Error('not this'), { responseCode: 554 }),
} as const;

function mailOf({ mailFrom, rcptTo }: SMTPServerEnvelope, raw: string): ReceivedMail {
  return {
    from: mailFrom === false ? '' : mailFrom.address,
    to: rcptTo.map(({ address }) => address),
    raw,
    messageId: /^Message-ID: (.*)$/im.exec(raw)?.[1]?.trim() ?? '',
  };
}

export interface MailServer {
  readonly url: string;
  /** Mails that were accepted. */
  readonly mails: readonly ReceivedMail[];
  /** How often somebody came to deliver. */
  attempts(): number;
  /** `tempfail`, `refuse`: answers to the message itself; `stay_silent`: never answers it. */
  behave(behaviour: MailBehaviour): void;
  leave(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

const SMTP_USER = 'alerts';
export const SMTP_PASSWORD = 'smtp-password-of-tests';

/** A mail server that wants to be logged into. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let behaviour: MailBehaviour = 'accept';
  let attempts = 0;
  const open = async (port: number): Promise<SMTPServer> => {
    const server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      onAuth: ({ username, password }, _session, done) => {
        const isRight = username === SMTP_USER && password === SMTP_PASSWORD;
        if (isRight) done(null, { user: username });
        else done(new Error('wrong'));
      },
      onData: (stream, { envelope }, done) => {
        void text(stream).then((raw) => {
          attempts += 1;
          if (behaviour === 'accept') mails.push(mailOf(envelope, raw));
          if (behaviour !== 'stay_silent') done(REFUSALS[behaviour]);
        });
      },
    });
    // Clients that hang up are no failure of the server.
    server.on('error', () => undefined);
    server.listen(port, '127.0.0.1');
    await once(server.server, 'listening');
    return server;
  };
  let server: SMTPServer | undefined = await open(0);
  const { port } = server.server.address() as AddressInfo;
  const leave = async (): Promise<void> => {
    const leaving = server;
    server = undefined;
    if (leaving) await new Promise<void>((resolve) => leaving.close(() => resolve()));
  };
  return {
    url: `smtp://${SMTP_USER}:${SMTP_PASSWORD}@127.0.0.1:${port}`,
    mails,
    attempts: () => attempts,
    behave: (next) => {
      behaviour = next;
    },
    leave,
    comeBack: async () => {
      server = await open(port);
    },
    close: leave,
  };
}
